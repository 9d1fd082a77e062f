//! Handing over: the holder of a task offers it to another, who takes it or does not, in time or not.

use message::{PresenceState, TaskStatus};

use super::hear::{Heard, Right, Spoken};
use super::{Fact, HandoffReason, Moved, Step, Task, TaskIntent, after};
use crate::broker::Broker;
use crate::{Accept, AgentKey, Context, Event, Identity, Refusal, Target, TaskKey};

impl Broker {
    pub(super) fn hear_offer<'a>(
        &self,
        cx: &mut Context<'_>,
        accept: &'a Accept,
        intent: &'a TaskIntent,
        spoken: &Spoken<'_, 'a>,
    ) -> Result<Heard<'a>, Refusal> {
        let Some((key, task)) = self.subject(accept, Some(spoken)) else {
            let text = "no task of this name is known here: nothing but the message itself goes on";
            return Ok(Heard::nothing_but("unknown_task", text));
        };
        match self.right(task, accept.from, self.answers_request(task, spoken)) {
            Right::Holder | Right::Operator | Right::Asked => {}
            Right::Offered | Right::Member | Right::AlsoAsked | Right::Stranger => {
                return Err(self.not_holder(task));
            }
        }
        if super::is_over(task.status) {
            return Err(self.misplaced(task, Step::Offered));
        }
        // Whoever offers what nobody has takes it first.
        if task.holder.is_none() {
            self.held(task)?;
            after(task.status, Step::Claimed).ok_or_else(|| self.misplaced(task, Step::Offered))?;
        }
        let [Target::Agent { agent: to, .. }] = *spoken.targets else {
            return Err(Refusal::HandoffRecipient);
        };
        let mut heard = Heard::default();
        if let Err(why) = self.may_take_over(cx, task, accept.from, to, intent) {
            // It ends before it begins: nothing of the task changes, and its holder is answered as if by the other.
            heard.files = true;
            let mut tell = self.tell_declined(task, accept.from, to, spoken.id, &why);
            tell.native = match &accept.identity {
                Identity::Native(id) => Some(id.to_string()),
                Identity::Content => None,
            };
            heard.tells.push(tell);
            return Ok(heard);
        }
        // Whoever was asked and has not begun holds it from now on, so that it can be given back to it.
        if task.holder.is_none() {
            let status = TaskStatus::Claimed;
            let lease_until = cx.now.plus_ms(self.lease_ms(intent));
            let moved = Moved {
                status,
                holder: Some(accept.from),
                lease_until,
                ..self.moved_by(key, task, Step::Claimed, accept.from, spoken)
            };
            heard.facts.push(Fact::Moved(Box::new(moved)));
        }
        let wait_until = cx.now.plus_ms(self.work.policy().offer_ms);
        let by_deadline = intent.deadline.map(|deadline| cx.now.plus_ms(deadline.ms_since(cx.wall)));
        heard.facts.push(Fact::Offered {
            of: task.of(key),
            by: accept.from,
            to,
            message: spoken.id,
            until: by_deadline.map_or(wait_until, |deadline| deadline.min(wait_until)),
            reason: intent.handoff.unwrap_or(HandoffReason::LoadBalancing),
        });
        Ok(heard)
    }

    /// Tells why an agent cannot take a task over, if it cannot.
    fn may_take_over(
        &self,
        cx: &Context<'_>,
        task: &Task,
        from: AgentKey,
        to: AgentKey,
        intent: &TaskIntent,
    ) -> Result<(), String> {
        if to == from {
            return Err("it has the task already".to_owned());
        }
        match self.presence_of(to) {
            Some(
                state @ (PresenceState::Offline
                | PresenceState::Error
                | PresenceState::Busy
                | PresenceState::Maintenance),
            ) => {
                return Err(format!("Target agent unavailable: it is {}", state.name()));
            }
            Some(PresenceState::Idle) | None => {}
        }
        if intent.deadline.is_some_and(|deadline| deadline <= cx.wall) {
            return Err("the deadline has passed".to_owned());
        }
        if let Some(missing) = intent.capabilities.iter().find(|wanted| !self.work.can(to, wanted)) {
            return Err(format!("it does not say that it can do {missing}"));
        }
        match self.check_fit(cx, task, to) {
            Ok(()) => Ok(()),
            Err(Refusal::Unfit { why, .. } | Refusal::OverPolicy { why }) => Err(why),
            Err(refusal) => Err(refusal.to_string()),
        }
    }

    pub(super) fn hear_offer_answered<'a>(
        &self,
        cx: &mut Context<'_>,
        accept: &'a Accept,
        intent: &'a TaskIntent,
        spoken: &Spoken<'_, 'a>,
    ) -> Result<Heard<'a>, Refusal> {
        let Some((key, task)) = self.subject(accept, Some(spoken)) else {
            return Ok(Heard::default());
        };
        let is_theirs = task.rest.offer.as_ref().is_some_and(|offer| offer.to == accept.from);
        if !is_theirs {
            return Err(Refusal::NoOffer { task: task.id.to_string() });
        }
        let moved = match intent.accepts.unwrap_or(true) {
            true => {
                // What was so when it was offered may be so no more.
                self.check_fit(cx, task, accept.from)?;
                Moved {
                    status: TaskStatus::Claimed,
                    holder: Some(accept.from),
                    is_claimed: true,
                    lease_until: cx.now.plus_ms(self.lease_ms(intent)),
                    reason: intent.reason.as_deref().unwrap_or_default(),
                    ..self.moved_by(key, task, Step::HandedOver, accept.from, spoken)
                }
            }
            false => Moved {
                reason: intent.reason.as_deref().unwrap_or_default(),
                ..self.moved_by(key, task, Step::Declined, accept.from, spoken)
            },
        };
        Ok(Heard { facts: vec![Fact::Moved(Box::new(moved))], ..Heard::default() })
    }

    /// Ends an offer that nobody answered.
    pub(super) fn offer_over<'a>(&self, cx: &mut Context<'_>, key: TaskKey) -> Vec<Event<'a>> {
        let Some(task) = self.work.task(key) else { return Vec::new() };
        let Some(offer) = task.rest.offer.filter(|offer| offer.until <= cx.now) else { return Vec::new() };
        let moved = self.unmoved(key, task, Step::OfferLapsed, AgentKey::SYSTEM);
        let holder = task.holder.unwrap_or(task.requester);
        let why = "it did not answer in time";
        let tell = self.tell_declined(task, holder, offer.to, offer.message, why);
        self.with_tells(cx, vec![Event::Work(Fact::Moved(Box::new(moved)))], vec![tell])
    }
}
