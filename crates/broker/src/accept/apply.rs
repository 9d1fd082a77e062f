//! What the state holds of a message that was taken in.

use std::sync::Arc;

use crate::broker::{Applied, Broker};
use crate::context::message_of;
use crate::effect::{Effect, Effects};
use crate::entry::{End, Entry, Extra, Life, Message, NONE, State, Step};
use crate::mailbox::Mailbox;
use crate::timers::Timed;
use crate::{Accepted, Fingerprint, MessageKey, Misfit, Park, Target, Time, Tried, turns};

/// By what a reply is handed to whoever waits for it.
pub(crate) const TO_WAITER: &str = "wait";

impl Broker {
    pub(crate) fn accepted(&mut self, accepted: &Accepted<'_>, at: Time, effects: &mut Effects) -> Applied {
        let seq = self.last;
        let key = accepted.message;
        if self.agents.get(accepted.from).is_none()
            || !accepted.targets.iter().all(|target| self.exists(target))
        {
            return Err(Misfit::Missing { seq, what: "a sender or a recipient" });
        }
        if message_of(accepted.id) != key {
            return Err(Misfit::State { seq, what: "an id" });
        }
        let message = self.new_message(accepted, at);
        self.insert_message(key, message).map_err(|_| Misfit::Taken { seq, what: "a message" })?;
        if let Some(until) = accepted.wait_until {
            self.begin_wait(key, until);
        }
        self.known.note(
            accepted.from,
            accepted.marks.key,
            accepted.fingerprint,
            accepted.id,
            &self.retention,
        );
        self.note_turn(accepted);
        for target in &accepted.targets {
            self.enter(accepted, target, at, effects)?;
        }
        if let Some(of) = accepted.answers {
            self.answered(of, accepted, at, effects)?;
        }
        // The message was held open until all of its entries were there.
        self.count_open(key, false);
        self.settle_if_over(key);
        Ok(())
    }

    fn exists(&self, target: &Target<'_>) -> bool {
        match target {
            Target::Agent { agent, session: Some(session), .. } => {
                self.sessions.get(session.0).is_some_and(|session| session.agent == *agent)
            }
            Target::Agent { agent, .. } | Target::Instead { agent, .. } | Target::Waiter { agent, .. } => {
                self.agents.get(*agent).is_some()
            }
            Target::Group { group, .. } => self.groups.get(*group).is_some(),
            Target::Held { .. } => true,
        }
    }

    fn new_message(&self, accepted: &Accepted<'_>, at: Time) -> Message {
        let has_extra = !accepted.fallback.is_empty() || accepted.timeout_ms.is_some();
        let extra = has_extra.then(|| {
            Box::new(Extra {
                fallback: accepted.fallback.clone(),
                timeout_ms: accepted.timeout_ms.unwrap_or(0),
                offered: at,
                ..Extra::default()
            })
        });
        Message {
            id: accepted.id,
            seq: self.last,
            body: self.last,
            expires: accepted.expires,
            task: accepted.marks.task,
            extra,
            from: accepted.from,
            bytes: u32::try_from(accepted.body.len()).unwrap_or(u32::MAX),
            first: NONE,
            open: 1,
            kind: accepted.kind,
            priority: accepted.priority,
            guarantee: accepted.guarantee,
            backoff: accepted.backoff,
            retries: u8::try_from(accepted.retries).unwrap_or(u8::MAX),
            hops: accepted.hops,
            life: if accepted.live_only { Life::Instant } else { Life::Usual },
            several: accepted.targets.len() > 1,
        }
    }

    fn note_turn(&mut self, accepted: &Accepted<'_>) {
        if let [target] = accepted.targets.as_slice()
            && let Some(to) = super::recipient(target)
        {
            let conversation = turns::conversation(accepted.thread, accepted.from, to);
            self.turns.note(conversation, accepted.from, accepted.marks.task);
            if accepted.parked == Park::Loop
                && let Some(message) = self.messages.get_mut(accepted.message.0)
            {
                message.extra().conversation = conversation;
            }
        }
        if accepted.parked == Park::Guard
            && let Some(message) = self.messages.get_mut(accepted.message.0)
        {
            // It goes on alone.
            message.extra().conversation =
                Fingerprint::of(&[b"guard", &accepted.id.to_bytes()]).hash().max(1);
        }
    }

    fn enter(
        &mut self,
        accepted: &Accepted<'_>,
        target: &Target<'_>,
        at: Time,
        effects: &mut Effects,
    ) -> Applied {
        let seq = self.last;
        let message = accepted.message;
        let key = super::entry_of(target);
        let mailbox = match target {
            Target::Agent { session: Some(session), .. } => Mailbox::Session(*session),
            Target::Agent { agent, .. } | Target::Instead { agent, .. } | Target::Waiter { agent, .. } => {
                Mailbox::Agent(*agent)
            }
            Target::Group { group, .. } => Mailbox::Group(*group),
            Target::Held { .. } => Mailbox::Nobody,
        };
        let state = self.first_state(accepted, target);
        let entry = Entry::new(message, mailbox, state);
        self.insert_entry(key, entry, effects).map_err(|_| Misfit::Taken { seq, what: "an entry" })?;
        if accepted.filed
            && let Some(entry) = self.entries.get_mut(key.0)
        {
            entry.climb().ended = Some(Step { at, by: self.words.say("late") });
        }
        match target {
            Target::Held { name, .. } => {
                self.held.entry((*name).into()).or_default().push(key);
                if let Some(message) = self.messages.get_mut(message.0) {
                    message.extra().awaited.push((key, (*name).into()));
                }
            }
            Target::Instead { name, .. } => {
                // Who is there and does not get it is left alone for a while.
                let is_known = self.agent(name).is_some();
                let reason = if is_known { "its breaker is open" } else { "not registered" };
                let tried = Tried { agent: (*name).into(), attempts: 0, reason: reason.into() };
                if let Some(message) = self.messages.get_mut(message.0) {
                    message.extra().tried.push((key, tried));
                }
            }
            Target::Group { group, .. } if state == State::Post => {
                self.post(*group, key, accepted.from, effects)
            }
            Target::Waiter { agent, delivery, until, .. } if state == State::Flight => {
                if let Some(entry) = self.entries.get_mut(key.0) {
                    entry.attempts = 1;
                    let ladder = entry.climb();
                    (ladder.delivery, ladder.agent) = (Some(*delivery), Some(*agent));
                    ladder.dispatched = Some(Step { at, by: self.words.say(TO_WAITER) });
                }
                self.set_until(key, *until);
            }
            Target::Agent { .. } | Target::Group { .. } | Target::Waiter { .. } => {}
        }
        Ok(())
    }

    fn first_state(&self, accepted: &Accepted<'_>, target: &Target<'_>) -> State {
        if accepted.filed {
            return State::Done(End::Expired);
        }
        match target {
            Target::Held { .. } => State::Held,
            Target::Waiter { .. } => State::Flight,
            Target::Group { group, .. } if self.is_shared(*group) => State::Post,
            Target::Agent { .. } | Target::Instead { .. } | Target::Group { .. } => match accepted.parked {
                Park::Nothing => State::Waiting,
                Park::Loop | Park::Guard => State::Parked,
            },
        }
    }

    /// Notes that an entry was answered. An answer settles what it answers.
    fn answered(
        &mut self,
        of: crate::Of,
        accepted: &Accepted<'_>,
        at: Time,
        effects: &mut Effects,
    ) -> Applied {
        let entry = self.check(of)?;
        let (asked, state) = (entry.message, entry.state);
        let by: Arc<str> = self.name_of(accepted.from).into();
        if !super::is_answer(accepted.kind) {
            return Ok(());
        }
        if let Some(entry) = self.entries.get_mut(of.entry.0) {
            let ladder = entry.climb();
            ladder.answered.get_or_insert(Step { at, by: by.clone() });
        }
        let was_handed_out =
            state.is_out() || (state.is_queued() && self.entry(of.entry).is_some_and(|it| it.attempts > 0));
        if was_handed_out {
            self.end(of.entry, End::Acknowledged, &by, at, effects);
        }
        self.answer_wait(asked, accepted, effects);
        Ok(())
    }

    /// Gives a reply to whoever waits for it.
    fn answer_wait(&mut self, asked: MessageKey, accepted: &Accepted<'_>, effects: &mut Effects) {
        let Some(message) = self.messages.get_mut(asked.0) else { return };
        let (id, asker) = (message.id, message.from);
        let extra = message.extra();
        extra.answer.get_or_insert(accepted.id);
        let Some(until) = extra.wait_until.take() else { return };
        self.timers.clear(until, Timed::Wait(asked));
        self.waits.remove(&(asker, asked));
        let delivery = accepted.targets.iter().find_map(|target| match target {
            Target::Waiter { delivery, .. } => Some(*delivery),
            Target::Agent { .. } | Target::Group { .. } | Target::Held { .. } | Target::Instead { .. } => {
                None
            }
        });
        if let Some(delivery) = delivery {
            effects.push(Effect::Answered { message: id, reply: accepted.id, delivery });
        }
        self.count_open(asked, false);
        self.settle_if_over(asked);
    }
}
