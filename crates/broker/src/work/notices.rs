//! What the bus tells about work: to those whom it concerns, and to the human.

use json::{Object, Value};
use message::{Address, Failure, GateDecision, Kind, MessageId, Priority, TaskStatus};

use super::{Blocker, Gate, Task, TaskIntent};
use crate::broker::Broker;
use crate::{AgentKey, Context, Event, GroupKey, Target};

/// Something to be told.
pub(crate) struct Tell {
    to: Vec<Whom>,
    kind: Kind,
    task: Option<String>,
    reply_to: Option<MessageId>,
    /// What it answers, by the id that its sender gave.
    pub(super) native: Option<String>,
    text: String,
    status: Option<TaskStatus>,
    error: Option<(&'static str, String)>,
    gate: Option<bool>,
    data: Object<'static>,
    priority: Priority,
}

/// To whom.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whom {
    Agent(AgentKey),
    Group(GroupKey),
}

impl Broker {
    /// Adds notices to events that come before them.
    pub(crate) fn with_tells<'a>(
        &self,
        cx: &mut Context<'_>,
        mut events: Vec<Event<'a>>,
        tells: Vec<Tell>,
    ) -> Vec<Event<'a>> {
        for tell in tells {
            if let Some(event) = self.told(cx, &events, &tell) {
                events.push(event);
            }
        }
        events
    }

    fn told<'a>(&self, cx: &mut Context<'_>, before: &[Event<'a>], tell: &Tell) -> Option<Event<'a>> {
        let mut whom: Vec<Whom> = Vec::new();
        for one in tell.to.iter().copied().filter(|whom| self.is_there(*whom)) {
            if !whom.contains(&one) {
                whom.push(one);
            }
        }
        let names = whom.iter().filter_map(|whom| match whom {
            Whom::Agent(agent) => self.name_of(*agent).parse::<Address>().ok(),
            Whom::Group(group) => self.groups.get(*group)?.address.parse().ok(),
        });
        let mut document = self.document(tell.kind, AgentKey::HUMAN);
        document.to = names.collect();
        document.task = tell.task.as_deref().and_then(|task| task.parse().ok());
        let answers = tell.native.clone().or(tell.reply_to.map(|id| id.to_string()));
        document.reply_to = answers.and_then(|id| id.parse().ok());
        document.text = Some(tell.text.clone());
        document.status = tell.status;
        if let Some((code, message)) = &tell.error {
            let mut failure = Failure::default();
            failure.code = Some((*code).to_owned());
            failure.message = Some(message.clone());
            document.error = Some(Box::new(failure));
        }
        if let Some(approved) = tell.gate {
            let mut gate = message::Gate::new(false);
            gate.decision = Some(if approved { GateDecision::Approved } else { GateDecision::Rejected });
            document.gate = Some(Box::new(gate));
        }
        if !tell.data.is_empty() {
            document.data = Some(Value::Object(tell.data.clone()));
        }
        if whom.is_empty() {
            return None;
        }
        let entries = self.entries_after(before);
        let targets = whom.iter().zip(entries).map(|(whom, entry)| match whom {
            Whom::Agent(agent) => Target::Agent { entry, agent: *agent, session: None },
            Whom::Group(group) => Target::Group { entry, group: *group },
        });
        let targets = targets.collect();
        Some(self.notice_after(cx, &document, targets, before, tell.priority))
    }

    fn is_there(&self, whom: Whom) -> bool {
        match whom {
            Whom::Agent(agent) => self.agent_at(agent).is_ok() && !agent.is_machinery(),
            Whom::Group(group) => self.groups.get(group).is_some(),
        }
    }

    /// Finds the first of some addresses at which anybody is.
    fn first_there(&self, addresses: &[Address]) -> Option<Whom> {
        addresses.iter().find_map(|address| match address {
            Address::Agent(agent) => self.agent(agent.as_str()).map(Whom::Agent),
            Address::Role(_) | Address::Topic(_) | Address::Channel(_) => {
                let group = self.groups.find(&address.to_string())?;
                let has_members = self.groups.get(group).is_some_and(|group| !group.members.is_empty());
                has_members.then_some(Whom::Group(group))
            }
            Address::Session { .. } | Address::All => None,
        })
    }

    /// Tells of a task that cannot go on: whoever the table names for the blocker, and the human.
    pub(super) fn tell_blocked(&self, task: &Task, by: AgentKey, intent: &TaskIntent) -> Vec<Tell> {
        let blocker = intent.blocker.unwrap_or(Blocker::Ambiguity);
        let routed = self
            .first_there(&intent.routes)
            .or_else(|| self.first_there(self.work.policy().routes(Some(blocker))));
        let who = self.name_of(by);
        let reason = intent.reason.as_deref().unwrap_or("it does not say why");
        let mut tell = about(task, Kind::TaskBlocked);
        tell.to = routed
            .into_iter()
            .chain([Whom::Agent(AgentKey::HUMAN)])
            .filter(|whom| *whom != Whom::Agent(by))
            .collect();
        tell.text = format!("{who} cannot go on with task {}: {reason}", task.id);
        tell.status = Some(TaskStatus::Blocked);
        tell.error = Some((blocker.name(), reason.to_owned()));
        tell.priority = Priority::Critical;
        vec![tell]
    }

    /// Tells those whom a task concerns that its claim has lapsed.
    pub(super) fn tell_lapsed(&self, task: &Task, holder: AgentKey, escalates: bool) -> Vec<Tell> {
        let who = self.name_of(holder);
        let mut tell = about(task, Kind::TaskBlocked);
        tell.to = vec![Whom::Agent(task.requester), Whom::Agent(holder)];
        if escalates {
            tell.to.push(Whom::Agent(AgentKey::HUMAN));
        }
        tell.text =
            format!("governance: claim timeout - no completion observed of task {} by {who}", task.id);
        tell.status = Some(TaskStatus::Blocked);
        tell.error = Some(("CLAIM_TIMEOUT", "claim timed out".to_owned()));
        tell.priority = Priority::Critical;
        vec![tell]
    }

    /// Tells a role, or whoever was asked, that a task may be claimed again.
    pub(super) fn tell_available(&self, task: &Task) -> Option<Tell> {
        let agents = task.rest.asked.iter().map(|agent| Whom::Agent(*agent));
        let to: Vec<Whom> = task.group.map(Whom::Group).into_iter().chain(agents).collect();
        (!to.is_empty()).then(|| Tell { to, ..self.claimable(task) })
    }

    fn claimable(&self, task: &Task) -> Tell {
        let title = if task.title.is_empty() { String::new() } else { format!(": {}", task.title) };
        let text = format!("task {} may be claimed{title}", task.id);
        Tell { text, priority: task.priority, ..about(task, Kind::TaskRequest) }
    }

    /// Tells whoever a task is given to that it may be claimed.
    pub(super) fn tell_assigned(&self, task: &Task, agent: AgentKey) -> Tell {
        Tell { to: vec![Whom::Agent(agent)], ..self.claimable(task) }
    }

    /// Tells who held a task before that another has it.
    pub(super) fn tell_taken_over(&self, task: &Task, by: AgentKey) -> Option<Tell> {
        let mut tell = about(task, Kind::HandoffReply);
        tell.to = vec![Whom::Agent(task.holder?)];
        tell.reply_to = task.rest.offer.as_ref().map(|offer| offer.message);
        tell.text = format!("{} took over task {}", self.name_of(by), task.id);
        tell.status = Some(TaskStatus::Claimed);
        Some(tell)
    }

    /// Tells whoever offers a task that it keeps it.
    pub(super) fn tell_declined(
        &self,
        task: &Task,
        holder: AgentKey,
        to: AgentKey,
        offer: MessageId,
        why: &str,
    ) -> Tell {
        let mut tell = about(task, Kind::HandoffReply);
        tell.to = vec![Whom::Agent(holder)];
        tell.reply_to = Some(offer);
        tell.text = format!("{} does not take over task {}: {why}", self.name_of(to), task.id);
        tell.status = Some(TaskStatus::Rejected);
        tell.error = Some(("HANDOFF_DECLINED", why.to_owned()));
        tell
    }

    pub(super) fn tell_cancelled(&self, task: &Task, by: AgentKey, reason: &str) -> Option<Tell> {
        let mut tell = about(task, Kind::TaskProgress);
        tell.to = vec![Whom::Agent(task.holder.filter(|holder| *holder != by)?)];
        let why = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        tell.text = format!("{} cancelled task {}{why}", self.name_of(by), task.id);
        tell.status = Some(TaskStatus::Cancelled);
        Some(tell)
    }

    pub(super) fn tell_late(&self, task: &Task) -> Tell {
        let holder = task.holder.map_or("nobody", |holder| self.name_of(holder));
        let mut tell = about(task, Kind::TaskProgress);
        tell.to = vec![Whom::Agent(task.requester)];
        tell.text = format!(
            "the deadline of task {} has passed; it is {} and {holder} has it",
            task.id,
            task.status.name()
        );
        tell.status = Some(task.status);
        tell.error = Some(("DEADLINE", "the deadline has passed".to_owned()));
        tell
    }

    /// Tells what became of what a task depends on.
    pub(super) fn tell_freed(&self, task: &Task, is_lost: bool) -> Option<Tell> {
        let mut tell = about(task, Kind::TaskProgress);
        let whom = if is_lost { task.requester } else { task.holder? };
        tell.to = vec![Whom::Agent(whom)];
        tell.status = Some(if is_lost { TaskStatus::Blocked } else { TaskStatus::Claimed });
        tell.text = match is_lost {
            true => format!("task {} waits for one that will not be done", task.id),
            false => format!("what task {} waited for is done: it can go on", task.id),
        };
        if is_lost {
            tell.error = Some((Blocker::Dependency.name(), "a dependency was not done".to_owned()));
        }
        Some(tell)
    }

    pub(super) fn tell_reviewed(&self, task: &Task, approved: bool, count: usize) -> Option<Tell> {
        let verdict = if approved { "approved of" } else { "asked for changes to" };
        let mut tell = about(task, Kind::ReviewVerdict);
        tell.to = [Some(task.requester), task.holder].into_iter().flatten().map(Whom::Agent).collect();
        tell.text = format!("{count} {verdict} task {}", task.id);
        tell.gate = Some(approved);
        Some(tell)
    }

    pub(super) fn tell_help(&self, help: MessageId, asker: AgentKey, why: &str) -> Tell {
        Tell {
            to: vec![Whom::Agent(AgentKey::HUMAN)],
            kind: Kind::HelpAsk,
            task: None,
            reply_to: Some(help),
            native: None,
            text: format!("{} asked for help, and {why}", self.name_of(asker)),
            status: None,
            error: None,
            gate: None,
            data: [("help", Value::from(help.to_string()))].into_iter().collect(),
            priority: Priority::Critical,
        }
    }

    pub(super) fn tell_gate(&self, gate: MessageId, asker: AgentKey, task: Option<&str>, why: &str) -> Tell {
        Tell {
            to: vec![Whom::Agent(AgentKey::HUMAN)],
            kind: Kind::Gate,
            task: task.map(str::to_owned),
            reply_to: Some(gate),
            native: None,
            text: format!("{} waits for your yes or no: {why}", self.name_of(asker)),
            status: None,
            error: None,
            gate: None,
            data: [("gate", Value::from(gate.to_string()))].into_iter().collect(),
            priority: Priority::Critical,
        }
    }

    /// Tells who asked what the human said.
    pub(super) fn tell_judged(&self, id: MessageId, gate: &Gate, approved: bool, reason: &str) -> Tell {
        let task = gate.task.and_then(|key| self.work.task(key)).map(|task| task.id.to_string());
        let word = if approved { "yes" } else { "no" };
        let why = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        Tell {
            to: vec![Whom::Agent(gate.asker)],
            kind: Kind::Gate,
            task,
            reply_to: Some(id),
            native: None,
            text: format!("the answer is {word}{why}"),
            status: None,
            error: None,
            gate: Some(approved),
            data: Object::new(),
            priority: Priority::High,
        }
    }
}

fn about(task: &Task, kind: Kind) -> Tell {
    Tell {
        to: Vec::new(),
        kind,
        task: Some(task.id.to_string()),
        reply_to: task.request.map(|request| request.id),
        native: None,
        text: String::new(),
        status: None,
        error: None,
        gate: None,
        data: Object::new(),
        priority: Priority::High,
    }
}
