//! Waiting for a reply, and its end. There is one outcome: a reply, or none.

use message::{MessageId, Stage};

use crate::broker::{Applied, Broker, Decided, Decision};
use crate::effect::{Effect, Effects};
use crate::timers::Timed;
use crate::{AgentKey, Event, MessageKey, Misfit, Refusal, Time};

impl Broker {
    pub(crate) fn end_wait<'a>(&self, id: MessageId) -> Decided<'a> {
        let message = self.find(id).ok_or(Refusal::UnknownMessage)?;
        Ok(Decision::done(self.wait_over(message).into_iter().collect()))
    }

    pub(crate) fn wait_over<'a>(&self, message: MessageKey) -> Option<Event<'a>> {
        let seq = self.message(message).filter(|_| self.is_waited_for(message))?.seq;
        Some(Event::WaitEnded { message, seq })
    }

    pub(crate) fn is_waited_for(&self, message: MessageKey) -> bool {
        let extra = self.message(message).and_then(|message| message.extra.as_deref());
        extra.is_some_and(|extra| extra.wait_until.is_some())
    }

    /// Returns the messages for whose reply an agent waits.
    pub(crate) fn waits_of(&self, agent: AgentKey) -> impl Iterator<Item = MessageKey> + '_ {
        let all = (agent, MessageKey(0))..=(agent, MessageKey(u32::MAX));
        self.waits.range(all).map(|(_, message)| *message)
    }

    /// A message for whose reply somebody waits is open, whatever became of it.
    pub(crate) fn begin_wait(&mut self, key: MessageKey, until: Time) {
        let Some(message) = self.messages.get_mut(key.0) else { return };
        message.extra().wait_until = Some(until);
        let from = message.from;
        self.waits.insert((from, key));
        self.timers.set(until, Timed::Wait(key));
        self.count_open(key, true);
    }

    pub(crate) fn wait_ended(&mut self, key: MessageKey, effects: &mut Effects) -> Applied {
        if !self.is_waited_for(key) {
            return Err(Misfit::State { seq: self.last, what: "a wait" });
        }
        let Some(message) = self.messages.get_mut(key.0) else { return Ok(()) };
        let (id, from) = (message.id, message.from);
        let extra = message.extra();
        extra.wait_failed = true;
        let Some(until) = extra.wait_until.take() else { return Ok(()) };
        self.timers.clear(until, Timed::Wait(key));
        self.waits.remove(&(from, key));
        let stage = self.stage_of(key);
        effects.push(Effect::Unanswered { message: id, stage });
        self.count_open(key, false);
        self.settle_if_over(key);
        Ok(())
    }

    /// Returns the stage of the recipient with whom a message is least advanced.
    pub(crate) fn stage_of(&self, key: MessageKey) -> Stage {
        self.entries_of(key).map(|(_, entry)| entry.stage()).min().unwrap_or(Stage::Stored)
    }
}
