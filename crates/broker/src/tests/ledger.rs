//! The ledger: reads a log alone, without a broker, and holds its events to what was promised.
//!
//! An entry is one recipient's claim on a message. It is handed out to its recipient, one at a time; what may be
//! handed out once is; what was taken back is not; and only who had it last, or whose it is, settles it.

use std::collections::{BTreeMap, BTreeSet};

use message::{Guarantee, Seq};

use crate::{Accepted, AgentKey, EntryKey, Event, Failed, Next, Of, Target};

/// Panics if a log breaks a promise.
pub(crate) fn check(log: &[Vec<u8>]) {
    let mut ledger = Ledger::default();
    for (number, bytes) in (1..).zip(log) {
        let (_, event) = Event::decode(bytes).expect("what was written can be read");
        ledger.enter(Seq(number), &event);
    }
}

#[derive(Default)]
struct Ledger {
    claims: BTreeMap<(EntryKey, Seq), Claim>,
    /// Messages that may be handed to one agent once, with those who were.
    once: BTreeMap<Seq, BTreeSet<AgentKey>>,
    withdrawn: BTreeSet<Seq>,
    by_number: BTreeMap<u32, Seq>,
}

struct Claim {
    /// Whose it is; nobody in particular for a role or a name to come.
    owner: Option<AgentKey>,
    /// The claim that it took over.
    before: Option<(EntryKey, Seq)>,
    /// Who had it last.
    last: Option<AgentKey>,
    is_out: bool,
}

impl Ledger {
    /// Enters one event.
    fn enter(&mut self, seq: Seq, event: &Event<'_>) {
        match event {
            Event::Accepted(accepted) => self.accepted(seq, accepted),
            Event::Absorbed { agent, entries, .. } => {
                for of in entries {
                    self.claim(*of, Some(*agent), None);
                }
            }
            Event::Dispatched { of, agent, .. } => self.dispatched(*of, *agent),
            Event::Returned { of } => {
                let claim = self.at(*of);
                assert!(claim.is_out, "what is returned was out");
                let agent = claim.last.take();
                claim.is_out = false;
                if let (Some(agent), Some(had)) = (agent, self.once.get_mut(&of.seq)) {
                    had.remove(&agent);
                }
            }
            Event::Acknowledged { of, agent, .. } => {
                let last = self.last_of((of.entry, of.seq));
                let claim = self.at(*of);
                let is_whose = claim.owner.is_none_or(|owner| owner == *agent);
                assert!(
                    last == Some(*agent) || is_whose,
                    "{of:?} of {:?}, had by {last:?}, settled by {agent}",
                    claim.owner
                );
                claim.is_out = false;
            }
            Event::Failed(Failed { of, next, .. }) => {
                self.at(*of).is_out = false;
                if let Next::Fallback { entry, agent } = next {
                    let before = Some((of.entry, of.seq));
                    self.claim(Of { entry: *entry, seq: of.seq }, Some(*agent), before);
                }
            }
            Event::Withdrawn { message, .. } => {
                let seq = self.by_number[&message.0];
                self.withdrawn.insert(seq);
            }
            Event::AgentSet { .. }
            | Event::AgentRemoved { .. }
            | Event::GroupMade { .. }
            | Event::Joined { .. }
            | Event::Left { .. }
            | Event::PresenceSet { .. }
            | Event::SessionOpened { .. }
            | Event::SessionClosed { .. }
            | Event::Restarted
            | Event::Graced { .. }
            | Event::Surfaced { .. }
            | Event::Extended { .. }
            | Event::Released { .. }
            | Event::Expired { .. }
            | Event::Amended { .. }
            | Event::Resumed { .. }
            | Event::DeadRetried { .. }
            | Event::DeadDropped { .. }
            | Event::WaitEnded { .. }
            | Event::Work(_)
            | Event::TaskCarried { .. }
            | Event::Carried { .. }
            | Event::Tuned(_)
            | Event::RecordSet(_)
            | Event::RecordRemoved { .. }
            | Event::RecordCarried { .. } => {}
        }
    }

    fn accepted(&mut self, seq: Seq, accepted: &Accepted<'_>) {
        self.by_number.insert(accepted.message.0, seq);
        if accepted.guarantee == Guarantee::AtMostOnce {
            self.once.insert(seq, BTreeSet::new());
        }
        for target in &accepted.targets {
            let (entry, owner) = match target {
                Target::Agent { entry, agent, .. } | Target::Instead { entry, agent, .. } => {
                    (entry, Some(*agent))
                }
                Target::Waiter { entry, agent, .. } => (entry, Some(*agent)),
                Target::Group { entry, .. } | Target::Held { entry, .. } => (entry, None),
            };
            let of = Of { entry: *entry, seq };
            self.claim(of, owner, None);
            if let Target::Waiter { agent, .. } = target {
                self.dispatched(of, *agent);
            }
        }
    }

    fn dispatched(&mut self, of: Of, agent: AgentKey) {
        assert!(!self.withdrawn.contains(&of.seq), "{of:?} was taken back and is handed to {agent}");
        if let Some(had) = self.once.get_mut(&of.seq) {
            assert!(had.insert(agent), "{of:?} is handed to {agent} once more");
        }
        let claim = self.at(of);
        assert!(!claim.is_out, "{of:?} is out and is handed to {agent}");
        assert!(
            claim.owner.is_none_or(|owner| owner == agent),
            "{of:?} of {:?} is handed to {agent}",
            claim.owner
        );
        (claim.last, claim.is_out) = (Some(agent), true);
    }

    fn claim(&mut self, of: Of, owner: Option<AgentKey>, before: Option<(EntryKey, Seq)>) {
        let claim = Claim { owner, before, last: None, is_out: false };
        assert!(self.claims.insert((of.entry, of.seq), claim).is_none(), "{of:?} is claimed twice");
    }

    fn at(&mut self, of: Of) -> &mut Claim {
        self.claims.get_mut(&(of.entry, of.seq)).unwrap_or_else(|| panic!("{of:?} was never claimed"))
    }

    /// Returns who had a claim last, or the claim that it took over.
    fn last_of(&self, mut at: (EntryKey, Seq)) -> Option<AgentKey> {
        loop {
            let claim = &self.claims[&at];
            if claim.last.is_some() {
                return claim.last;
            }
            at = claim.before?;
        }
    }
}
