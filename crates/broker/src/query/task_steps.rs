//! Queries before somebody moves a task: what the message that does it has to say.

use message::{Address, Kind, MessageId, Priority};
use smol_str::SmolStr;

use crate::{AgentKey, Broker, OfferView, TaskView};

/// What a message about a task says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskHead {
    /// What it is called.
    pub id: Box<str>,
    /// The agent that acts.
    pub by: Box<str>,
    /// The address of the requester, or of the operator if the requester is gone.
    pub requester: Address,
    /// How urgent it is.
    pub priority: Priority,
}

/// Looks at a task that an agent is about to move.
#[derive(Clone, Debug)]
pub struct StepLook {
    /// Who moves it.
    pub by: AgentKey,
    /// The task.
    pub task: Box<str>,
    /// What an earlier step is known by.
    pub key: Option<SmolStr>,
}

/// What there is to move.
#[derive(Clone, Debug)]
pub enum StepLooked {
    /// This task.
    Task(Box<TaskParties>),
    /// The key stands for a message that was sent before, of this kind where it is remembered.
    Repeated { message: MessageId, kind: Option<Kind> },
    /// There is no such task.
    UnknownTask,
}

/// A task, and everybody whom a message about it may concern.
#[derive(Clone, Debug)]
pub struct TaskParties {
    /// The task.
    pub head: TaskHead,
    /// The address of the agent that acts.
    pub own: Address,
    /// The agent that holds it.
    pub holder: Option<AgentKey>,
    /// The name of the holder.
    pub holder_name: Option<Box<str>>,
    /// The address of the holder, or of the operator if the holder is gone.
    pub holder_address: Option<Address>,
    /// Those who were asked, agents and then the group.
    pub asked: Vec<Address>,
    /// The offer to hand it over.
    pub offer: Option<OfferView>,
    /// The message that asked for it.
    pub request: Option<MessageId>,
}

/// Looks for the task that a message names, and for those whom it concerns.
#[derive(Clone, Debug)]
pub struct ConcernLook {
    /// Who sends the message.
    pub from: AgentKey,
    /// What the message calls the task.
    pub task: Box<str>,
    /// The number by which that may stand in for the task's own name.
    pub number: Option<u64>,
    /// The topic of those who follow the task.
    pub topic: Option<Address>,
}

/// Whom a message about a task concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concerned {
    /// The task, if it is known.
    pub task: Option<ConcernedTask>,
    /// Whether the topic is there.
    pub is_followed: bool,
}

/// A task that a message names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConcernedTask {
    /// What it is called.
    pub id: Box<str>,
    /// Who asked for it and who has it, as far as they are there and do not send the message.
    pub parties: Vec<Address>,
    /// The name of the holder, if somebody holds it.
    pub holder: Option<Box<str>>,
}

query!(ConcernLook -> Concerned, "task-concern", |this, state, _at| state.look_for_concern(&this));
query!(StepLook -> StepLooked, "task-step", |this, state, _at| state.look_for_step(&this));

impl Broker {
    fn look_for_step(&self, look: &StepLook) -> StepLooked {
        if let Some(message) = look.key.as_deref().and_then(|key| self.sent_as(look.by, key)) {
            let kind = self.look_into(message).map(|view| view.kind);
            return StepLooked::Repeated { message, kind };
        }
        let Some(task) = self.look_at_task(&look.task) else { return StepLooked::UnknownTask };
        let group = task.group.and_then(|group| self.address_of_group(group)?.parse().ok());
        StepLooked::Task(Box::new(TaskParties {
            head: self.task_head(&task, look.by),
            own: self.told_at(look.by),
            holder: task.holder,
            holder_name: task.holder.map(|holder| self.name_of(holder).into()),
            holder_address: task.holder.map(|holder| self.told_at(holder)),
            asked: task.asked.iter().map(|agent| self.told_at(*agent)).chain(group).collect(),
            offer: task.offer,
            request: task.request,
        }))
    }

    fn look_for_concern(&self, look: &ConcernLook) -> Concerned {
        let is_followed = look.topic.as_ref().is_some_and(|topic| self.group(&topic.to_string()).is_some());
        let task = self.look_at_task(&look.task).or_else(|| self.task_by_number(look.number?));
        let task = task.map(|task| {
            let mut parties: Vec<AgentKey> = Vec::new();
            for agent in [Some(task.requester), task.holder].into_iter().flatten() {
                let is_there = self.agent_at(agent).is_ok() && !agent.is_machinery();
                if is_there && agent != look.from && !parties.contains(&agent) {
                    parties.push(agent);
                }
            }
            ConcernedTask {
                id: task.id.into(),
                parties: parties.into_iter().filter_map(|agent| self.name_of(agent).parse().ok()).collect(),
                holder: task.holder.map(|holder| self.name_of(holder).into()),
            }
        });
        Concerned { task, is_followed }
    }

    pub(crate) fn task_head(&self, task: &TaskView<'_>, by: AgentKey) -> TaskHead {
        TaskHead {
            id: task.id.into(),
            by: self.name_of(by).into(),
            requester: self.told_at(task.requester),
            priority: task.priority,
        }
    }

    /// Returns where an agent is told something; the human, where it is gone or part of the bus.
    fn told_at(&self, agent: AgentKey) -> Address {
        let is_there = self.agent_at(agent).is_ok() && !agent.is_machinery();
        let name = self.name_of(if is_there { agent } else { AgentKey::HUMAN });
        name.parse().unwrap_or(Address::All)
    }
}
