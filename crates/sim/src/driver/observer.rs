//! What the driver did, as the simulation sees it.

use std::sync::{Arc, Mutex, PoisonError};

use broker::{AgentKey, Command, Effect, Event, GroupKey, Refusal, Reply, Target, Time};
use message::{MessageId, Seq};
use node::driver::{Observed, Observer, Source};

use super::Notice;

/// Something that happened, with what the bus itself wrote because of it.
pub(crate) struct Record {
    pub(crate) what: What,
    pub(crate) notices: Vec<(Notice, Vec<GroupKey>)>,
    /// What agents sent.
    pub(crate) sent: Vec<MessageId>,
}

pub(crate) enum What {
    Executed {
        source: Source,
        command: Command,
        outcome: Box<Result<Reply, Refusal>>,
        effects: Vec<Effect>,
        now: Time,
        wall: Time,
        last: Seq,
        needs: Seq,
    },
    NoRoom(Source),
    Elapsed {
        now: Time,
        wall: Time,
        effects: Vec<Effect>,
        last: Seq,
    },
}

/// Keeps what it sees for whoever has a copy.
#[derive(Clone, Default)]
pub(crate) struct Records(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    records: Vec<Record>,
    notices: Vec<(Notice, Vec<GroupKey>)>,
    sent: Vec<MessageId>,
}

impl Records {
    /// Takes what was seen since the last time.
    pub(crate) fn take(&self) -> Vec<Record> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).records)
    }
}

impl Observer for Records {
    fn event(&mut self, _seq: Seq, _at: Time, event: &Event<'_>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Event::Accepted(accepted) = event
            && accepted.from != AgentKey::SYSTEM
        {
            kept.sent.push(accepted.id);
        }
        kept.notices.extend(notice_of(event));
    }

    fn observe(&mut self, observed: Observed<'_>) {
        let what = match observed {
            // What is due is seen as a whole.
            Observed::Executed { source: Source::Due, .. } => return,
            Observed::Executed { source, command, outcome, effects, now, wall, last, needs } => {
                What::Executed {
                    source,
                    command: command.clone(),
                    outcome: Box::new(outcome.clone()),
                    effects: effects.to_vec(),
                    now,
                    wall,
                    last,
                    needs,
                }
            }
            Observed::NoRoom { source, .. } => What::NoRoom(source),
            Observed::Elapsed { now, wall, effects, last } => {
                What::Elapsed { now, wall, effects: effects.to_vec(), last }
            }
        };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (notices, sent) = (std::mem::take(&mut kept.notices), std::mem::take(&mut kept.sent));
        kept.records.push(Record { what, notices, sent });
    }
}

/// Returns what the bus itself writes by an event, and the groups that it goes to.
fn notice_of(event: &Event<'_>) -> Option<(Notice, Vec<GroupKey>)> {
    let Event::Accepted(accepted) = event else { return None };
    if accepted.from != AgentKey::SYSTEM {
        return None;
    }
    let (mut agents, mut groups) = (Vec::new(), Vec::new());
    for target in &accepted.targets {
        match target {
            Target::Agent { agent, .. } | Target::Instead { agent, .. } | Target::Waiter { agent, .. } => {
                agents.push(*agent)
            }
            Target::Group { group, .. } => groups.push(*group),
            Target::Held { .. } => {}
        }
    }
    let (id, kind, priority) = (accepted.id, accepted.kind, accepted.priority);
    let body = accepted.body.to_vec();
    Some((Notice { id, kind, priority, agents, groups: Vec::new(), body }, groups))
}
