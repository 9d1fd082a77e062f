//! What the clocks make due for work.

use message::{MessageId, TaskStatus};

use super::{Blocker, Dependencies, Fact, Hold, Lapse, Moved, Step, Timer, after};
use crate::broker::Broker;
use crate::{AgentKey, Context, Event, TaskKey, Time};

/// Something about work whose time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkDue {
    /// A claim is over.
    Claim(TaskKey),
    /// An offer of a task is over.
    Offer(TaskKey),
    /// Work has taken too long.
    Slow(TaskKey),
    /// A task is late.
    Deadline(TaskKey),
    /// Something that a task depends on is over.
    Dependency(TaskKey),
    /// A gate has waited long enough.
    Gate(MessageId),
    /// A call for help has waited long enough.
    Help(MessageId),
    /// An agent has been left alone for long enough, or has had its chance.
    Breaker(AgentKey),
}

impl Broker {
    pub(crate) fn find_work_due(&self, now: Time, wall: Time) -> impl Iterator<Item = WorkDue> + '_ {
        let stirred = self.work.stirred().map(WorkDue::Dependency);
        let timed =
            self.work.timers.iter().take_while(move |(at, _)| *at <= now).map(|(_, timer)| match timer {
                Timer::Lease(task) => WorkDue::Claim(*task),
                Timer::Offer(task) => WorkDue::Offer(*task),
                Timer::Slow(task) => WorkDue::Slow(*task),
                Timer::Gate(gate) => WorkDue::Gate(*gate),
                Timer::Help(help) => WorkDue::Help(*help),
                Timer::Breaker(agent) => WorkDue::Breaker(*agent),
            });
        let late = self.work.deadlines.iter().take_while(move |(at, _)| *at <= wall);
        stirred.chain(timed).chain(late.map(|(_, task)| WorkDue::Deadline(*task)))
    }

    /// Returns when something about work is due next: in the bus's time, and by the wall clock.
    pub(crate) fn next_work_due(&self) -> (Option<Time>, Option<Time>) {
        let stirred = self.work.stirred().next().map(|_| Time(0));
        let timed = self.work.timers.first().map(|(at, _)| *at);
        (stirred.or(timed), self.work.deadlines.first().map(|(at, _)| *at))
    }

    pub(crate) fn decide_work_due<'a>(&self, cx: &mut Context<'_>, due: WorkDue) -> Vec<Event<'a>> {
        match due {
            WorkDue::Claim(key) => self.claim_over(cx, key),
            WorkDue::Offer(key) => self.offer_over(cx, key),
            WorkDue::Slow(key) => self.too_slow(cx, key),
            WorkDue::Deadline(key) => self.late(cx, key),
            WorkDue::Dependency(key) => self.dependency_over(cx, key),
            WorkDue::Gate(gate) => self.gate_over(cx, gate),
            WorkDue::Help(help) => self.help_over(cx, help),
            WorkDue::Breaker(agent) => self.breaker_due(cx, agent),
        }
    }

    /// Ends a claim of somebody who was silent: others may have the task, or a human is asked.
    fn claim_over<'a>(&self, cx: &mut Context<'_>, key: TaskKey) -> Vec<Event<'a>> {
        let Some(task) = self.work.task(key).filter(|task| task.lease_until <= cx.now) else {
            return Vec::new();
        };
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::ClaimsNeverEnd) {
            return Vec::new();
        }
        let Some(holder) = task.holder else { return Vec::new() };
        let policy = self.work.policy();
        // What waits for a human is not the holder's to end.
        if task.hold == Hold::Gate {
            let lease_until = cx.now.plus_ms(policy.claim_ms);
            let moved = Moved { lease_until, ..self.unmoved(key, task, Step::Renewed, AgentKey::SYSTEM) };
            return vec![Event::Work(Fact::Moved(Box::new(moved)))];
        }
        let escalates = policy.lapse == Lapse::Escalate || u32::from(task.lapses) + 1 >= policy.lapses_max;
        let (status, blocker) = match escalates {
            true => (TaskStatus::Blocked, Some(Blocker::Resource)),
            false => (after(task.status, Step::Lapsed).unwrap_or(TaskStatus::Pending), None),
        };
        let moved = Moved {
            status,
            blocker,
            holder: None,
            is_claimed: false,
            lease_until: Time::NEVER,
            reason: "claim timed out",
            ..self.unmoved(key, task, Step::Lapsed, AgentKey::SYSTEM)
        };
        let mut events = vec![Event::Work(Fact::Moved(Box::new(moved)))];
        events.extend(self.error_of(cx, holder).into_iter().map(Event::Work));
        let mut tells = self.tell_lapsed(task, holder, escalates);
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::SilentLapse) {
            tells.clear();
        }
        if !escalates {
            tells.extend(self.tell_available(task));
        }
        self.with_tells(cx, events, tells)
    }

    /// Counts work that takes too long as an error of whoever has it.
    fn too_slow<'a>(&self, cx: &mut Context<'_>, key: TaskKey) -> Vec<Event<'a>> {
        let Some(task) = self.work.task(key).filter(|task| task.slow_at <= cx.now) else { return Vec::new() };
        let Some(holder) = task.holder else { return Vec::new() };
        let moved = self.unmoved(key, task, Step::Slow, AgentKey::SYSTEM);
        let facts = std::iter::once(Fact::Moved(Box::new(moved))).chain(self.error_of(cx, holder));
        facts.map(Event::Work).collect()
    }

    /// Tells who wanted a task that it is late.
    fn late<'a>(&self, cx: &mut Context<'_>, key: TaskKey) -> Vec<Event<'a>> {
        let is_due =
            |task: &&super::Task| task.deadline <= cx.wall && !task.is_late && !super::is_over(task.status);
        let Some(task) = self.work.task(key).filter(is_due) else { return Vec::new() };
        let moved = self.unmoved(key, task, Step::Late, AgentKey::SYSTEM);
        let tell = self.tell_late(task);
        self.with_tells(cx, vec![Event::Work(Fact::Moved(Box::new(moved)))], vec![tell])
    }

    /// Lets a task go whose dependencies are done, or says that they never will be.
    fn dependency_over<'a>(&self, cx: &mut Context<'_>, key: TaskKey) -> Vec<Event<'a>> {
        let Some(task) = self.work.task(key) else { return Vec::new() };
        let is_lost = match self.work.dependencies(task) {
            Dependencies::Open => return Vec::new(),
            Dependencies::Done => false,
            Dependencies::Lost => true,
        };
        let step = if is_lost { Step::DependencyLost } else { Step::Freed };
        let mut moved = self.unmoved(key, task, step, AgentKey::SYSTEM);
        let mut events = Vec::new();
        if is_lost {
            (moved.status, moved.blocker) = (TaskStatus::Blocked, Some(Blocker::Dependency));
            moved.reason = "a task that must be done before it will not be done";
        } else {
            moved.blocker = None;
            // What waits for a human still does.
            if task.hold == Hold::Dependencies {
                moved.hold = Hold::Nothing;
            }
            if task.status == TaskStatus::Blocked {
                let is_held = task.holder.is_some();
                moved.status = if is_held { TaskStatus::Claimed } else { TaskStatus::Pending };
            }
            if task.hold == Hold::Dependencies
                && let Some((message, found)) = self.request_of(task)
                && self.entries_of(message).any(|(_, entry)| entry.state == crate::entry::State::Parked)
            {
                events.push(Event::Resumed { message, seq: found.seq });
            }
        }
        events.insert(0, Event::Work(Fact::Moved(Box::new(moved))));
        let tells = self.tell_freed(task, is_lost).into_iter().collect();
        self.with_tells(cx, events, tells)
    }
}
