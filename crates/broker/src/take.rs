//! Handing messages out.

use message::DeliveryId;

use crate::broker::{Applied, Broker, Decided, Decision};
use crate::effect::Effects;
use crate::entry::{Entry, Message, NONE, State, Step};
use crate::mailbox::{Mailbox, Queue, picks};
use crate::work::breaker::{Room, is_work};
use crate::{
    AgentKey, Context, Delivery, EntryKey, Event, Misfit, Of, Refusal, Reply, SessionKey, Take, Time,
};

impl Broker {
    /// Refuses what cannot be taken at all, before anything is done for it.
    pub(crate) fn check_take(&self, take: &Take) -> Result<(), Refusal> {
        self.agent_at(take.agent)?;
        self.check_lease(take.lease_ms)?;
        self.check_text("gateway", &take.by)?;
        self.queues_of(take).map(|_| ())
    }

    pub(crate) fn take<'a>(&self, cx: &mut Context<'_>, take: &'a Take) -> Decided<'a> {
        self.check_take(take)?;
        let agent = self.agent_at(take.agent)?;
        let queues = self.queues_of(take)?;
        let unabsorbed = self.unabsorbed(take.agent);
        let mut picks = picks(&queues, agent.picked);
        let mut decision = Decision::done(Vec::new());
        let mut deliveries = Vec::new();
        let mut bytes = 0;
        let count_max = take.max.min(self.settings.limits.take_max) as usize;
        let mut room = self.work_room(take.agent);
        let serves_roles = self.serves_roles(cx, take.agent);
        while deliveries.len() < count_max {
            let may_leave = |entry| {
                self.may_leave(entry, take.agent, cx.wall, unabsorbed)
                    && (room == Room::Any || self.may_work(entry, room))
                    && (serves_roles || !self.is_work_of_role(entry))
            };
            let Some(entry) = picks.next(may_leave) else { break };
            let Some(delivery) = self.delivery(cx, take, entry) else { break };
            bytes += self.message(delivery.message).map_or(0, |message| u64::from(message.bytes));
            if bytes > take.bytes_max && !deliveries.is_empty() {
                break;
            }
            let Some(of) = self.of(entry) else { break };
            decision.events.push(Event::Dispatched {
                of,
                agent: take.agent,
                session: take.session,
                delivery: delivery.delivery,
                lease_until: delivery.lease_until,
                by: &take.by,
            });
            if room == Room::One && is_work(delivery.kind) {
                decision.events.extend(self.probe(cx, take.agent).map(Event::Work));
                room = Room::None;
            }
            deliveries.push(delivery);
        }
        decision.reply = Reply::Taken(deliveries);
        Ok(decision)
    }

    pub(crate) fn check_lease(&self, ms: u64) -> Result<(), Refusal> {
        let (ms_min, ms_max) = (self.settings.limits.lease_ms_min, self.settings.limits.lease_ms_max);
        if (ms_min..=ms_max).contains(&ms) {
            Ok(())
        } else {
            Err(Refusal::LeaseLength { ms, ms_min, ms_max })
        }
    }

    /// Returns the mailboxes from which somebody takes: its own, its connection's, those of its roles.
    fn queues_of(&self, take: &Take) -> Result<Vec<&Queue>, Refusal> {
        let agent = self.agent_at(take.agent)?;
        let mut queues = vec![&agent.queue];
        if let Some(session) = take.session {
            let session = self.sessions.get(session.0).filter(|session| session.agent == take.agent);
            queues.push(&session.ok_or(Refusal::UnknownSession)?.queue);
        }
        queues.extend(
            agent.groups.iter().filter_map(|group| self.groups.get(*group)).map(|group| &group.queue),
        );
        Ok(queues)
    }

    fn may_leave(&self, key: EntryKey, agent: AgentKey, wall: Time, unabsorbed: u64) -> bool {
        let Some(entry) = self.entry(key) else { return false };
        let Some(message) = self.message(entry.message) else { return false };
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::DeliverExpired) {
            return true;
        }
        // A topic's older post of the same task may still be before it.
        let is_next_in_lane = entry.lane == NONE || entry.order < unabsorbed;
        !message.is_over(wall) && is_next_in_lane && !self.would_be_twice(key, entry, message, agent)
    }

    /// Tells whether an agent that takes from a role gets the same message another way, where once must be enough.
    fn would_be_twice(&self, key: EntryKey, entry: &Entry, message: &Message, agent: AgentKey) -> bool {
        let is_possible =
            message.several && message.is_wanted_once() && matches!(entry.mailbox, Mailbox::Group(_));
        let mut others = self.entries_of(entry.message).filter(|(other, _)| *other != key);
        is_possible && others.any(|(_, other)| self.holder_of(other) == Some(agent))
    }

    fn delivery(&self, cx: &mut Context<'_>, take: &Take, key: EntryKey) -> Option<Delivery> {
        let entry = self.entry(key)?;
        let message = self.message(entry.message)?;
        Some(Delivery {
            delivery: cx.delivery_id(key),
            id: message.id,
            message: entry.message,
            entry: key,
            body: message.body,
            from: message.from,
            kind: message.kind,
            priority: message.priority,
            guarantee: message.guarantee,
            attempt: u32::from(entry.attempts) + 1,
            lease_until: cx.now.plus_ms(take.lease_ms),
            tried: message.tried(key).cloned().collect(),
        })
    }

    fn takes_from(&self, agent: AgentKey, session: Option<SessionKey>, mailbox: Mailbox) -> bool {
        match mailbox {
            Mailbox::Agent(owner) => owner == agent,
            Mailbox::Session(owner) => session == Some(owner),
            Mailbox::Group(group) => self.is_member(agent, group),
            Mailbox::Nobody => false,
        }
    }

    /// Returns by how much a handing-out brings the turn of the oldest nearer.
    fn turns_taken(&self) -> u32 {
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::StarveLow) {
            return 0;
        }
        1
    }

    pub(crate) fn dispatched(
        &mut self,
        of: Of,
        (agent, session): (AgentKey, Option<SessionKey>),
        delivery: DeliveryId,
        (at, lease_until): (Time, Time),
        by: &str,
        effects: &mut Effects,
    ) -> Applied {
        let seq = self.last;
        if self.check(of)?.state != State::Waiting {
            return Err(Misfit::State { seq, what: "an entry" });
        }
        let holds = |session: &SessionKey| self.sessions.get(session.0).is_some_and(|it| it.agent == agent);
        if self.agent_at(agent).is_err() || !session.iter().all(holds) {
            return Err(Misfit::Missing { seq, what: "an agent's connection" });
        }
        let mailbox = self.check(of)?.mailbox;
        if !self.takes_from(agent, session, mailbox) {
            return Err(Misfit::State { seq, what: "a mailbox" });
        }
        if let Some(entry) = self.entries.get_mut(of.entry.0) {
            entry.attempts = entry.attempts.saturating_add(1);
            let ladder = entry.climb();
            (ladder.delivery, ladder.agent, ladder.session) = (Some(delivery), Some(agent), session);
            ladder.dispatched = Some(Step { at, by: self.words.say(by) });
            ladder.surfaced = None;
        }
        if let Some(session) = session {
            let session =
                self.sessions.get_mut(session.0).ok_or(Misfit::Missing { seq, what: "a connection" })?;
            session.out.insert(of.entry);
        }
        let turns = self.turns_taken();
        if let Some(agent) = self.agents.get_mut(agent) {
            agent.picked = agent.picked.wrapping_add(turns);
        }
        self.advance(of.entry, State::Flight, lease_until, effects);
        Ok(())
    }
}
