//! Second thoughts of a sender: taking a message back, putting another in its place, letting a parked one go.
//!
//! Who has not had the message never sees what it was; who has had it is told.

use message::MessageId;

use crate::Time;
use crate::broker::{Applied, Broker, Decided, Decision};
use crate::effect::Effects;
use crate::entry::{End, Life, State};
use crate::{AgentKey, Context, EntryKey, Event, MessageKey, Misfit, Refusal};

impl Broker {
    pub(crate) fn retract<'a>(&self, cx: &mut Context<'_>, id: MessageId, by: AgentKey) -> Decided<'a> {
        let (message, seq) = self.own(id, by)?;
        let mut events = vec![Event::Withdrawn { message, seq }];
        events.extend(self.notice_of_change(cx, message, "retracted"));
        events.extend(self.wait_over(message));
        let events = self.with_cancelled(cx, events, id, by);
        Ok(Decision::done(events))
    }

    pub(crate) fn amend<'a>(
        &self,
        cx: &mut Context<'_>,
        id: MessageId,
        by: AgentKey,
        body: &'a [u8],
    ) -> Decided<'a> {
        let (message, seq) = self.own(id, by)?;
        let (bytes, bytes_max) = (body.len() as u64, self.settings.limits.body_bytes_max);
        if bytes > bytes_max {
            return Err(Refusal::TooLarge { bytes, bytes_max });
        }
        let mut events = vec![Event::Amended { message, seq, body }];
        events.extend(self.notice_of_change(cx, message, "amended"));
        Ok(Decision::done(events))
    }

    pub(crate) fn resume<'a>(&self, cx: &mut Context<'_>, id: MessageId) -> Decided<'a> {
        let message = self.find(id).ok_or(Refusal::UnknownMessage)?;
        let is_parked = self.entries_of(message).any(|(_, entry)| entry.state == State::Parked);
        let seq = self.message(message).filter(|_| is_parked).ok_or(Refusal::NotParked)?.seq;
        if self.is_gated(message) {
            return self.judge_gate(cx, id, AgentKey::HUMAN, true, "resumed");
        }
        if self.waits_for_tasks(message) {
            return Err(Refusal::Guarded { what: "tasks that must be done before" });
        }
        Ok(Decision::done(vec![Event::Resumed { message, seq }]))
    }

    fn own(&self, id: MessageId, by: AgentKey) -> Result<(MessageKey, message::Seq), Refusal> {
        let key = self.find(id).ok_or(Refusal::UnknownMessage)?;
        let message = self.message(key).ok_or(Refusal::UnknownMessage)?;
        if message.from != by && by != AgentKey::HUMAN {
            return Err(Refusal::NotYours);
        }
        let is_withdrawn = |end: State| end == State::Done(End::Withdrawn);
        let mut entries = self.entries_of(key).peekable();
        if entries.peek().is_some() && entries.all(|(_, entry)| is_withdrawn(entry.state)) {
            return Err(Refusal::Settled);
        }
        Ok((key, message.seq))
    }

    pub(crate) fn withdrawn(&mut self, key: MessageKey, at: Time, effects: &mut Effects) -> Applied {
        if let Some(message) = self.messages.get_mut(key.0) {
            message.life = Life::Withdrawn;
        }
        self.end_waiting(key, at, effects, |broker, entry, at, effects| {
            broker.take_down(entry);
            broker.end(entry, End::Withdrawn, "its sender", at, effects);
        });
        let dead: Vec<EntryKey> = self
            .entries_of(key)
            .filter(|(_, entry)| matches!(entry.state, State::Dead(_)))
            .map(|(key, _)| key)
            .collect();
        for entry in dead {
            self.end(entry, End::Withdrawn, "its sender", at, effects);
        }
        Ok(())
    }

    pub(crate) fn amended(&mut self, key: MessageKey, body: &[u8]) -> Applied {
        let seq = self.last;
        let bytes = u32::try_from(body.len()).unwrap_or(u32::MAX);
        let queued: Vec<_> = self
            .entries_of(key)
            .filter(|(_, entry)| entry.state.is_queued())
            .map(|(_, entry)| entry.mailbox)
            .collect();
        for mailbox in &queued {
            self.count(*mailbox, key, false);
        }
        if let Some(message) = self.messages.get_mut(key.0) {
            let before = std::mem::replace(&mut message.bytes, bytes);
            message.body = seq;
            if message.open > 0 {
                self.open_bytes = self.open_bytes.saturating_sub(before.into()) + u64::from(bytes);
            }
            let id = message.id;
            self.work.request_amended(id, seq, bytes);
        }
        for mailbox in &queued {
            self.count(*mailbox, key, true);
        }
        Ok(())
    }

    pub(crate) fn resumed(&mut self, key: MessageKey, effects: &mut Effects) -> Applied {
        let conversation =
            self.message(key).and_then(|message| message.extra.as_deref()).map(|extra| extra.conversation);
        if let Some(conversation) = conversation {
            self.turns.restart(conversation);
        }
        if !self.entries_of(key).any(|(_, entry)| entry.state == State::Parked) {
            return Err(Misfit::State { seq: self.last, what: "a message" });
        }
        // The whole conversation goes on, whichever of its messages was named.
        let is_of_it = |key: &EntryKey| {
            let extra = self.message_of(*key).and_then(|message| message.extra.as_deref());
            extra.map(|extra| extra.conversation) == conversation
        };
        let mut parked: Vec<EntryKey> = self.parked.iter().copied().filter(is_of_it).collect();
        parked.sort_unstable_by_key(|key| self.entry(*key).map(|entry| entry.order));
        for entry in parked {
            let message = self.entry(entry).map_or(key, |entry| entry.message);
            self.advance(entry, State::Waiting, self.offer_end(message, State::Waiting), effects);
        }
        Ok(())
    }
}
