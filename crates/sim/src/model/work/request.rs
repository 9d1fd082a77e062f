//! Tasks are asked for: whether they may be, what is set aside for them, and what they wait for.

use std::rc::Rc;

use broker::{AgentKey, Hold, Step, Time};
use message::{Kind, Priority, TaskStatus};

use super::hear::Spoken;
use super::{Change, Gate, Heard, Move, No, Task, Tell, Whom, is_over};
use crate::model::state::State;
use crate::said::Said;

/// What the rules say of a piece of work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Go,
    Gate,
    Refuse,
}

impl State {
    pub(super) fn hear_request(&self, spoken: &Spoken<'_>) -> Result<Heard, No> {
        let sent = spoken.sent;
        if let Some(index) = sent.task.as_ref().and(self.named(sent)) {
            return self.hear_again(spoken, index);
        }
        let ours: Rc<str> = spoken.id.to_string().into();
        let names = match &sent.task {
            Some(task) => vec![Rc::clone(task), ours],
            // The address of a record names what it asks for.
            None => {
                let address = sent.native_id.as_deref().filter(|id| id.starts_with("at://"));
                address.map(Rc::from).into_iter().chain([ours]).collect()
            }
        };
        let mut task = self.new_task(names, sent.from, spoken.said())?;
        let (asked, group) = spoken.asks();
        let only = match asked.as_slice() {
            [only] if group.is_none() => Some(*only),
            _ => None,
        };
        (task.asked, task.group, task.priority) = (asked, group, sent.priority);
        task.request = Some(spoken.id);
        let mut heard = Heard::default();
        if task.dependencies.iter().any(|name| !self.work.is_done(name)) {
            (task.hold, heard.parks, heard.warning) = (Hold::Dependencies, true, Some("waiting"));
        }
        let verdict = self.judge(only, spoken.said());
        match verdict {
            Verdict::Go => {}
            Verdict::Gate => {
                (task.hold, heard.parks, heard.warning) = (Hold::Gate, true, Some("gated"));
            }
            Verdict::Refuse => return Err(No::OverPolicy),
        }
        if let Some(agent) = only {
            self.check_allotments(agent, spoken.said().tokens_max, task.reserved)?;
        }
        heard.changes.push(Change::Asked(Box::new(task)));
        if verdict == Verdict::Gate {
            let (asker, guards) = (sent.from, Some(spoken.id));
            let until = spoken.now.plus_ms(self.work.rules.gate_ms);
            let task = Some(self.work.tasks.len());
            heard.changes.push(Change::Raise(spoken.id, Gate { asker, guards, task, until }));
            heard.tells.push(tell_gate());
        }
        Ok(heard)
    }

    pub(super) fn new_task(&self, names: Vec<Rc<str>>, requester: AgentKey, said: &Said) -> Result<Task, No> {
        if self.work.tasks.len() as u64 >= self.settings.limits.tasks_max {
            return Err(No::TooManyTasks);
        }
        self.check_cycle(&names[0], &said.dependencies)?;
        Ok(Task {
            names,
            request: None,
            requester,
            asked: Vec::new(),
            group: None,
            holder: None,
            is_claimed: false,
            status: TaskStatus::Pending,
            hold: Hold::Nothing,
            priority: Priority::Normal,
            blocker: None,
            version: 1,
            lapses: 0,
            lease_until: Time::NEVER,
            slow_at: Time::NEVER,
            deadline: said.deadline.unwrap_or(Time::NEVER),
            is_late: false,
            reserved: self.amount(said),
            spent: 0,
            dependencies: said.dependencies.iter().map(|name| Rc::from(*name)).collect(),
            capabilities: said.capabilities.clone(),
            quality: said.quality,
            tokens_max: said.tokens_max,
            offer: None,
            votes: Vec::new(),
            reviewed: None,
            stirred: false,
            history: vec![(Step::Requested, requester)],
        })
    }

    /// What a piece of work sets aside.
    pub(super) fn amount(&self, said: &Said) -> u64 {
        said.budget.or(self.work.rules.per_task).unwrap_or(0)
    }

    /// What the rules say of a piece of work for one agent, or for nobody in particular.
    pub(super) fn judge(&self, agent: Option<AgentKey>, said: &Said) -> Verdict {
        let rules = &self.work.rules;
        let amount = self.amount(said);
        let of_agent = agent.map_or(0, |agent| self.work.cost_so_far(agent));
        let of_all = self.work.spent + self.work.reserved();
        let sums =
            [(amount, rules.per_task), (of_agent + amount, rules.per_agent), (of_all + amount, rules.total)];
        if sums.iter().any(|(sum, limit)| limit.is_some_and(|limit| *sum > limit)) {
            return if rules.over_gates { Verdict::Gate } else { Verdict::Refuse };
        }
        let is_risky = said.risk.is_some_and(|risk| risk > rules.risk_high);
        if is_risky { Verdict::Gate } else { Verdict::Go }
    }

    /// What an agent was allotted must suffice.
    pub(super) fn check_allotments(
        &self,
        agent: AgentKey,
        tokens: Option<u64>,
        amount: u64,
    ) -> Result<(), No> {
        let mut of_agent = self.work.allotments.values().filter(|allotment| allotment.agent == agent);
        let is_over = of_agent.any(|allotment| {
            let wanted = if allotment.is_money { amount } else { tokens.unwrap_or(0) };
            allotment.consumed + wanted > allotment.limit
        });
        if is_over { Err(No::OverPolicy) } else { Ok(()) }
    }

    /// No task may wait for itself, over however many others that are not over.
    pub(super) fn check_cycle(&self, id: &str, dependencies: &[&str]) -> Result<(), No> {
        let mut seen: Vec<Rc<str>> = Vec::new();
        let mut next: Vec<Rc<str>> = dependencies.iter().map(|name| Rc::from(*name)).collect();
        while let Some(name) = next.pop() {
            if &*name == id {
                return Err(No::Cycle);
            }
            if seen.contains(&name) {
                continue;
            }
            if let Some(task) = self.work.find(&name).map(|index| &self.work.tasks[index])
                && !is_over(task.status)
            {
                next.extend(task.dependencies.iter().cloned());
            }
            seen.push(name);
        }
        Ok(())
    }

    /// Somebody asks again for a task that there is.
    fn hear_again(&self, spoken: &Spoken<'_>, index: usize) -> Result<Heard, No> {
        let (task, by) = (&self.work.tasks[index], spoken.sent.from);
        let is_theirs = task.requester == by || by == AgentKey::HUMAN;
        let (mut asked, group) = spoken.asks();
        let mut heard = Heard::default();
        if is_over(task.status) {
            if !is_theirs {
                return Err(No::Misplaced);
            }
            let only = match asked.as_slice() {
                [only] if group.is_none() => Some(*only),
                _ => None,
            };
            if self.judge(only, spoken.said()) != Verdict::Go {
                return Err(No::OverPolicy);
            }
            if let Some(agent) = only {
                self.check_allotments(agent, spoken.said().tokens_max, self.amount(spoken.said()))?;
            }
            heard.changes.push(Change::Move(Box::new(Move {
                status: TaskStatus::Pending,
                holder: None,
                is_claimed: false,
                blocker: None,
                reserved: self.amount(spoken.said()),
                asked: Some((asked, group)),
                request: Some(spoken.id),
                ..self.unmoved(index, Step::Reopened, by)
            })));
            return Ok(heard);
        }
        if !is_theirs {
            return Ok(Heard::only("task_known"));
        }
        asked.extend(task.asked.iter().copied());
        asked.sort_unstable();
        asked.dedup();
        let asked = Some((asked, group.or(task.group.clone())));
        let step = Move { asked, ..self.unmoved(index, Step::Added, by) };
        heard.changes.push(Change::Move(Box::new(step)));
        Ok(heard)
    }
}

pub(super) fn tell_gate() -> Tell {
    Tell { kind: Kind::Gate, priority: Priority::Critical, to: vec![Whom::Agent(AgentKey::HUMAN)] }
}
