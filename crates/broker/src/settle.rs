//! What becomes of a delivery: surfaced, acknowledged, refused, extended, returned.

use message::{DeliveryId, MessageId, Stage};

use crate::broker::{Applied, Broker, Decided, Decision};
use crate::context::entry_of;
use crate::effect::Effects;
use crate::entry::{End, Entry, NONE, State, Step};
use crate::mailbox::Mailbox;
use crate::{AgentKey, Context, EntryKey, Event, MessageKey, Misfit, Nack, Next, Of, Refusal, Reply, Time};

impl Broker {
    pub(crate) fn ack<'a>(&self, agent: AgentKey, delivery: DeliveryId, by: &'a str) -> Decided<'a> {
        self.check_text("by", by)?;
        let key = self.handed_out(agent, delivery)?;
        let entry = self.entry(key).ok_or(Refusal::UnknownDelivery)?;
        match entry.state {
            // A late acknowledgement counts as long as nobody else was given the message.
            State::Flight | State::Stray | State::Waiting | State::Pausing | State::Parked => {
                self.acknowledge(key, agent, by)
            }
            State::Done(End::Acknowledged) => {
                Ok(Decision { events: Vec::new(), reply: Reply::Stage(entry.stage()) })
            }
            // Now it is known after all.
            State::Dead(_) | State::Done(End::Unconfirmed) => self.acknowledge(key, agent, by),
            State::Held | State::Post | State::Done(_) => Err(Refusal::LeaseLost),
        }
    }

    pub(crate) fn process<'a>(&self, agent: AgentKey, id: MessageId, by: &'a str) -> Decided<'a> {
        self.check_text("by", by)?;
        let message = self.find(id).ok_or(Refusal::UnknownMessage)?;
        let mut mine = self.entries_of(message).filter(|(_, entry)| {
            self.holder_of(entry) == Some(agent)
                || matches!(entry.mailbox, Mailbox::Group(group) if entry.state.is_queued() && self.is_member(agent, group))
        });
        let (key, entry) = mine.next().ok_or(Refusal::UnknownMessage)?;
        match entry.state {
            State::Flight | State::Stray | State::Waiting | State::Pausing => {
                self.acknowledge(key, agent, by)
            }
            State::Done(_) | State::Dead(_) | State::Held | State::Parked | State::Post => {
                Ok(Decision { events: Vec::new(), reply: Reply::Stage(entry.stage()) })
            }
        }
    }

    fn acknowledge<'a>(&self, key: EntryKey, agent: AgentKey, by: &'a str) -> Decided<'a> {
        let of = self.of(key).ok_or(Refusal::UnknownDelivery)?;
        let events = vec![Event::Acknowledged { of, agent, by }];
        Ok(Decision { events, reply: Reply::Stage(Stage::Acknowledged) })
    }

    pub(crate) fn surface<'a>(&self, agent: AgentKey, delivery: DeliveryId, by: &'a str) -> Decided<'a> {
        self.check_text("by", by)?;
        let key = self.in_flight(agent, delivery)?;
        let of = self.of(key).ok_or(Refusal::UnknownDelivery)?;
        Ok(Decision { events: vec![Event::Surfaced { of, by }], reply: Reply::Stage(Stage::Surfaced) })
    }

    pub(crate) fn nack<'a>(&self, cx: &mut Context<'_>, nack: &'a Nack) -> Decided<'a> {
        self.check_text("reason", &nack.reason)?;
        let key = self.in_flight(nack.agent, nack.delivery)?;
        let next = self.after_refusal(cx, key, nack.delay);
        Ok(Decision::done(self.fail(cx, key, &nack.reason, next)))
    }

    pub(crate) fn extend<'a>(
        &self,
        cx: &Context<'_>,
        agent: AgentKey,
        delivery: DeliveryId,
        lease_ms: u64,
    ) -> Decided<'a> {
        self.check_lease(lease_ms)?;
        let key = self.in_flight(agent, delivery)?;
        let of = self.of(key).ok_or(Refusal::UnknownDelivery)?;
        let until = cx.now.plus_ms(lease_ms);
        Ok(Decision { events: vec![Event::Extended { of, until }], reply: Reply::Lease(until) })
    }

    pub(crate) fn give_back<'a>(
        &self,
        cx: &mut Context<'_>,
        agent: AgentKey,
        delivery: DeliveryId,
    ) -> Decided<'a> {
        let key = self.handed_out(agent, delivery)?;
        let entry = self.entry(key).filter(|entry| entry.state.is_out()).ok_or(Refusal::LeaseLost)?;
        let of = self.of(key).ok_or(Refusal::UnknownDelivery)?;
        debug_assert!(entry.attempts > 0, "what is handed out was counted");
        let mut events = vec![Event::Returned { of }];
        match self.message_of(key) {
            Some(message) if message.is_withdrawn() => {
                events.extend(self.fail(cx, key, "its sender", Next::Withdrawn))
            }
            Some(message) if message.is_over(cx.wall) => {
                events.extend(self.fail(cx, key, "its time ran out", Next::Expired));
            }
            Some(_) | None => {}
        }
        Ok(Decision::done(events))
    }

    /// Returns who was handed a delivery, while it is the last one of its message for anybody.
    pub fn holder(&self, delivery: DeliveryId) -> Option<AgentKey> {
        let ladder = self.entry(entry_of(delivery)).and_then(|entry| entry.ladder.as_ref())?;
        ladder.agent.filter(|_| ladder.delivery == Some(delivery))
    }

    /// Returns how far the message of a delivery has come with its recipient.
    pub fn stage(&self, delivery: DeliveryId) -> Option<Stage> {
        self.entry(entry_of(delivery)).map(Entry::stage)
    }

    /// Finds the entry of a delivery that is the last one of its entry.
    fn handed_out(&self, agent: AgentKey, delivery: DeliveryId) -> Result<EntryKey, Refusal> {
        let key = entry_of(delivery);
        if !delivery.is_v7() {
            return Err(Refusal::UnknownDelivery);
        }
        let entry = self.entry(key).ok_or(Refusal::LeaseLost)?;
        let ladder = entry.ladder.as_ref().ok_or(Refusal::LeaseLost)?;
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::LateAckAfterRedelivery) && ladder.agent == Some(agent) {
            return Ok(key);
        }
        match ladder.delivery {
            Some(last) if last == delivery && ladder.agent == Some(agent) => Ok(key),
            Some(last) if last == delivery => Err(Refusal::UnknownDelivery),
            Some(_) | None => Err(Refusal::LeaseLost),
        }
    }

    fn in_flight(&self, agent: AgentKey, delivery: DeliveryId) -> Result<EntryKey, Refusal> {
        let key = self.handed_out(agent, delivery)?;
        let is_out = self.entry(key).is_some_and(|entry| entry.state == State::Flight);
        if is_out { Ok(key) } else { Err(Refusal::LeaseLost) }
    }

    /// Returns the agent that has an entry, or for which it waits.
    pub(crate) fn holder_of(&self, entry: &Entry) -> Option<AgentKey> {
        let taker = entry.ladder.as_ref().and_then(|ladder| ladder.agent);
        taker.or(match entry.mailbox {
            Mailbox::Agent(agent) => Some(agent),
            Mailbox::Session(session) => self.sessions.get(session.0).map(|session| session.agent),
            Mailbox::Group(_) | Mailbox::Nobody => None,
        })
    }

    /// Returns the entry that an event is about, if it is the one.
    pub(crate) fn check(&self, of: Of) -> Result<&Entry, Misfit> {
        let seq = self.last;
        let entry = self.entry(of.entry).ok_or(Misfit::Missing { seq, what: "an entry" })?;
        match self.message(entry.message) {
            Some(message) if message.seq == of.seq => Ok(entry),
            Some(_) | None => Err(Misfit::Missing { seq, what: "an entry" }),
        }
    }

    pub(crate) fn check_message(
        &self,
        key: MessageKey,
        accepted: message::Seq,
    ) -> Result<MessageKey, Misfit> {
        let seq = self.last;
        match self.message(key) {
            Some(message) if message.seq == accepted => Ok(key),
            Some(_) | None => Err(Misfit::Missing { seq, what: "a message" }),
        }
    }

    pub(crate) fn acknowledged(
        &mut self,
        of: Of,
        agent: AgentKey,
        by: &str,
        at: Time,
        effects: &mut Effects,
    ) -> Applied {
        let state = self.check(of)?.state;
        let may_be_settled = match state {
            State::Waiting
            | State::Pausing
            | State::Parked
            | State::Flight
            | State::Stray
            | State::Dead(_) => true,
            State::Done(end) => end == End::Unconfirmed,
            State::Held | State::Post => false,
        };
        if !may_be_settled || self.agents.get(agent).is_none() {
            return Err(Misfit::State { seq: self.last, what: "an entry" });
        }
        if let Some(entry) = self.entries.get_mut(of.entry.0) {
            entry.climb().agent = Some(agent);
        }
        if state == State::Done(End::Unconfirmed) {
            return self.confirmed(of.entry, by, at);
        }
        self.end(of.entry, End::Acknowledged, by, at, effects);
        Ok(())
    }

    /// Notes that what nobody knew to have arrived has arrived. It was over before, and stays so.
    fn confirmed(&mut self, key: EntryKey, by: &str, at: Time) -> Applied {
        if let Some(entry) = self.entries.get_mut(key.0) {
            entry.state = State::Done(End::Acknowledged);
            entry.climb().ended = Some(Step { at, by: self.words.say(by) });
        }
        Ok(())
    }

    pub(crate) fn surfaced(&mut self, of: Of, by: &str, at: Time) -> Applied {
        if self.check(of)?.state != State::Flight {
            return Err(Misfit::State { seq: self.last, what: "an entry" });
        }
        if let Some(entry) = self.entries.get_mut(of.entry.0) {
            entry.climb().surfaced = Some(Step { at, by: self.words.say(by) });
        }
        Ok(())
    }

    pub(crate) fn extended(&mut self, of: Of, until: Time) -> Applied {
        if self.check(of)?.state != State::Flight {
            return Err(Misfit::State { seq: self.last, what: "an entry" });
        }
        self.set_until(of.entry, until);
        Ok(())
    }

    pub(crate) fn returned(&mut self, of: Of, effects: &mut Effects) -> Applied {
        let entry = self.check(of)?;
        if !entry.state.is_out() {
            return Err(Misfit::State { seq: self.last, what: "an entry" });
        }
        let message = entry.message;
        self.enter_lane(of.entry);
        if let Some(entry) = self.entries.get_mut(of.entry.0) {
            entry.attempts = entry.attempts.saturating_sub(1);
            if let Some(ladder) = entry.ladder.as_mut() {
                (ladder.delivery, ladder.agent, ladder.dispatched) = (None, None, None);
            }
        }
        self.advance(of.entry, State::Waiting, self.offer_end(message, State::Waiting), effects);
        Ok(())
    }

    /// Gives a reply the last place that went straight to whoever waited for it, and did not arrive: it was in no lane
    /// before, and others of its task may have left since.
    pub(crate) fn enter_lane(&mut self, key: EntryKey) {
        let was_for_waiter = self.entry(key).is_some_and(|entry| entry.lane == NONE);
        if was_for_waiter && self.message_of(key).is_some_and(|message| message.task != 0) {
            self.requeue(key);
        }
    }

    pub(crate) fn released(&mut self, of: Of, effects: &mut Effects) -> Applied {
        let entry = self.check(of)?;
        if entry.state != State::Pausing {
            return Err(Misfit::State { seq: self.last, what: "an entry" });
        }
        let until = self.offer_end(entry.message, State::Waiting);
        self.advance(of.entry, State::Waiting, until, effects);
        Ok(())
    }

    /// Ends an entry.
    pub(crate) fn end(&mut self, key: EntryKey, end: End, by: &str, at: Time, effects: &mut Effects) {
        if let Some(entry) = self.entries.get_mut(key.0) {
            entry.climb().ended = Some(Step { at, by: self.words.say(by) });
        }
        self.advance(key, State::Done(end), Time::NEVER, effects);
    }
}
