//! Who may have which task, and hands it over to whom.

use std::rc::Rc;

use broker::{AgentKey, Breaker, Hold, Step, Time};
use message::{Kind, PresenceState, Priority, TaskStatus};

use super::hear::{Right, Spoken};
use super::{Change, Heard, Move, No, Offer, Tell, Whom};
use crate::model::route::Way;
use crate::model::state::State;
use crate::request::Sent;

impl State {
    /// A claim is refused by how things are, whether it was made before or not.
    pub(in crate::model) fn check_claim(&self, sent: &Sent, wall: Time) -> Result<(), No> {
        match self.named(sent) {
            Some(index) => self.may_claim(index, sent.from, wall).map(|_| ()),
            None => Ok(()),
        }
    }

    pub(super) fn may_claim(&self, index: usize, by: AgentKey, wall: Time) -> Result<Right, No> {
        let task = &self.work.tasks[index];
        let right = self.right(index, by, None);
        if matches!(right, Right::Holder | Right::Offered) && !self.is_ended(index) {
            return Ok(right);
        }
        if task.holder == Some(by) && !self.is_ended(index) {
            return Ok(Right::Holder);
        }
        if task.holder.is_some() {
            return Err(No::Missed);
        }
        if right == Right::Stranger {
            return Err(No::NotAsked);
        }
        if task.status != TaskStatus::Pending {
            return Err(No::Misplaced);
        }
        self.check_held(index)?;
        self.check_fit(index, by, wall).map(|()| right)
    }

    /// Whether an agent may be given a task: it is there, able, good enough, not left alone, and not too dear.
    pub(super) fn check_fit(&self, index: usize, agent: AgentKey, wall: Time) -> Result<(), No> {
        if agent == AgentKey::HUMAN {
            return Ok(());
        }
        let task = &self.work.tasks[index];
        let worker = self.work.workers.get(&agent).cloned().unwrap_or_default();
        let is_away = self.presence(agent) == Some(PresenceState::Maintenance);
        let is_able = task.capabilities.iter().all(|wanted| worker.capabilities.contains(wanted));
        let is_poor = matches!((task.quality, worker.quality), (Some(wanted), Some(has)) if has < wanted);
        let is_left_alone = matches!(worker.breaker, Breaker::Open { .. } | Breaker::Probing { .. });
        if is_away || worker.from > wall || !is_able || is_poor || is_left_alone {
            return Err(No::Unfit);
        }
        if task.payer() == Some(agent) {
            return Ok(());
        }
        let sum = self.work.cost_so_far(agent) + task.reserved;
        if self.work.rules.per_agent.is_some_and(|limit| sum > limit) {
            return Err(No::OverPolicy);
        }
        self.check_allotments(agent, task.tokens_max, task.reserved)
    }

    pub(super) fn lease_end(&self, spoken: &Spoken<'_>) -> Time {
        let limits = &self.settings.limits;
        let ms = spoken.said().lease_ms.unwrap_or(self.work.rules.claim_ms);
        spoken.now.plus_ms(ms.clamp(limits.lease_ms_min, limits.lease_ms_max))
    }

    pub(super) fn hear_claim(&self, spoken: &Spoken<'_>) -> Result<Heard, No> {
        let Some(index) = self.subject(spoken) else { return Ok(Heard::only("unknown_task")) };
        let by = spoken.sent.from;
        let right = self.may_claim(index, by, spoken.wall)?;
        let task = &self.work.tasks[index];
        let (step, status) = match right {
            Right::Holder => (Step::Renewed, task.status),
            Right::Offered => (Step::HandedOver, TaskStatus::Claimed),
            _ => (Step::Claimed, TaskStatus::Claimed),
        };
        let mut heard = Heard::default();
        heard.changes.push(Change::Move(Box::new(Move {
            status,
            holder: Some(by),
            is_claimed: true,
            lease_until: self.lease_end(spoken),
            ..self.unmoved(index, step, by)
        })));
        if step == Step::Claimed {
            heard.changes.extend(self.after_probe(by, spoken.now));
            heard.changes.extend(self.settle_request(index, by, spoken));
        }
        if step == Step::HandedOver {
            heard.tells.extend(task.holder.map(tell_handoff));
        }
        Ok(heard)
    }

    pub(super) fn hear_offer(&self, spoken: &Spoken<'_>) -> Result<Heard, No> {
        let Some(index) = self.subject(spoken) else { return Ok(Heard::only("unknown_task")) };
        let (task, by) = (&self.work.tasks[index], spoken.sent.from);
        if !matches!(self.right(index, by, Some(spoken)), Right::Holder | Right::Operator | Right::Asked) {
            return Err(No::NotHolder);
        }
        if self.is_ended(index) {
            return Err(No::Misplaced);
        }
        if task.holder.is_none() {
            self.check_held(index)?;
            if task.status != TaskStatus::Pending {
                return Err(No::Misplaced);
            }
        }
        let to = match spoken.route.ways.as_slice() {
            [Way::To(_, to)] if !spoken.is_awaited => *to,
            _ => return Err(No::HandoffRecipient),
        };
        let mut heard = Heard::default();
        if !self.may_take_over(index, spoken, to) {
            heard.files = true;
            heard.tells.push(tell_handoff(by));
            return Ok(heard);
        }
        if task.holder.is_none() {
            heard.changes.push(Change::Move(Box::new(Move {
                status: TaskStatus::Claimed,
                holder: Some(by),
                lease_until: self.lease_end(spoken),
                ..self.unmoved(index, Step::Claimed, by)
            })));
        }
        let usual = spoken.now.plus_ms(self.work.rules.offer_ms);
        let until = spoken
            .said()
            .deadline
            .map_or(usual, |deadline| usual.min(spoken.now.plus_ms(deadline.ms_since(spoken.wall))));
        let offer = Offer { to, name: Rc::from(spoken.id.to_string()), until };
        heard.changes.push(Change::Offer { task: index, by, offer });
        Ok(heard)
    }

    fn may_take_over(&self, index: usize, spoken: &Spoken<'_>, to: AgentKey) -> bool {
        let said = spoken.said();
        let worker = self.work.workers.get(&to).cloned().unwrap_or_default();
        let is_free = matches!(self.presence(to), None | Some(PresenceState::Idle));
        let is_late = said.deadline.is_some_and(|deadline| deadline <= spoken.wall);
        let is_able = said.capabilities.iter().all(|wanted| worker.capabilities.contains(wanted));
        let is_fit = self.check_fit(index, to, spoken.wall).is_ok();
        to != spoken.sent.from && is_free && !is_late && is_able && is_fit
    }

    pub(super) fn hear_offer_answered(&self, spoken: &Spoken<'_>) -> Result<Heard, No> {
        let Some(index) = self.subject(spoken) else { return Ok(Heard::default()) };
        let (task, by) = (&self.work.tasks[index], spoken.sent.from);
        if task.offer.as_ref().is_none_or(|offer| offer.to != by) {
            return Err(No::Unoffered);
        }
        let answered = if spoken.said().accepts.unwrap_or(true) {
            self.check_fit(index, by, spoken.wall)?;
            Move {
                status: TaskStatus::Claimed,
                holder: Some(by),
                is_claimed: true,
                lease_until: self.lease_end(spoken),
                ..self.unmoved(index, Step::HandedOver, by)
            }
        } else {
            self.unmoved(index, Step::Declined, by)
        };
        Ok(Heard { changes: vec![Change::Move(Box::new(answered))], ..Heard::default() })
    }

    /// Tells whether an agent is given what waits for it: not all who are there are given work.
    pub(in crate::model) fn is_given(&self, agent: AgentKey, kind: Kind, of_role: bool, wall: Time) -> bool {
        if !super::is_work(kind) {
            return true;
        }
        let worker = self.work.workers.get(&agent).cloned().unwrap_or_default();
        let is_left_alone = matches!(worker.breaker, Breaker::Open { .. } | Breaker::Probing { .. });
        let is_away = self.presence(agent) == Some(PresenceState::Maintenance) || worker.from > wall;
        !is_left_alone && (!of_role || !is_away)
    }

    /// Tells whether an agent takes work only from some time on, which nobody is woken for.
    pub(in crate::model) fn takes_work_later(&self, agent: AgentKey) -> bool {
        self.work.workers.get(&agent).is_some_and(|worker| worker.from > Time(0))
    }

    /// Tells whether what asks for a task waits for other tasks.
    pub(in crate::model) fn waits_for_tasks(&self, message: message::MessageId) -> bool {
        self.work.tasks.iter().any(|task| task.request == Some(message) && task.hold == Hold::Dependencies)
    }
}

pub(super) fn tell_handoff(to: AgentKey) -> Tell {
    Tell { kind: Kind::HandoffReply, priority: Priority::High, to: vec![Whom::Agent(to)] }
}
