//! Upkeep of the log: carrying living bodies forward, so that what lies before them can be trimmed; and how much is
//! remembered.

use message::Seq;

use crate::broker::{Applied, Broker, Decided, Decision};
use crate::effect::Effects;
use crate::{Event, MessageKey, Misfit, Refusal, Retention};

/// A body that must not be given up: something that is not over needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Living {
    /// What needs it.
    pub of: Holder,
    /// Where it lies.
    pub place: Seq,
    /// How long it is.
    pub bytes: u64,
}

/// What can need a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A message that is not settled.
    Message(MessageKey),
}

impl Broker {
    /// Looks for living bodies before a place: everything that whoever trims the log must carry forward first.
    ///
    /// One look passes at most so many places of the state, so that nobody waits for it. It begins at 0 and returns
    /// where to go on, or nothing when all has been seen. Bodies only ever move to the end of the log, so whatever
    /// happens between two parts of a look, none before the place is missed.
    pub fn bodies_before(&self, place: Seq, from: u64, places_max: u32) -> (Vec<Living>, Option<u64>) {
        let first = u32::try_from(from).unwrap_or(u32::MAX);
        let end = first.saturating_add(places_max.max(1));
        let living = self.messages.range(first, end).filter(|(_, message)| {
            // What is settled may go.
            message.open > 0 && message.body < place
        });
        let bodies = living.map(|(key, message)| Living {
            of: Holder::Message(MessageKey(key)),
            place: message.body,
            bytes: message.bytes.into(),
        });
        (bodies.collect(), (end < self.messages.end()).then_some(end.into()))
    }

    pub(crate) fn carry<'a>(&self, of: Holder, place: Seq, body: &'a [u8]) -> Decided<'a> {
        let Holder::Message(message) = of;
        let is_it = |known: &&crate::entry::Message| {
            known.open > 0 && known.body == place && known.bytes as usize == body.len()
        };
        let seq = self.message(message).filter(is_it).ok_or(Refusal::UnknownMessage)?.seq;
        Ok(Decision::done(vec![Event::Carried { message, seq, body }]))
    }

    pub(crate) fn carried(&mut self, key: MessageKey, body: &[u8]) -> Applied {
        let seq = self.last;
        match self.messages.get_mut(key.0) {
            Some(message) if message.bytes as usize == body.len() => {
                message.body = seq;
                Ok(())
            }
            Some(_) | None => Err(Misfit::State { seq, what: "a body" }),
        }
    }

    pub(crate) fn tuned(&mut self, retention: Retention, effects: &mut Effects) -> Applied {
        self.retention = retention;
        self.forget_settled();
        self.forget_dead(effects);
        Ok(())
    }
}
