//! What the clocks make due for work: claims, offers and help that end, gates that nobody judged, breakers.

use broker::{AgentKey, Blocker, Breaker, Hold, Step, Time, Unjudged};
use message::{Kind, MessageId, Priority, TaskStatus};

use super::hear::tell_help;
use super::request::tell_gate;
use super::{Before, Change, Heard, Move, Tell, Whom, is_over};
use crate::model::state::State;

/// Something about work whose time has come; of things of one time the first in this list comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::model) enum WorkDue {
    Claim(usize),
    Offer(usize),
    Slow(usize),
    Gate(MessageId),
    Help(MessageId),
    Breaker(AgentKey),
    Dependency(usize),
    Deadline(usize),
}

impl State {
    /// First what other tasks have freed, then what is timed, in the order of time, then what is late.
    pub(in crate::model) fn work_due(&self, now: Time, wall: Time) -> Vec<WorkDue> {
        let work = &self.work;
        let freed = (0..work.tasks.len()).filter(|index| self.is_stirred(*index)).map(WorkDue::Dependency);
        let mut due: Vec<WorkDue> = freed.collect();
        let mut timed: Vec<(Time, WorkDue)> = Vec::new();
        for (index, task) in work.tasks.iter().enumerate() {
            timed.push((task.lease_until, WorkDue::Claim(index)));
            timed.push((task.slow_at, WorkDue::Slow(index)));
            timed.extend(task.offer.as_ref().map(|offer| (offer.until, WorkDue::Offer(index))));
        }
        timed.extend(work.gates.iter().map(|(id, gate)| (gate.until, WorkDue::Gate(*id))));
        timed.extend(work.helps.iter().map(|(id, help)| (help.until, WorkDue::Help(*id))));
        for (agent, worker) in &work.workers {
            if let Breaker::Open { until } | Breaker::Probing { until } = worker.breaker {
                timed.push((until, WorkDue::Breaker(*agent)));
            }
        }
        timed.retain(|(at, _)| *at <= now && *at != Time::NEVER);
        timed.sort_unstable();
        due.extend(timed.into_iter().map(|(_, due)| due));
        let is_late = |index: &usize| {
            let task = &work.tasks[*index];
            task.deadline <= wall && !task.is_late && !is_over(task.status)
        };
        let mut late: Vec<usize> = (0..work.tasks.len()).filter(is_late).collect();
        late.sort_by_key(|index| work.tasks[*index].deadline);
        due.extend(late.into_iter().map(WorkDue::Deadline));
        due
    }

    fn is_stirred(&self, index: usize) -> bool {
        let task = &self.work.tasks[index];
        let is_blocked = task.status == TaskStatus::Blocked && task.blocker == Some(Blocker::Dependency);
        let waits = task.hold == Hold::Dependencies || is_blocked;
        task.stirred && waits && self.work.before(task) != Before::Open
    }

    pub(in crate::model) fn do_work_due(&mut self, due: WorkDue, now: Time, wall: Time) {
        let heard = match due {
            WorkDue::Claim(index) => self.claim_over(index, now),
            WorkDue::Offer(index) => self.offer_over(index, now),
            WorkDue::Slow(index) => self.too_slow(index, now),
            WorkDue::Gate(id) => self.gate_over(id, now),
            WorkDue::Help(id) => self.help_over(id, now),
            WorkDue::Breaker(agent) => self.breaker_over(agent, now),
            WorkDue::Dependency(index) => self.dependency_over(index),
            WorkDue::Deadline(index) => self.late(index, wall),
        };
        self.happen(heard, now);
    }

    fn claim_over(&self, index: usize, now: Time) -> Heard {
        let mut heard = Heard::default();
        let (task, rules) = (&self.work.tasks[index], &self.work.rules);
        let Some(holder) = task.holder.filter(|_| task.lease_until <= now) else { return heard };
        if task.hold == Hold::Gate {
            let lease_until = now.plus_ms(rules.claim_ms);
            let moved = Move { lease_until, ..self.unmoved(index, Step::Renewed, AgentKey::SYSTEM) };
            heard.changes.push(Change::Move(Box::new(moved)));
            return heard;
        }
        let escalates = rules.escalates || task.lapses + 1 >= rules.lapses_max;
        let (status, blocker) = match escalates {
            true => (TaskStatus::Blocked, Some(Blocker::Resource)),
            false => (TaskStatus::Pending, None),
        };
        heard.changes.push(Change::Move(Box::new(Move {
            status,
            blocker,
            holder: None,
            is_claimed: false,
            lease_until: Time::NEVER,
            ..self.unmoved(index, Step::Lapsed, AgentKey::SYSTEM)
        })));
        heard.changes.extend(self.after_error(holder, now));
        let mut to = vec![Whom::Agent(task.requester), Whom::Agent(holder)];
        if escalates {
            to.push(Whom::Agent(AgentKey::HUMAN));
        }
        heard.tells.push(Tell { kind: Kind::TaskBlocked, priority: Priority::Critical, to });
        if !escalates {
            heard.tells.push(self.tell_available(index));
        }
        heard
    }

    fn offer_over(&self, index: usize, now: Time) -> Heard {
        let task = &self.work.tasks[index];
        if task.offer.as_ref().is_none_or(|offer| offer.until > now) {
            return Heard::default();
        }
        let moved = self.unmoved(index, Step::OfferLapsed, AgentKey::SYSTEM);
        let tells = vec![super::fit::tell_handoff(task.holder.unwrap_or(task.requester))];
        Heard { changes: vec![Change::Move(Box::new(moved))], tells, ..Heard::default() }
    }

    fn too_slow(&self, index: usize, now: Time) -> Heard {
        let task = &self.work.tasks[index];
        let mut heard = Heard::default();
        if let Some(holder) = task.holder.filter(|_| task.slow_at <= now) {
            let moved = self.unmoved(index, Step::Slow, AgentKey::SYSTEM);
            heard.changes.push(Change::Move(Box::new(moved)));
            heard.changes.extend(self.after_error(holder, now));
        }
        heard
    }

    fn gate_over(&mut self, id: MessageId, now: Time) -> Heard {
        let gate_ms = self.work.rules.gate_ms;
        let Some(gate) = self.work.gates.get_mut(&id).filter(|gate| gate.until <= now) else {
            return Heard::default();
        };
        match self.work.rules.unjudged {
            Unjudged::Reject => self.judged(id, AgentKey::SYSTEM, false),
            Unjudged::Approve => self.judged(id, AgentKey::SYSTEM, true),
            Unjudged::Wait => {
                gate.until = now.plus_ms(gate_ms);
                Heard { tells: vec![tell_gate()], ..Heard::default() }
            }
        }
    }

    fn help_over(&self, id: MessageId, now: Time) -> Heard {
        let is_over = self.work.helps.get(&id).is_some_and(|help| help.until <= now);
        if !is_over {
            return Heard::default();
        }
        Heard { changes: vec![Change::HelpOver(id)], tells: vec![tell_help()], ..Heard::default() }
    }

    fn breaker_over(&self, agent: AgentKey, now: Time) -> Heard {
        let changes = match self.work.breaker(agent) {
            Breaker::Open { until } if until <= now => vec![Change::Breaker(agent, Breaker::HalfOpen)],
            // Without a rule there is nobody to be left alone.
            Breaker::Probing { until } if until <= now && self.work.rules.breaker.is_none() => {
                vec![Change::Breaker(agent, Breaker::Closed)]
            }
            Breaker::Probing { until } if until <= now => self.after_error(agent, now),
            _ => Vec::new(),
        };
        Heard { changes, ..Heard::default() }
    }

    fn late(&self, index: usize, wall: Time) -> Heard {
        let task = &self.work.tasks[index];
        if task.deadline > wall || task.is_late || is_over(task.status) {
            return Heard::default();
        }
        let moved = self.unmoved(index, Step::Late, AgentKey::SYSTEM);
        let to = vec![Whom::Agent(task.requester)];
        let tells = vec![Tell { kind: Kind::TaskProgress, priority: Priority::High, to }];
        Heard { changes: vec![Change::Move(Box::new(moved))], tells, ..Heard::default() }
    }

    fn dependency_over(&self, index: usize) -> Heard {
        let task = &self.work.tasks[index];
        let before = self.work.before(task);
        let mut heard = Heard::default();
        if before == Before::Open {
            return heard;
        }
        let is_lost = before == Before::Lost;
        let step = if is_lost { Step::DependencyLost } else { Step::Freed };
        let mut moved = self.unmoved(index, step, AgentKey::SYSTEM);
        let mut resumes = None;
        if is_lost {
            (moved.status, moved.blocker) = (TaskStatus::Blocked, Some(Blocker::Dependency));
        } else {
            moved.blocker = None;
            moved.status = match task.status {
                TaskStatus::Blocked if task.holder.is_some() => TaskStatus::Claimed,
                TaskStatus::Blocked => TaskStatus::Pending,
                status => status,
            };
            if task.hold == Hold::Dependencies {
                moved.hold = Hold::Nothing;
                resumes = task.request;
            }
        }
        heard.changes.push(Change::Move(Box::new(moved)));
        heard.changes.extend(resumes.map(Change::Resume));
        let whom = if is_lost { Some(task.requester) } else { task.holder };
        heard.tells.extend(whom.map(|whom| Tell {
            kind: Kind::TaskProgress,
            priority: Priority::High,
            to: vec![Whom::Agent(whom)],
        }));
        heard
    }
}
