//! Each event and what it changes. A new event must find its place here before anything compiles.

use broker::{AgentKey, Event, Failed, Next, Of, Time};
use message::{Envelope, Seq};

use super::{Fold, place_in, place_of};
use crate::delivery::{Delivery, End, Mailbox, State, Step};
use crate::error::HistoryError;
use crate::registry::Session;
use crate::store::Store;

impl Fold {
    /// Folds one event.
    pub(crate) fn apply(
        &mut self,
        store: &Store,
        seq: Seq,
        at: Time,
        event: &Event<'_>,
    ) -> Result<(), HistoryError> {
        self.begin(seq, at);
        match event {
            Event::AgentSet { agent, name, aliases, dialect, profile: _ } => {
                self.agent_set(store, *agent, name, aliases, *dialect)
            }
            Event::AgentRemoved { agent } => self.agent_removed(store, *agent),
            Event::GroupMade { group, address } => {
                self.registry.make_group(*group, address);
                Ok(())
            }
            Event::Joined { agent, group } => {
                self.registry.join(*agent, *group);
                Ok(())
            }
            Event::Left { agent, group } => {
                self.registry.leave(*agent, *group);
                Ok(())
            }
            Event::SessionOpened { session, agent, number, door } => {
                let opened = Session { agent: *agent, number: *number, door: *door, opened: seq };
                self.registry.open(*session, opened);
                Ok(())
            }
            Event::SessionClosed { session } => self.session_closed(store, *session),
            Event::Restarted => self.restarted(store),
            Event::Accepted(accepted) => self.accepted(store, accepted),
            Event::Absorbed { agent, group, upto, entries } => {
                self.registry.set_cursor(*agent, *group, *upto);
                entries.iter().try_for_each(|of| self.absorbed(store, *of, *agent))
            }
            Event::Dispatched { of, agent, by, session: _, delivery: _, lease_until: _ } => {
                self.dispatched(store, *of, *agent, by)
            }
            Event::Returned { of } => self.change(store, place_of(*of), returned),
            Event::Surfaced { of, by } => self.change(store, place_of(*of), |delivery| {
                delivery.ladder.surfaced = Some(Step::new(at, by));
            }),
            Event::Acknowledged { of, agent, by } => self.change(store, place_of(*of), |delivery| {
                delivery.holder = Some(*agent);
                delivery.end(End::Acknowledged, by, at);
            }),
            Event::Failed(failed) => self.failed(store, failed),
            Event::Expired { message: _, seq } => self.expired(store, *seq),
            Event::Withdrawn { message: _, seq } => self.withdrawn(store, *seq),
            Event::Amended { message: _, seq, body } => self.amended(store, *seq, body),
            Event::Carried { message: _, seq: accepted, body: _ } => {
                self.change_letter(store, *accepted, |letter| letter.body = seq)
            }
            Event::DeadRetried { of } => self.dead_retried(store, *of),
            Event::DeadDropped { of } => self.drop_dead(store, place_of(*of)),
            Event::Tuned(retention) => {
                self.dead_max = retention.dead_max;
                self.forget_dead(store)
            }
            // None of these changes how far a message has come.
            Event::PresenceSet { .. }
            | Event::Graced { .. }
            | Event::Extended { .. }
            | Event::Released { .. }
            | Event::Resumed { .. }
            | Event::WaitEnded { .. }
            | Event::RecordSet(_)
            | Event::RecordRemoved { .. }
            | Event::RecordCarried { .. }
            | Event::Work(_)
            | Event::TaskCarried { .. } => Ok(()),
        }
    }

    fn absorbed(&mut self, store: &Store, of: Of, agent: AgentKey) -> Result<(), HistoryError> {
        let place = place_in(self.seq, 0);
        self.add(store, of.seq, Delivery::new(of.entry, place, Mailbox::Agent(agent), State::Waiting))
    }

    fn dispatched(&mut self, store: &Store, of: Of, agent: AgentKey, by: &str) -> Result<(), HistoryError> {
        let at = self.at;
        self.change(store, place_of(of), |delivery| {
            delivery.attempts = (delivery.attempts + 1).min(u8::MAX.into());
            delivery.holder = Some(agent);
            delivery.ladder.dispatched = Some(Step::new(at, by));
            delivery.ladder.surfaced = None;
            delivery.state = State::Out;
        })
    }

    fn failed(&mut self, store: &Store, failed: &Failed<'_>) -> Result<(), HistoryError> {
        let Failed { of, reason, next } = failed;
        let (place, at) = (place_of(*of), self.at);
        match *next {
            Next::Again => self.change(store, place, |delivery| delivery.state = State::Waiting),
            Next::Retry { at: _ } => self.change(store, place, |delivery| {
                delivery.ladder.ended = Some(Step::new(at, reason));
                delivery.state = State::Waiting;
            }),
            Next::Fallback { entry, agent } => {
                let made = Delivery::new(entry, place_in(self.seq, 0), Mailbox::Agent(agent), State::Waiting);
                self.add(store, of.seq, made)?;
                self.change(store, place, |delivery| delivery.end(End::Moved, reason, at))
            }
            Next::Dead => self.give_up(store, place, End::Dead, reason),
            Next::Expired => self.give_up(store, place, End::Expired, reason),
            Next::Unconfirmed => {
                self.change(store, place, |delivery| delivery.end(End::Unconfirmed, reason, at))
            }
            Next::Withdrawn => self.change(store, place, |delivery| delivery.end(End::Withdrawn, reason, at)),
        }
    }

    fn expired(&mut self, store: &Store, seq: Seq) -> Result<(), HistoryError> {
        let Some(letter) = Fold::letter(&mut self.letters, store, seq)? else { return Ok(()) };
        // The broker's own words.
        let was_instant = letter.flags.is_live_only && !letter.flags.is_withdrawn;
        let reason = if was_instant { "nobody was connected" } else { "its time ran out" };
        for entry in self.waiting(store, seq)? {
            self.give_up(store, (seq, entry), End::Expired, reason)?;
        }
        Ok(())
    }

    fn withdrawn(&mut self, store: &Store, seq: Seq) -> Result<(), HistoryError> {
        self.change_letter(store, seq, |letter| letter.flags.is_withdrawn = true)?;
        let mut entries = self.waiting(store, seq)?;
        if let Some(letter) = Fold::letter(&mut self.letters, store, seq)? {
            let dead = |delivery: &&Delivery| matches!(delivery.state, State::Dead(_));
            entries.extend(letter.deliveries.iter().filter(dead).map(|delivery| delivery.entry));
        }
        let at = self.at;
        for entry in entries {
            self.change(store, (seq, entry), |delivery| delivery.end(End::Withdrawn, "its sender", at))?;
        }
        Ok(())
    }

    fn amended(&mut self, store: &Store, accepted: Seq, body: &[u8]) -> Result<(), HistoryError> {
        let seq = self.seq;
        let dialect = Envelope::open(body).map(|envelope| envelope.dialect);
        self.change_letter(store, accepted, |letter| {
            (letter.body, letter.amended) = (seq, Some(seq));
            letter.dialect = dialect.unwrap_or(letter.dialect);
        })
    }

    fn dead_retried(&mut self, store: &Store, of: Of) -> Result<(), HistoryError> {
        let place = place_of(of);
        let Some(letter) = Fold::letter(&mut self.letters, store, of.seq)? else { return Ok(()) };
        let Some(dead) = letter.deliveries.iter().find(|delivery| delivery.entry == of.entry) else {
            return Ok(());
        };
        let mailbox = dead.mailbox.clone();
        // Members of a topic who have had it are not given it again.
        self.change_letter(store, of.seq, |letter| letter.flags.is_several = true)?;
        let (mailbox, state, number) = match mailbox {
            Mailbox::Group(group) if self.registry.is_shared(group) => {
                (Mailbox::Group(group), State::Post, self.registry.post(group))
            }
            Mailbox::Name(name) => match self.registry.find(&name) {
                Some(agent) => (Mailbox::Agent(agent), State::Waiting, 0),
                None => (Mailbox::Name(name), State::Waiting, 0),
            },
            mailbox @ (Mailbox::Agent(_) | Mailbox::Session(..) | Mailbox::Group(_)) => {
                (mailbox, State::Waiting, 0)
            }
        };
        self.change(store, place, |delivery| {
            delivery.attempts = 0;
            (delivery.mailbox, delivery.state, delivery.number) = (mailbox, state, number);
        })
    }
}

/// A delivery that was never written counts as not handed out.
fn returned(delivery: &mut Delivery) {
    delivery.attempts = delivery.attempts.saturating_sub(1);
    (delivery.holder, delivery.ladder.dispatched) = (None, None);
    delivery.state = State::Waiting;
}
