//! Dead letters: what the bus had promised to deliver and could not. They stay until somebody decides.

use message::MessageId;

use crate::broker::{Applied, Broker, Decided, Decision};
use crate::effect::Effects;
use crate::entry::{End, State};
use crate::mailbox::Mailbox;
use crate::{AgentKey, EntryKey, Event, Misfit, Of, Refusal, Time};

impl Broker {
    pub(crate) fn retry_dead<'a>(&self, message: MessageId, entry: EntryKey) -> Decided<'a> {
        let of = self.dead_letter(message, entry)?;
        match self.entry(entry).map(|entry| entry.mailbox) {
            Some(Mailbox::Agent(agent)) => self.agent_at(agent).map(|_| ())?,
            // It was held for a name; by now somebody must have it.
            Some(Mailbox::Nobody) => self.awaited_agent(entry).map(|_| ()).ok_or(Refusal::UnknownAgent)?,
            None => return Err(Refusal::NotDead),
            Some(Mailbox::Session(_) | Mailbox::Group(_)) => {}
        }
        Ok(Decision::done(vec![Event::DeadRetried { of }]))
    }

    pub(crate) fn drop_dead<'a>(&self, message: MessageId, entry: EntryKey) -> Decided<'a> {
        let of = self.dead_letter(message, entry)?;
        Ok(Decision::done(vec![Event::DeadDropped { of }]))
    }

    /// Finds a dead letter of a message. Since it was looked up, another entry may have got its key.
    fn dead_letter(&self, message: MessageId, key: EntryKey) -> Result<Of, Refusal> {
        let entry = self.entry(key).ok_or(Refusal::NotDead)?;
        if self.find(message) != Some(entry.message) {
            return Err(Refusal::NotDead);
        }
        match entry.state {
            State::Dead(_) => self.of(key).ok_or(Refusal::NotDead),
            State::Waiting
            | State::Pausing
            | State::Flight
            | State::Stray
            | State::Held
            | State::Parked
            | State::Post
            | State::Done(_) => Err(Refusal::NotDead),
        }
    }

    /// Finds the agent that has the name for which an entry was held.
    fn awaited_agent(&self, key: EntryKey) -> Option<AgentKey> {
        self.agent(self.awaited_name(self.entry(key)?)?)
    }

    pub(crate) fn dead_retried(&mut self, of: Of, effects: &mut Effects) -> Applied {
        let seq = self.last;
        let entry = self.check(of)?;
        let (message, mailbox) = (entry.message, entry.mailbox);
        if !matches!(entry.state, State::Dead(_)) {
            return Err(Misfit::State { seq, what: "a dead letter" });
        }
        let expires = self.message(message).map_or(Time::NEVER, |message| message.expires);
        self.timers.clear_expiry(expires, message);
        if let Some(message) = self.messages.get_mut(message.0) {
            // Whoever revives it wants it, whatever its sender thought of its time.
            message.expires = Time::NEVER;
            // Members of a topic who have had it are not given it again.
            message.several = true;
            if let Some(extra) = message.extra.as_mut() {
                extra.timeout_ms = 0;
            }
        }
        if let Some(entry) = self.entries.get_mut(of.entry.0) {
            (entry.attempts, entry.losses) = (0, 0);
        }
        match mailbox {
            Mailbox::Group(group) if self.is_shared(group) => {
                let from = self.message(message).map_or(AgentKey::SYSTEM, |message| message.from);
                self.advance(of.entry, State::Post, Time::NEVER, effects);
                self.post(group, of.entry, from, effects);
            }
            Mailbox::Nobody => {
                let agent = self.awaited_agent(of.entry).ok_or(Misfit::Missing { seq, what: "an agent" })?;
                self.rehome(of.entry, Mailbox::Agent(agent), effects);
                self.advance(of.entry, State::Waiting, Time::NEVER, effects);
            }
            Mailbox::Agent(_) | Mailbox::Session(_) | Mailbox::Group(_) => {
                self.advance(of.entry, State::Waiting, Time::NEVER, effects);
            }
        }
        Ok(())
    }

    pub(crate) fn dead_dropped(&mut self, of: Of, effects: &mut Effects) -> Applied {
        let state = self.check(of)?.state;
        let State::Dead(end) = state else {
            return Err(Misfit::State { seq: self.last, what: "a dead letter" });
        };
        self.advance(of.entry, State::Done(end), Time::NEVER, effects);
        Ok(())
    }

    /// Lets the oldest dead letters go where there are too many; what became of them stays in the history.
    pub(crate) fn forget_dead(&mut self, effects: &mut Effects) {
        while self.dead.len() as u64 > self.retention.dead_max {
            let Some((_, key)) = self.dead.first_key_value() else { return };
            let key = *key;
            let end = match self.entry(key).map(|entry| entry.state) {
                Some(State::Dead(end)) => end,
                Some(_) | None => End::Dead,
            };
            self.advance(key, State::Done(end), Time::NEVER, effects);
        }
    }
}
