//! Upkeep of the log: carrying living bodies forward, so that what lies before them can be trimmed; and how much is
//! remembered.

use message::Seq;

use crate::broker::{Applied, Broker, Decided, Decision};
use crate::effect::Effects;
use crate::{Event, MessageKey, Misfit, Refusal, Retention};

impl Broker {
    /// Returns messages that are not settled and whose bodies lie before a place, with those places; at most so many.
    pub fn bodies_before(&self, seq: Seq, limit: usize) -> Vec<(MessageKey, Seq)> {
        let living = self.messages.iter().filter(|(_, message)| message.open > 0 && message.body < seq);
        living.take(limit).map(|(key, message)| (MessageKey(key), message.body)).collect()
    }

    pub(crate) fn carry<'a>(&self, message: MessageKey, body: &'a [u8]) -> Decided<'a> {
        let known = self.message(message).filter(|message| message.bytes as usize == body.len());
        let seq = known.ok_or(Refusal::UnknownMessage)?.seq;
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
