//! The bus asked about everything at once: receipts, dead letters, counts.

use broker::{AgentKey, Broker, Delivery, Time};
use message::{Address, MessageId, Seq, Stage};

use super::Outcome;
use super::state::{Is, Part, Place, State};
use crate::violation::{Promise, Violation, broken, ensure};

/// What a receipt says of one recipient.
type Line = (String, Stage, u32);

impl State {
    /// Notes where the log is and what time it is there.
    pub(super) fn note(&mut self, last: Seq, now: Time) {
        if last > self.last {
            self.last = last;
            self.time = self.time.max(now);
        }
    }

    pub(super) fn check(&self, broker: &Broker) -> Result<(), Violation> {
        for id in self.messages.keys().copied() {
            self.check_receipt(id, broker)?;
        }
        self.check_dead(broker)?;
        self.check_memberships(broker)?;
        let (count, _) = self.open();
        let counted = broker.counts().messages;
        let what = format_args!("{counted} messages are not over, expected {count}");
        ensure(counted == count, Promise::AtLeastOnce, what)
    }

    pub(super) fn wait_given_up(&self, message: MessageId, outcome: &Outcome) -> Result<(), Violation> {
        let is_known = self.messages.contains_key(&message);
        ensure(outcome.is_ok() == is_known, Promise::Replies, format_args!("{message}: {outcome:?}"))
    }

    /// Returns whose it is, where it may be handed out once, and through how many ways it comes to it.
    pub(super) fn once_for(&self, delivery: &Delivery) -> Option<(AgentKey, u32)> {
        self.messages.get(&delivery.id).filter(|letter| letter.is_once)?;
        let agent = self.part_of(delivery.delivery).and_then(|index| self.parts[index].holder)?;
        let ways = self.parts_of(delivery.id).filter(|(_, part)| part.holder == Some(agent)).count();
        Some((agent, ways as u32))
    }

    fn check_receipt(&self, id: MessageId, broker: &Broker) -> Result<(), Violation> {
        let Some(receipt) = broker.receipt(id) else {
            return broken(Promise::Durable, format_args!("{id} is missing"));
        };
        let mut told: Vec<Line> =
            receipt.iter().map(|it| (it.agent.to_string(), it.stage, it.attempts)).collect();
        let mut wanted: Vec<Line> = self.parts_of(id).filter_map(|(_, part)| self.line(part)).collect();
        told.sort();
        wanted.sort();
        ensure(told == wanted, Promise::Receipts, format_args!("{id} is {told:?}, expected {wanted:?}"))
    }

    fn line(&self, part: &Part) -> Option<Line> {
        let is_post = matches!(part.place, Place::Post(_));
        if let (true, Place::Agent(agent)) = (part.unclaimed, &part.place)
            && !self.is_news(part.message, *agent)
        {
            return None;
        }
        let stage = match part.is {
            Is::Gone | Is::Posted => return None,
            Is::Ended(Stage::Acknowledged) if is_post => return None,
            Is::Waiting | Is::Pausing { .. } | Is::Maybe { .. } | Is::Parked | Is::Held => Stage::Stored,
            Is::Out { .. } | Is::Stray if part.surfaced => Stage::Surfaced,
            Is::Out { .. } | Is::Stray => Stage::Dispatched,
            Is::Dead => part.why.unwrap_or(Stage::Dead),
            Is::Ended(Stage::Acknowledged) if part.answered => Stage::Answered,
            Is::Ended(stage) => stage,
        };
        let agent = match self.holder(part) {
            Some(agent) => self.name(agent).to_string(),
            None => self.address(part).parse().unwrap_or(Address::All).to_string(),
        };
        Some((agent, stage, part.attempts))
    }

    fn check_dead(&self, broker: &Broker) -> Result<(), Violation> {
        let mut told: Vec<(MessageId, String)> =
            broker.dead_letters().map(|dead| (dead.id, dead.to)).collect();
        let dead = self.parts.iter().filter(|part| part.is == Is::Dead);
        let mut wanted: Vec<(MessageId, String)> =
            dead.map(|part| (part.message, self.address(part))).collect();
        told.sort();
        wanted.sort();
        let what = format_args!("dead letters are {told:?}, expected {wanted:?}");
        ensure(told == wanted, Promise::AtLeastOnce, what)
    }
}
