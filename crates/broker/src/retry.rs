//! Failures, and what comes after them: another try, another agent, or the end.

use message::Backoff;

use crate::broker::{Applied, Broker};
use crate::effect::Effects;
use crate::entry::{End, Entry, Message, State, Step};
use crate::mailbox::Mailbox;
use crate::session::is_a_way;
use crate::{
    AgentKey, Context, Delay, EntryKey, Event, Failed, MessageKey, Misfit, Next, Retries, Time, Tried,
};

/// A connection that is lost is not the message's fault; but a message that ends every connection has to end too.
const LOSSES_MAX: u8 = 20;

/// Returns the pause before a retry; the first one follows the first attempt.
pub(crate) fn pause_ms(retries: &Retries, backoff: Backoff, attempt: u32, chance: u64) -> u64 {
    let attempt = attempt.max(1);
    let grown = match backoff {
        Backoff::Linear => retries.base_ms.saturating_mul(attempt.into()),
        Backoff::Exponential => {
            let factor = retries.multiplier.max(1.0).powi(i32::try_from(attempt - 1).unwrap_or(i32::MAX));
            // Too large for the type is larger than any limit.
            (retries.base_ms as f64 * factor) as u64
        }
    };
    let pause_ms = grown.min(retries.pause_ms_max);
    if retries.jitter && pause_ms > 0 { chance % pause_ms.saturating_add(1) } else { pause_ms }
}

impl Broker {
    /// Returns what comes after a recipient refused.
    pub(crate) fn after_refusal(&self, cx: &mut Context<'_>, key: EntryKey, delay: Delay) -> Next {
        let Some((entry, message)) = self.entry(key).zip(self.message_of(key)) else { return Next::Dead };
        if message.is_withdrawn() {
            return Next::Withdrawn;
        }
        if message.is_wanted_once() || delay == Delay::Never {
            return Next::Dead;
        }
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::LoseNackDelay) {
            return Next::Retry { at: cx.now };
        }
        match delay {
            Delay::Ms(ms) if entry.tries() <= message.retries => {
                let next = Next::Retry { at: cx.now.plus_ms(ms.min(self.settings.limits.lease_ms_max)) };
                if message.is_over(cx.wall) { Next::Expired } else { next }
            }
            Delay::Ms(_) | Delay::Backoff | Delay::Never => self.after_failure(cx, entry, message),
        }
    }

    /// Returns what comes after a recipient did nothing for as long as its lease lasted.
    pub(crate) fn after_lease(&self, cx: &mut Context<'_>, key: EntryKey) -> Next {
        let Some((entry, message)) = self.entry(key).zip(self.message_of(key)) else { return Next::Dead };
        if message.is_wanted_once() {
            return self.once_more_or(Next::Unconfirmed);
        }
        self.after_failure(cx, entry, message)
    }

    /// Returns what comes after the connection was lost over which a message was handed out.
    pub(crate) fn after_loss(&self, cx: &mut Context<'_>, key: EntryKey) -> Next {
        let Some((entry, message)) = self.entry(key).zip(self.message_of(key)) else { return Next::Dead };
        if message.is_wanted_once() {
            return self.once_more_or(Next::Unconfirmed);
        }
        if message.is_over(cx.wall) {
            return Next::Expired;
        }
        if message.is_withdrawn() {
            return Next::Withdrawn;
        }
        if entry.losses < LOSSES_MAX { Next::Again } else { self.after_failure(cx, entry, message) }
    }

    fn once_more_or(&self, next: Next) -> Next {
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::RedeliverAtMostOnce) {
            return Next::Again;
        }
        next
    }

    fn after_failure(&self, cx: &mut Context<'_>, entry: &Entry, message: &Message) -> Next {
        if message.is_withdrawn() {
            return Next::Withdrawn;
        }
        if message.is_over(cx.wall) {
            return Next::Expired;
        }
        if entry.tries() > message.retries {
            return self.fallback_or(entry.message, Next::Dead);
        }
        let chance = cx.random.next();
        let ms = pause_ms(&self.settings.retries, message.backoff, entry.tries().into(), chance);
        Next::Retry { at: cx.now.plus_ms(ms) }
    }

    /// Returns the next fallback that is there.
    pub(crate) fn fallback_or(&self, key: MessageKey, next: Next) -> Next {
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::SkipFallback) {
            return next;
        }
        let Some(message) = self.message(key) else { return next };
        let fallback = message.extra.as_ref().map(|extra| extra.fallback.as_slice()).unwrap_or_default();
        let agent =
            fallback.iter().copied().find(|agent| self.agent_at(*agent).is_ok() && !self.has_it(*agent, key));
        match agent {
            Some(agent) if message.hops < self.settings.limits.hops_max => {
                Next::Fallback { entry: EntryKey(self.entries.vacant().next().unwrap_or(u32::MAX)), agent }
            }
            Some(_) | None => next,
        }
    }

    /// Tells whether an agent has a message or gets it another way.
    fn has_it(&self, agent: AgentKey, message: MessageKey) -> bool {
        self.entries_of(message).any(|(_, entry)| match (entry.state, entry.mailbox) {
            (State::Post, Mailbox::Group(group)) => self.is_member(agent, group),
            (state, _) => self.holder_of(entry) == Some(agent) && is_a_way(state),
        })
    }

    /// Proposes a failure, and what its sender is told when it is the last.
    pub(crate) fn fail<'a>(
        &self,
        cx: &mut Context<'_>,
        key: EntryKey,
        reason: &'a str,
        next: Next,
    ) -> Vec<Event<'a>> {
        let Some((of, entry)) = self.of(key).zip(self.entry(key)) else { return Vec::new() };
        let mut events = vec![Event::Failed(Failed { of, reason, next })];
        let message = entry.message;
        match next {
            Next::Again | Next::Retry { .. } | Next::Fallback { .. } | Next::Unconfirmed => return events,
            Next::Dead | Next::Expired => {
                events.extend(self.notice_of_death(cx, message, &[key], reason, next));
            }
            Next::Withdrawn => {}
        }
        if !self.may_be_answered(message, |other, _| other == key) {
            events.extend(self.wait_over(message));
        }
        events
    }

    /// Tells whether anybody could still answer a message, when some of its entries are lost.
    pub(crate) fn may_be_answered(
        &self,
        message: MessageKey,
        is_lost: impl Fn(EntryKey, &Entry) -> bool,
    ) -> bool {
        let is_hopeful = |entry: &Entry| match entry.state {
            State::Waiting
            | State::Pausing
            | State::Flight
            | State::Stray
            | State::Held
            | State::Parked
            | State::Post
            | State::Done(End::Acknowledged | End::Unconfirmed) => true,
            State::Dead(_)
            | State::Done(End::Dead | End::Expired | End::Withdrawn | End::Moved | End::Shared) => false,
        };
        self.entries_of(message).any(|(key, entry)| !is_lost(key, entry) && is_hopeful(entry))
    }

    pub(crate) fn failed(&mut self, failed: &Failed<'_>, at: Time, effects: &mut Effects) -> Applied {
        let Failed { of, reason, next } = failed;
        let entry = self.check(*of)?;
        let (key, message) = (of.entry, entry.message);
        let fits = match *next {
            Next::Again | Next::Retry { .. } | Next::Unconfirmed => entry.state.is_out(),
            Next::Fallback { agent, .. } => {
                (entry.state.is_out() || entry.state.is_queued()) && self.agent_at(agent).is_ok()
            }
            Next::Dead | Next::Expired | Next::Withdrawn => {
                entry.state.is_out() || entry.state.may_still_leave()
            }
        };
        if !fits {
            return Err(Misfit::State { seq: self.last, what: "an entry" });
        }
        if matches!(next, Next::Again | Next::Retry { .. }) {
            self.enter_lane(key);
        }
        match *next {
            Next::Again => {
                if let Some(entry) = self.entries.get_mut(key.0) {
                    entry.losses = entry.losses.saturating_add(1);
                }
                self.advance(key, State::Waiting, self.offer_end(message, State::Waiting), effects)
            }
            Next::Retry { at: until } => {
                if let Some(entry) = self.entries.get_mut(key.0) {
                    entry.climb().ended = Some(Step { at, by: self.words.say(reason) });
                }
                self.advance(key, State::Pausing, until, effects);
            }
            Next::Fallback { entry, agent } => self.fall_back(key, entry, agent, reason, at, effects)?,
            Next::Dead => self.give_up(key, End::Dead, reason, at, effects),
            Next::Expired => self.give_up(key, End::Expired, reason, at, effects),
            Next::Unconfirmed => self.end(key, End::Unconfirmed, reason, at, effects),
            Next::Withdrawn => self.end(key, End::Withdrawn, reason, at, effects),
        }
        Ok(())
    }

    fn fall_back(
        &mut self,
        from: EntryKey,
        to: EntryKey,
        agent: AgentKey,
        reason: &str,
        at: Time,
        effects: &mut Effects,
    ) -> Applied {
        let seq = self.last;
        let Some(entry) = self.entry(from) else { return Ok(()) };
        let (message_key, attempts) = (entry.message, u32::from(entry.attempts));
        let tried = match self.holder_of(entry) {
            Some(agent) => self.name_of(agent).into(),
            None => self.address_of(entry).into(),
        };
        if let Some(message) = self.messages.get_mut(message_key.0) {
            message.hops = message.hops.saturating_add(1);
            let extra = message.extra();
            extra.offered = at;
            for (entry, _) in extra.tried.iter_mut().filter(|(entry, _)| *entry == from) {
                *entry = to;
            }
            extra.tried.push((to, Tried { agent: tried, attempts, reason: reason.into() }));
            let place = extra.fallback.iter().position(|other| *other == agent).map_or(0, |place| place + 1);
            extra.fallback.drain(..place);
        }
        let entry = Entry::new(message_key, Mailbox::Agent(agent), State::Waiting);
        self.insert_entry(to, entry, effects).map_err(|_| Misfit::Taken { seq, what: "an entry" })?;
        self.end(from, End::Moved, reason, at, effects);
        Ok(())
    }

    /// Ends an entry for which nothing more can be done; if the bus had promised to try, it becomes a dead letter.
    pub(crate) fn give_up(&mut self, key: EntryKey, end: End, reason: &str, at: Time, effects: &mut Effects) {
        let Some(entry) = self.entry(key) else { return };
        let message = entry.message;
        self.take_down(key);
        if self.is_wanted_once(message) {
            self.end(key, end, reason, at, effects);
            return;
        }
        if let Some(entry) = self.entries.get_mut(key.0) {
            entry.climb().ended = Some(Step { at, by: self.words.say(reason) });
        }
        self.advance(key, State::Dead(end), Time::NEVER, effects);
        self.forget_dead(effects);
    }

    /// Takes an entry down from where it stands for others to come for it: a topic, or the list of names to come.
    pub(crate) fn take_down(&mut self, key: EntryKey) {
        let Some(entry) = self.entry(key) else { return };
        match (entry.state, entry.mailbox) {
            (State::Post, Mailbox::Group(group)) => self.drop_post(group, key),
            (State::Held, _) => self.unhold(key),
            _ => {}
        }
    }

    fn unhold(&mut self, key: EntryKey) {
        self.held.retain(|_, entries| {
            entries.retain(|entry| *entry != key);
            !entries.is_empty()
        });
    }

    /// Ends every entry of a message that is not handed out.
    pub(crate) fn end_waiting(
        &mut self,
        message: MessageKey,
        at: Time,
        effects: &mut Effects,
        end: impl Fn(&mut Broker, EntryKey, Time, &mut Effects),
    ) {
        let waiting: Vec<EntryKey> = self
            .entries_of(message)
            .filter(|(_, entry)| entry.state.may_still_leave())
            .map(|(key, _)| key)
            .collect();
        for key in waiting {
            end(self, key, at, effects);
        }
    }
}
