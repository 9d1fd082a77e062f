//! Claims: the first in the order of the log has the task.

use message::{Kind, PresenceState, TaskStatus};

use super::hear::{Heard, Right, Spoken};
use super::{Breaker, Fact, Moved, Place, Step, Task, TaskIntent};
use crate::broker::Broker;
use crate::{Accept, AgentKey, Context, Refusal, TaskKey};

/// How many tasks are passed over for one that an agent may have.
const PASSED_MAX: usize = 1_000;

impl Broker {
    /// Refuses a claim that cannot be, from the state alone, whether or not it was made before.
    pub(crate) fn check_claim(&self, cx: &Context<'_>, accept: &Accept) -> Result<(), Refusal> {
        if accept.kind != Kind::TaskClaim {
            return Ok(());
        }
        match self.subject(accept, None) {
            Some((_, task)) => self.may_claim(cx, task, accept.from).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Tells whether somebody may have a task now.
    fn may_claim(&self, cx: &Context<'_>, task: &Task, by: AgentKey) -> Result<Right, Refusal> {
        let right = self.right(task, by, false);
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::TwoWinners) && task.holder.is_some() {
            return Ok(Right::Offered);
        }
        match (right, task.holder) {
            (Right::Holder | Right::Offered, _) if !super::is_over(task.status) => return Ok(right),
            // Also the operator's own.
            (_, Some(holder)) if holder == by && !super::is_over(task.status) => return Ok(Right::Holder),
            (_, Some(holder)) => {
                let holder = self.name_of(holder).to_owned();
                return Err(Refusal::Missed { task: task.id.to_string(), holder });
            }
            (Right::Stranger, None) => return Err(Refusal::NotAsked { task: task.id.to_string() }),
            (_, None) => {}
        }
        if task.status != TaskStatus::Pending {
            return Err(self.misplaced(task, Step::Claimed));
        }
        self.held(task)?;
        self.check_fit(cx, task, by)?;
        Ok(right)
    }

    /// Refuses an agent that should not be given a task: it cannot do it, must not cost more, or is left alone.
    pub(super) fn check_fit(&self, cx: &Context<'_>, task: &Task, agent: AgentKey) -> Result<(), Refusal> {
        let unfit = |why: String| {
            Err(Refusal::Unfit { task: task.id.to_string(), agent: self.name_of(agent).to_owned(), why })
        };
        if agent == AgentKey::HUMAN {
            return Ok(());
        }
        let worker = self.work.worker(agent);
        if self.presence_of(agent) == Some(PresenceState::Maintenance) {
            return unfit("it is in maintenance".to_owned());
        }
        if let Some(worker) = worker
            && worker.from > cx.wall
        {
            return unfit(format!("it takes work from {} on", worker.from.timestamp()));
        }
        let wanted = task.rest.capabilities.iter().map(|wanted| &**wanted);
        let missing: Vec<&str> = wanted.filter(|wanted| !self.work.can(agent, wanted)).collect();
        if !missing.is_empty() {
            return unfit(format!("it does not say that it can do {}", missing.join(", ")));
        }
        if let (Some(wanted), Some(quality)) = (task.rest.quality, worker.and_then(|worker| worker.quality))
            && quality < wanted
        {
            let (quality, wanted) = (super::policy::millionths(quality), super::policy::millionths(wanted));
            return unfit(format!("its quality is {quality}, wanted is {wanted}"));
        }
        match worker.map(|worker| worker.breaker).unwrap_or_default() {
            Breaker::Open { until } => {
                return unfit(format!("its breaker is open until {}", until.timestamp()));
            }
            Breaker::Probing { .. } => {
                return unfit("its breaker waits for the outcome of one piece of work".to_owned());
            }
            Breaker::Closed | Breaker::Counting(_) | Breaker::HalfOpen => {}
        }
        if task.payer() != Some(agent) {
            self.check_agent_budget(task, agent)?;
            self.check_allotments(cx, agent, task.rest.tokens_max, task.reserved)?;
        }
        Ok(())
    }

    /// Refuses work that would make one agent cost more than it may.
    fn check_agent_budget(&self, task: &Task, agent: AgentKey) -> Result<(), Refusal> {
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::OverspendAgent) {
            return Ok(());
        }
        let Some(limit) = self.work.policy().per_agent else { return Ok(()) };
        let so_far = self.work.cost_of(agent);
        let sum = so_far.plus(task.reserved);
        if sum > limit {
            let (name, amount) = (self.name_of(agent), task.reserved);
            let why = format!(
                "the work of `{name}` would come to {sum} USD ({so_far} so far and {amount}), the limit is {limit} USD"
            );
            return Err(Refusal::OverPolicy { why });
        }
        Ok(())
    }

    pub(super) fn hear_claim<'a>(
        &self,
        cx: &mut Context<'_>,
        accept: &'a Accept,
        intent: &'a TaskIntent,
        spoken: &Spoken<'_, 'a>,
    ) -> Result<Heard<'a>, Refusal> {
        let Some((key, task)) = self.subject(accept, Some(spoken)) else {
            return Ok(Heard::nothing_but(
                "unknown_task",
                "no task of this name is known here: nothing is claimed",
            ));
        };
        let right = self.may_claim(cx, task, accept.from)?;
        let by = accept.from;
        let lease_until = cx.now.plus_ms(self.lease_ms(intent));
        let (step, status) = match right {
            Right::Holder => (Step::Renewed, task.status),
            Right::Offered => (Step::HandedOver, TaskStatus::Claimed),
            Right::Asked | Right::Member | Right::AlsoAsked | Right::Operator | Right::Stranger => {
                (Step::Claimed, TaskStatus::Claimed)
            }
        };
        let holder = if right == Right::Holder { task.holder } else { Some(by) };
        let moved = Moved {
            status,
            holder,
            is_claimed: true,
            lease_until,
            ..self.moved_by(key, task, step, by, spoken)
        };
        let mut heard = Heard { facts: vec![Fact::Moved(Box::new(moved))], ..Heard::default() };
        if step == Step::Claimed {
            heard.events.extend(self.settle_request(task, by, accept.kind, spoken));
            heard.facts.extend(self.probe(cx, by));
        }
        if step == Step::HandedOver {
            heard.tells.extend(self.tell_taken_over(task, by));
        }
        Ok(heard)
    }

    /// Returns the task that an agent would be given next: of those that it was asked for itself and of its roles,
    /// or of one role, the most urgent, then the oldest, that it may have.
    pub fn next_task(
        &self,
        cx: &Context<'_>,
        agent: AgentKey,
        role: Option<crate::GroupKey>,
    ) -> Option<TaskKey> {
        let mine = self.agents.get(agent)?;
        let places: Vec<Place> = match role {
            Some(role) => vec![Place::Group(role)],
            None => {
                let groups = mine.groups.iter().map(|group| Place::Group(*group));
                std::iter::once(Place::Agent(agent)).chain(groups).collect()
            }
        };
        let waiting = places.iter().filter_map(|place| self.work.available.get(place));
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::NextTaskIgnoresPriority) {
            let tasks = waiting.flatten().map(|(_, _, key)| *key);
            let may_have = |key: &TaskKey| {
                self.work.task(*key).is_some_and(|task| self.may_claim(cx, task, agent).is_ok())
            };
            return tasks.filter(may_have).min_by_key(|key| self.work.task(*key).map(|task| task.born));
        }
        let mut heads: Vec<_> = waiting.map(|tasks| (None, tasks.iter())).collect();
        heads.iter_mut().for_each(|(head, rest)| *head = rest.next());
        // What cannot be given is passed over, but not without end.
        for _ in 0..PASSED_MAX {
            let (head, rest) =
                heads.iter_mut().filter(|(head, _)| head.is_some()).min_by_key(|(head, _)| *head)?;
            let (_, _, key) = *std::mem::replace(head, rest.next())?;
            let task = self.work.task(key);
            if task.is_some_and(|task| self.may_claim(cx, task, agent).is_ok()) {
                return Some(key);
            }
        }
        None
    }
}
