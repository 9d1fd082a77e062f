//! Tasks are born: somebody asks for something to be done.

use std::borrow::Cow;
use std::collections::BTreeSet;

use message::TaskStatus;

use super::hear::{Heard, Spoken};
use super::{
    Anew, Ask, Asked, Fact, GateRaised, Hold, Judged, Micros, Moved, Outcome, Resource, Step, Task,
    TaskIntent, Verdict, head, is_over,
};
use crate::broker::Broker;
use crate::{Accept, AgentKey, Caution, Context, Identity, Refusal, TaskKey, Time};

/// Names of dependencies and capabilities that a task may have.
const LIST_MAX: usize = 100;
/// Tasks that are looked at for a cycle.
const CYCLE_LOOK_MAX: usize = 10_000;

/// What a new task is called and what it needs, in words.
pub(super) struct TaskTexts<'a> {
    pub(super) title: &'a str,
    pub(super) dependencies: Vec<&'a str>,
    pub(super) capabilities: Vec<&'a str>,
}

impl<'a> TaskTexts<'a> {
    fn of(intent: &'a TaskIntent) -> Self {
        TaskTexts {
            title: intent.title.as_deref().unwrap_or_default(),
            dependencies: texts(&intent.dependencies),
            capabilities: texts(&intent.capabilities),
        }
    }
}

impl Broker {
    pub(super) fn hear_request<'a>(
        &self,
        cx: &mut Context<'_>,
        accept: &'a Accept,
        intent: &'a TaskIntent,
        spoken: &Spoken<'_, 'a>,
    ) -> Result<Heard<'a>, Refusal> {
        if let Some((key, task)) = accept.task.as_deref().and(self.subject(accept, None)) {
            return self.hear_again(cx, accept, intent, spoken, (key, task));
        }
        let ours = spoken.id.to_string();
        let id: Cow<'a, str> = match (accept.task.as_deref(), &accept.identity) {
            (Some(task), _) => task.into(),
            // The address of a record names it everywhere.
            (None, Identity::Native(native)) if native.starts_with("at://") => native.as_str().into(),
            (None, _) => ours.clone().into(),
        };
        let aliases = if id == ours { Vec::new() } else { vec![Cow::Owned(ours)] };
        let asked = self.new_task(id, aliases, accept.from, TaskTexts::of(intent), intent)?;
        let (agents, group) = Self::asked_by(spoken.targets);
        let only = only(&agents, group.is_none());
        let judged = self.judge(&asked.id, only, intent);
        let mut heard = Heard::default();
        let mut asked = Asked {
            request: Some(spoken.request(accept)),
            asked: agents,
            group,
            priority: accept.priority,
            reserved: self.work.policy().amount(intent.budget).unwrap_or_default(),
            ..asked
        };
        if self.open_dependencies(&asked.dependencies) {
            (asked.hold, heard.parks) = (Hold::Dependencies, true);
            heard
                .cautions
                .push(Caution::new("waiting", "it is handed out when the tasks before it are done"));
        }
        match &judged.1 {
            Verdict::Go { chain } => asked.chain = chain.as_deref().map(|chain| chain.to_owned().into()),
            Verdict::Gate { chain, why } => {
                asked.chain = chain.as_deref().map(|chain| chain.to_owned().into());
                (asked.hold, heard.parks) = (Hold::Gate, true);
                heard.cautions.push(Caution::now("gated", format!("a human is asked: {why}")));
            }
            Verdict::Refuse { why } => return Err(Refusal::OverPolicy { why: why.clone() }),
        }
        if let Some(agent) = only {
            self.check_allotments(cx, agent, intent.tokens_max, asked.reserved)?;
        }
        let is_asked_of_policy = judged.0.ask.amount.is_some() || judged.0.ask.risk.is_some();
        let task = asked.task;
        heard.facts.push(Fact::Asked(Box::new(asked)));
        if is_asked_of_policy {
            heard.facts.push(Fact::Judged(Box::new(judged.0)));
        }
        if let Verdict::Gate { why, .. } = judged.1 {
            heard.facts.push(Fact::GateRaised(Box::new(GateRaised {
                gate: spoken.id,
                asker: accept.from,
                guards: Some(spoken.message),
                task: Some(task),
                until: cx.now.plus_ms(self.work.policy().gate_ms),
                why: why.clone().into(),
            })));
            heard.tells.push(self.tell_gate(spoken.id, accept.from, accept.task.as_deref(), &why));
        }
        Ok(heard)
    }

    /// Makes a task of what is said, before it is known who is asked.
    pub(super) fn new_task<'a>(
        &self,
        id: Cow<'a, str>,
        aliases: Vec<Cow<'a, str>>,
        requester: AgentKey,
        texts: TaskTexts<'a>,
        intent: &TaskIntent,
    ) -> Result<Asked<'a>, Refusal> {
        let (count, count_max) = (self.work.tasks.len() as u64, self.settings.limits.tasks_max);
        if count >= count_max {
            return Err(Refusal::TooMany { what: "tasks", count, count_max });
        }
        for (what, list) in [("dependencies", &texts.dependencies), ("capabilities", &texts.capabilities)] {
            if list.len() > LIST_MAX {
                return Err(Refusal::TooMany { what, count: list.len() as u64, count_max: LIST_MAX as u64 });
            }
        }
        self.check_cycle(&id, &texts.dependencies)?;
        Ok(Asked {
            task: TaskKey(self.work.tasks.vacant().next().unwrap_or(u32::MAX)),
            id,
            aliases,
            title: head(texts.title),
            requester,
            request: None,
            asked: Vec::new(),
            group: None,
            priority: message::Priority::Normal,
            hold: Hold::Nothing,
            dependencies: texts.dependencies,
            capabilities: texts.capabilities,
            deadline: intent.deadline.unwrap_or(Time::NEVER),
            budget: intent.budget,
            tokens_max: intent.tokens_max,
            quality: intent.quality,
            chain: None,
            reserved: Micros(0),
            overlay: Cow::Borrowed(b""),
        })
    }

    /// Hears that somebody asks within a task that there is.
    fn hear_again<'a>(
        &self,
        cx: &Context<'_>,
        accept: &'a Accept,
        intent: &'a TaskIntent,
        spoken: &Spoken<'_, 'a>,
        (key, task): (TaskKey, &Task),
    ) -> Result<Heard<'a>, Refusal> {
        let is_theirs = task.requester == accept.from || accept.from == AgentKey::HUMAN;
        let (mut agents, group) = Self::asked_by(spoken.targets);
        let request = Some(spoken.request(accept));
        if is_over(task.status) {
            if !is_theirs {
                return Err(self.misplaced(task, Step::Reopened));
            }
            let reserved = self.reserve_again(cx, task, intent, (&agents, group.is_none()))?;
            let anew = Some(Anew { asked: agents, group, request });
            let status = TaskStatus::Pending;
            let moved = Moved {
                status,
                holder: None,
                is_claimed: false,
                blocker: None,
                reserved,
                anew,
                ..self.moved_by(key, task, Step::Reopened, accept.from, spoken)
            };
            return Ok(Heard { facts: vec![Fact::Moved(Box::new(moved))], ..Heard::default() });
        }
        if !is_theirs {
            let text = "the task is another's: this goes to its recipient and changes nothing of the task";
            return Ok(Heard::nothing_but("task_known", text));
        }
        agents.extend(task.rest.asked.iter().copied());
        agents.sort_unstable();
        agents.dedup();
        let anew = Some(Anew { asked: agents, group: group.or(task.group), request: None });
        let moved = Moved { anew, ..self.moved_by(key, task, Step::Added, accept.from, spoken) };
        Ok(Heard { facts: vec![Fact::Moved(Box::new(moved))], ..Heard::default() })
    }

    /// Returns what is set aside for a task that is wanted again; it costs as much as any other.
    fn reserve_again(
        &self,
        cx: &Context<'_>,
        task: &Task,
        intent: &TaskIntent,
        (agents, is_all): (&[AgentKey], bool),
    ) -> Result<Micros, Refusal> {
        let only = only(agents, is_all);
        let (_, verdict) = self.judge(&task.id, only, intent);
        if let Verdict::Refuse { why } | Verdict::Gate { why, .. } = verdict {
            return Err(Refusal::OverPolicy { why });
        }
        let amount = self.work.policy().amount(intent.budget).unwrap_or_default();
        if let Some(agent) = only {
            self.check_allotments(cx, agent, intent.tokens_max, amount)?;
        }
        Ok(amount)
    }

    /// Asks the policy about a piece of work.
    pub(super) fn judge<'a>(
        &self,
        task: &str,
        agent: Option<AgentKey>,
        intent: &TaskIntent,
    ) -> (Judged<'a>, Verdict) {
        let ask = Ask {
            amount: self.work.policy().amount(intent.budget),
            risk: intent.risk,
            of_agent: agent.map(|agent| self.work.cost_of(agent)).unwrap_or_default(),
            of_all: self.work.spent.plus(self.work.reserved),
        };
        let verdict = self.work.policy().judge(&ask);
        let outcome = match &verdict {
            Verdict::Go { .. } => Outcome::Go,
            Verdict::Gate { .. } => Outcome::Gate,
            Verdict::Refuse { .. } => Outcome::Refuse,
        };
        (Judged { task: head(task).to_owned().into(), agent, ask, outcome }, verdict)
    }

    /// Refuses what an agent's allotments leave no room for.
    pub(super) fn check_allotments(
        &self,
        cx: &Context<'_>,
        agent: AgentKey,
        tokens: Option<u64>,
        amount: Micros,
    ) -> Result<(), Refusal> {
        let of_agent =
            self.work.allotments.iter().filter(|(_, one)| one.agent == agent && one.expires > cx.wall);
        for (id, allotment) in of_agent {
            let wanted = match allotment.resource {
                Resource::Tokens => tokens.unwrap_or(0),
                Resource::Budget => amount.0,
                Resource::Cpu | Resource::Memory => 0,
            };
            let sum = allotment.consumed.saturating_add(wanted);
            if sum > allotment.limit {
                let (agent, what) = (self.name_of(agent), allotment.resource.name());
                let (used, limit) = (allotment.consumed, allotment.limit);
                let why = format!(
                    "`{agent}` has used {used} of the {limit} {what} of `{id}`, and this would take {wanted}"
                );
                return Err(Refusal::OverPolicy { why });
            }
        }
        Ok(())
    }

    /// Tells whether something has to be done before.
    fn open_dependencies(&self, names: &[&str]) -> bool {
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::IgnoreDependencies) {
            return false;
        }
        names.iter().any(|name| !self.is_done(name))
    }

    /// Refuses a task that would wait for itself.
    pub(super) fn check_cycle(&self, id: &str, dependencies: &[&str]) -> Result<(), Refusal> {
        let mut seen: BTreeSet<TaskKey> = BTreeSet::new();
        let mut next: Vec<(TaskKey, String)> = Vec::new();
        for name in dependencies {
            if *name == id {
                return Err(Refusal::TaskCycle { path: format!("{id} → {id}") });
            }
            next.extend(self.work.find(name).map(|key| (key, format!("{id} → {name}"))));
        }
        while let Some((key, path)) = next.pop() {
            if !seen.insert(key) {
                continue;
            }
            if seen.len() > CYCLE_LOOK_MAX {
                let (count, count_max) = (seen.len() as u64, CYCLE_LOOK_MAX as u64);
                return Err(Refusal::TooMany { what: "tasks that must be done before", count, count_max });
            }
            let Some(task) = self.work.task(key).filter(|task| !is_over(task.status)) else { continue };
            for name in &task.rest.dependencies {
                if **name == *id {
                    return Err(Refusal::TaskCycle { path: format!("{path} → {id}") });
                }
                next.extend(self.work.find(name).map(|key| (key, format!("{path} → {name}"))));
            }
        }
        Ok(())
    }
}

/// Returns the one agent that is asked, if nobody else is.
fn only(agents: &[AgentKey], is_all: bool) -> Option<AgentKey> {
    match agents {
        [only] if is_all => Some(*only),
        [] | [..] => None,
    }
}

/// Borrows the texts of a list.
pub(super) fn texts(list: &[Box<str>]) -> Vec<&str> {
    list.iter().map(|text| &**text).collect()
}
