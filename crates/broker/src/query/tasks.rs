//! Queries about tasks.

use message::{MessageId, Priority, Seq, TaskStatus};
use smol_str::SmolStr;

use crate::{AgentKey, Blocker, Broker, HandoffReason, Hold, Micros, Step, TaskKey, TaskView, Time, is_over};

/// An agent and its name. An agent that is gone keeps its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedAgent {
    /// Its number.
    pub agent: AgentKey,
    /// Its name.
    pub name: SmolStr,
}

/// A task, with names in the place of numbers.
#[derive(Clone, Debug)]
pub struct TaskDetails {
    /// Its number.
    pub key: TaskKey,
    /// What it is called.
    pub id: SmolStr,
    /// Its title.
    pub title: Box<str>,
    /// How far it is.
    pub status: TaskStatus,
    /// What keeps it from being claimed.
    pub hold: Hold,
    /// The gate that it waits for.
    pub gate: Option<MessageId>,
    /// How urgent it is.
    pub priority: Priority,
    /// Who asked for it.
    pub requester: NamedAgent,
    /// Who has it.
    pub holder: Option<NamedAgent>,
    /// Agents that were asked.
    pub asked: Vec<NamedAgent>,
    /// The role, topic or channel that was asked.
    pub role: Option<SmolStr>,
    /// Whether one of those who ask is in that role, topic or channel.
    pub is_member: bool,
    /// Until when its claim lasts.
    pub lease_until: Option<Time>,
    /// By when it is to be done.
    pub deadline: Option<Time>,
    /// Whether it was not done by then.
    pub is_late: bool,
    /// When it was asked for.
    pub created: Time,
    /// When it changed last.
    pub updated: Time,
    /// How often it has changed.
    pub version: u32,
    /// What it is blocked by.
    pub blocker: Option<Blocker>,
    /// Why it is where it is, in words.
    pub reason: Box<str>,
    /// Tasks that must be done before.
    pub dependencies: Vec<SmolStr>,
    /// Those of them that are not done.
    pub waits_for: Vec<SmolStr>,
    /// What whoever takes it must be able to do.
    pub capabilities: Vec<SmolStr>,
    /// What it may cost.
    pub budget: Option<Micros>,
    /// How many tokens it may use.
    pub tokens_max: Option<u64>,
    /// The chain along which it goes.
    pub chain: Option<SmolStr>,
    /// What is set aside for it.
    pub reserved: Micros,
    /// What it has cost.
    pub spent: Micros,
    /// How many tokens it has used.
    pub tokens: u64,
    /// How often a claim of it ran out.
    pub lapses: u32,
    /// To whom it is offered.
    pub offer: Option<OfferDetails>,
    /// Who voted on it, and how.
    pub votes: Vec<(SmolStr, bool)>,
    /// How the votes came out.
    pub reviewed: Option<bool>,
    /// The message that asked for it, and where its document lies.
    pub request: Option<MessageId>,
    /// Where the document of that message lies.
    pub body: Option<Seq>,
    /// Where the message lies by which it ended.
    pub outcome: Option<Seq>,
    /// What else is known of it: a JSON object, or nothing.
    pub overlay: Box<[u8]>,
    /// The steps that it has taken, as far as they are remembered.
    pub notes: Vec<NoteDetails>,
}

/// A step that a task has taken.
#[derive(Clone, Debug)]
pub struct NoteDetails {
    /// When.
    pub at: Time,
    /// Which.
    pub step: Step,
    /// By whom.
    pub by: SmolStr,
    /// Where the message was accepted that said so.
    pub said: Option<Seq>,
}

/// A task that is offered to another agent.
#[derive(Clone, Debug)]
pub struct OfferDetails {
    /// To whom.
    pub to: NamedAgent,
    /// Until when.
    pub until: Time,
    /// Why.
    pub reason: HandoffReason,
    /// The message that offers it.
    pub message: MessageId,
}

/// A task by anything that it is called, or by the number that stands in for its name.
#[derive(Clone, Debug)]
pub struct FindTask {
    /// Its name.
    pub id: SmolStr,
    /// The number that stands in for its name ([`message::task_number`]), where the name may be such a stand-in.
    pub number: Option<u64>,
    /// Who asks: whether one of them is in the role that was asked is told.
    pub readers: Vec<AgentKey>,
}

query!(FindTask -> Option<TaskDetails>, "task", |this, state, _at| {
    let found = state.look_at_task(&this.id).or_else(|| state.task_by_number(this.number?))?;
    Some(state.task_details(&found, &this.readers))
});

/// Several tasks by their names, those left out that are not known.
#[derive(Clone, Debug)]
pub struct FindTasks {
    /// Their names.
    pub ids: Vec<SmolStr>,
}

query!(FindTasks -> Vec<TaskDetails>, "tasks", |this, state, _at| {
    let found = this.ids.iter().filter_map(|id| state.look_at_task(id));
    found.map(|task| state.task_details(&task, &[])).collect()
});

/// Which tasks are wanted.
#[derive(Clone, Debug, Default)]
pub struct TaskFilter {
    /// Only tasks of this status.
    pub status: Option<TaskStatus>,
    /// Only what this agent has.
    pub holder: Option<AgentKey>,
    /// Only what this agent asked for.
    pub requester: Option<AgentKey>,
    /// Only what this role, topic or channel was asked for.
    pub role: Option<String>,
    /// Only what is not over.
    pub is_open: bool,
    /// Only what is late.
    pub is_late: bool,
}

/// Tasks in the order of their numbers, and the number behind which to go on; nothing after the last task.
#[derive(Clone, Debug)]
pub struct TaskPage {
    /// The number from which on tasks are looked at.
    pub from: u32,
    /// How many tasks are looked at.
    pub look_max: usize,
    /// How many tasks are returned at most.
    pub max: usize,
    /// Which are wanted.
    pub filter: TaskFilter,
}

query!(TaskPage -> (Vec<TaskDetails>, Option<u32>), "task-page", |this, state, _at| {
    let (mut tasks, mut last) = (Vec::new(), None);
    for (count, task) in state.tasks(this.from).enumerate() {
        if tasks.len() == this.max || count == this.look_max {
            return (tasks, last);
        }
        last = Some(task.key.0);
        if this.filter.wants(state, &task) {
            tasks.push(state.task_details(&task, &[]));
        }
    }
    (tasks, None)
});

/// A task as far as it is needed to choose some of many.
#[derive(Clone, Debug)]
pub struct TaskMark {
    /// Its number.
    pub key: TaskKey,
    /// What it is called.
    pub id: SmolStr,
    /// How far it is.
    pub status: TaskStatus,
    /// When it changed last.
    pub updated: Time,
    /// Where the message lies by which it ended.
    pub outcome: Option<Seq>,
    /// Who asked, has, was asked or is offered it.
    pub parties: Vec<AgentKey>,
    /// Whether one of those who ask is in the role that was asked.
    pub is_member: bool,
}

/// Marks of tasks in the order of their numbers, and the number from which on the next are.
#[derive(Clone, Debug)]
pub struct TaskMarks {
    /// The number from which on tasks are looked at.
    pub from: u32,
    /// How many are returned at most.
    pub max: usize,
    /// Who asks.
    pub readers: Vec<AgentKey>,
}

query!(TaskMarks -> (Vec<TaskMark>, Option<u32>), "task-marks", |this, state, _at| {
    let mut marks = Vec::new();
    for task in state.tasks(this.from) {
        if marks.len() == this.max {
            return (marks, Some(task.key.0));
        }
        marks.push(mark(state, &task, &this.readers));
    }
    (marks, None)
});

fn mark(state: &Broker, task: &TaskView<'_>, readers: &[AgentKey]) -> TaskMark {
    let named = [Some(task.requester), task.holder, task.offer.map(|offer| offer.to)];
    TaskMark {
        key: task.key,
        id: SmolStr::new(task.id),
        status: task.status,
        updated: task.updated,
        outcome: task.outcome,
        parties: named.into_iter().flatten().chain(task.asked.iter().copied()).collect(),
        is_member: state.has_member(task, readers),
    }
}

impl TaskFilter {
    fn wants(&self, state: &Broker, task: &TaskView<'_>) -> bool {
        let role = || task.group.and_then(|group| state.address_of_group(group));
        self.status.is_none_or(|status| task.status == status)
            && self.holder.is_none_or(|holder| task.holder == Some(holder))
            && self.requester.is_none_or(|requester| task.requester == requester)
            && self.role.as_deref().is_none_or(|wanted| role() == Some(wanted))
            && (!self.is_open || !is_over(task.status))
            && (!self.is_late || task.is_late)
    }
}

impl TaskDetails {
    /// Returns who asked for it, has it, was asked or is offered it.
    pub fn parties(&self) -> impl Iterator<Item = AgentKey> + '_ {
        let offered = self.offer.as_ref().map(|offer| &offer.to);
        let named = [Some(&self.requester), self.holder.as_ref(), offered];
        named.into_iter().flatten().chain(&self.asked).map(|named| named.agent)
    }
}

impl Broker {
    /// Returns a task with names in the place of numbers.
    pub(crate) fn task_details(&self, task: &TaskView<'_>, readers: &[AgentKey]) -> TaskDetails {
        let named = |agent: AgentKey| NamedAgent { agent, name: SmolStr::new(self.called(agent)) };
        let texts = |texts: &[&str]| texts.iter().map(SmolStr::new).collect();
        let note = |note: &crate::NoteView| NoteDetails {
            at: note.at,
            step: note.step,
            by: SmolStr::new(self.called(note.by)),
            said: note.said,
        };
        TaskDetails {
            key: task.key,
            id: SmolStr::new(task.id),
            title: task.title.into(),
            status: task.status,
            hold: task.hold,
            gate: self.gate_of(task.key).filter(|_| task.hold == Hold::Gate),
            priority: task.priority,
            requester: named(task.requester),
            holder: task.holder.map(named),
            asked: task.asked.iter().copied().map(named).collect(),
            role: task.group.and_then(|group| self.address_of_group(group)).map(SmolStr::new),
            is_member: self.has_member(task, readers),
            lease_until: task.lease_until,
            deadline: task.deadline,
            is_late: task.is_late,
            created: task.created,
            updated: task.updated,
            version: task.version,
            blocker: task.blocker,
            reason: task.reason.into(),
            dependencies: texts(&task.dependencies),
            waits_for: texts(&self.waits_for(task)),
            capabilities: texts(&task.capabilities),
            budget: task.budget,
            tokens_max: task.tokens_max,
            chain: task.chain.map(SmolStr::new),
            reserved: task.reserved,
            spent: task.spent,
            tokens: task.tokens,
            lapses: task.lapses,
            offer: task.offer.map(|offer| OfferDetails {
                to: named(offer.to),
                until: offer.until,
                reason: offer.reason,
                message: offer.message,
            }),
            votes: task
                .votes
                .iter()
                .map(|(agent, vote)| (SmolStr::new(self.called(*agent)), *vote))
                .collect(),
            reviewed: task.reviewed,
            request: task.request,
            body: task.body,
            outcome: task.outcome,
            overlay: task.overlay.into(),
            notes: task.notes.iter().map(note).collect(),
        }
    }

    fn has_member(&self, task: &TaskView<'_>, readers: &[AgentKey]) -> bool {
        task.group.is_some_and(|group| readers.iter().any(|agent| self.is_member(*agent, group)))
    }
}
