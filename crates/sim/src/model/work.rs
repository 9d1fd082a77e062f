//! Work as the outside would tell it: tasks and who has them, gates, help, money, breakers.
//!
//! What a message means for work is found out before it is taken in, as a list of changes; they happen after it.

#![expect(clippy::wildcard_enum_match_arm, reason = "what a rule does not name it leaves alone")]

mod change;
mod claim;
mod compare;
mod due;
mod fit;
mod hear;
mod judge;
mod request;
mod shared;
mod steps;

use std::collections::BTreeMap;
use std::rc::Rc;

use broker::{AgentKey, Blocker, Breaker, Hold, Refusal, Step, Time};
use message::{Kind, MessageId, Priority, TaskStatus};

pub(super) use due::WorkDue;
pub(super) use hear::Spoken;

use super::state::State;
use crate::rules::Rules;

/// Everything that is known of work.
#[derive(Clone)]
pub(crate) struct Work {
    /// Tasks in the order in which they were asked for.
    pub(super) tasks: Vec<Task>,
    pub(super) gates: BTreeMap<MessageId, Gate>,
    pub(super) helps: BTreeMap<MessageId, Help>,
    pub(super) workers: BTreeMap<AgentKey, Worker>,
    pub(super) allotments: BTreeMap<String, Allotment>,
    pub(super) rules: Rules,
    pub(super) rules_version: u32,
    pub(super) spent: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Task {
    /// All that it is called; the first is its id.
    names: Vec<Rc<str>>,
    request: Option<MessageId>,
    requester: AgentKey,
    asked: Vec<AgentKey>,
    group: Option<Rc<str>>,
    holder: Option<AgentKey>,
    is_claimed: bool,
    status: TaskStatus,
    hold: Hold,
    priority: Priority,
    blocker: Option<Blocker>,
    version: u32,
    lapses: u32,
    lease_until: Time,
    slow_at: Time,
    deadline: Time,
    is_late: bool,
    reserved: u64,
    spent: u64,
    dependencies: Vec<Rc<str>>,
    capabilities: Vec<&'static str>,
    quality: Option<u32>,
    tokens_max: Option<u64>,
    offer: Option<Offer>,
    votes: Vec<(AgentKey, bool)>,
    reviewed: Option<bool>,
    /// Whether something that it waits for is over, and nothing came of that yet.
    stirred: bool,
    history: Vec<(Step, AgentKey)>,
}

#[derive(Clone, Debug)]
pub(super) struct Offer {
    to: AgentKey,
    name: Rc<str>,
    until: Time,
}

#[derive(Clone, Debug)]
pub(super) struct Gate {
    asker: AgentKey,
    guards: Option<MessageId>,
    task: Option<usize>,
    until: Time,
}

#[derive(Clone, Debug)]
pub(super) struct Help {
    until: Time,
}

#[derive(Clone, Default)]
pub(super) struct Worker {
    pub(super) capabilities: Vec<&'static str>,
    pub(super) quality: Option<u32>,
    pub(super) from: Time,
    pub(super) breaker: Breaker,
    spent: u64,
    version: u32,
}

#[derive(Clone)]
pub(super) struct Allotment {
    version: u32,
    agent: AgentKey,
    is_money: bool,
    limit: u64,
    consumed: u64,
}

/// Why something about work is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum No {
    UnknownTask,
    Misplaced,
    Held,
    NotHolder,
    NotRequester,
    Missed,
    NotAsked,
    Unfit,
    Cycle,
    OverPolicy,
    Unoffered,
    HandoffRecipient,
    NotYours,
    UnknownGate,
    TooManyTasks,
    Stale(u32),
    Gap(u32),
    UnknownEntity,
    UnknownAgent,
    BadEntity,
}

impl No {
    /// Tells whether a refusal says this.
    pub(super) fn fits(self, refusal: &Refusal) -> bool {
        match (self, refusal) {
            (No::Stale(version), Refusal::Stale { current })
            | (No::Gap(version), Refusal::Gap { current }) => *current == version,
            (No::UnknownTask, Refusal::UnknownTask { .. })
            | (No::Misplaced, Refusal::TaskState { .. })
            | (No::Held, Refusal::TaskHeld { .. })
            | (No::NotHolder, Refusal::NotHolder { .. })
            | (No::NotRequester, Refusal::NotRequester { .. })
            | (No::Missed, Refusal::Missed { .. })
            | (No::NotAsked, Refusal::NotAsked { .. })
            | (No::Unfit, Refusal::Unfit { .. })
            | (No::Cycle, Refusal::TaskCycle { .. })
            | (No::OverPolicy, Refusal::OverPolicy { .. })
            | (No::Unoffered, Refusal::NoOffer { .. })
            | (No::HandoffRecipient, Refusal::HandoffRecipient)
            | (No::NotYours, Refusal::NotYours)
            | (No::UnknownGate, Refusal::UnknownGate)
            | (No::TooManyTasks, Refusal::TooMany { what: "tasks", .. })
            | (No::UnknownEntity, Refusal::UnknownEntity { .. })
            | (No::UnknownAgent, Refusal::UnknownAgent)
            | (No::BadEntity, Refusal::BadEntity { .. }) => true,
            _ => false,
        }
    }
}

/// What comes of a message for work.
#[derive(Default)]
pub(super) struct Heard {
    pub(super) changes: Vec<Change>,
    pub(super) tells: Vec<Tell>,
    /// Whether it waits for something else.
    pub(super) parks: bool,
    /// Whether it is kept and handed to nobody.
    pub(super) files: bool,
    /// What its sender is warned of.
    pub(super) warning: Option<&'static str>,
}

/// Something that happens to work.
pub(super) enum Change {
    Asked(Box<Task>),
    Move(Box<Move>),
    Offer {
        task: usize,
        by: AgentKey,
        offer: Offer,
    },
    Vote {
        task: usize,
        by: AgentKey,
        approves: bool,
        outcome: Option<bool>,
    },
    Raise(MessageId, Gate),
    /// A gate is open or shut for good.
    Judge(MessageId),
    Help(MessageId, Help),
    HelpOver(MessageId),
    Breaker(AgentKey, Breaker),
    Consume(String, u64),
    /// A delivery of the request is settled by who has the task.
    Settle {
        part: usize,
        by: AgentKey,
    },
    Withdraw(MessageId),
    Resume(MessageId),
    TurnAway(MessageId),
}

/// A task that takes a step: all that it is afterwards.
pub(super) struct Move {
    task: usize,
    step: Step,
    by: AgentKey,
    status: TaskStatus,
    holder: Option<AgentKey>,
    is_claimed: bool,
    lease_until: Time,
    hold: Hold,
    blocker: Option<Blocker>,
    reserved: u64,
    cost: u64,
    asked: Option<(Vec<AgentKey>, Option<Rc<str>>)>,
    request: Option<MessageId>,
    waits_for: Vec<Rc<str>>,
}

/// Something that the bus tells.
pub(super) struct Tell {
    pub(super) kind: Kind,
    pub(super) priority: Priority,
    pub(super) to: Vec<Whom>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Whom {
    Agent(AgentKey),
    Group(Rc<str>),
}

/// How the tasks are that another waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Done,
    Open,
    Lost,
}

impl Work {
    pub(crate) fn new() -> Self {
        Work {
            tasks: Vec::new(),
            gates: BTreeMap::new(),
            helps: BTreeMap::new(),
            workers: BTreeMap::new(),
            allotments: BTreeMap::new(),
            rules: Rules::USUAL,
            rules_version: 0,
            spent: 0,
        }
    }

    /// Finds a task by anything that it is called, an offer of it included.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.tasks.iter().position(|task| {
            task.names.iter().any(|known| &**known == name)
                || task.offer.as_ref().is_some_and(|offer| &*offer.name == name)
        })
    }

    pub(super) fn breaker(&self, agent: AgentKey) -> Breaker {
        self.workers.get(&agent).map(|worker| worker.breaker).unwrap_or_default()
    }

    fn is_done(&self, name: &str) -> bool {
        self.find(name).is_some_and(|task| self.tasks[task].status == TaskStatus::Done)
    }

    fn before(&self, task: &Task) -> Before {
        let statuses = task.dependencies.iter().map(|name| self.find(name).map(|it| self.tasks[it].status));
        let statuses: Vec<Option<TaskStatus>> = statuses.collect();
        let is_lost = |status: &Option<TaskStatus>| {
            status.is_some_and(|status| is_over(status) && status != TaskStatus::Done)
        };
        match statuses {
            _ if statuses.iter().any(is_lost) => Before::Lost,
            _ if statuses.iter().all(|status| *status == Some(TaskStatus::Done)) => Before::Done,
            _ => Before::Open,
        }
    }

    /// What is set aside for the work of one agent.
    fn reserved_of(&self, agent: AgentKey) -> u64 {
        self.tasks.iter().filter(|task| task.payer() == Some(agent)).map(|task| task.reserved).sum()
    }

    fn reserved(&self) -> u64 {
        self.tasks.iter().map(|task| task.reserved).sum()
    }

    fn cost_so_far(&self, agent: AgentKey) -> u64 {
        self.reserved_of(agent) + self.workers.get(&agent).map_or(0, |worker| worker.spent)
    }
}

impl Task {
    /// Who pays: its holder, else whoever alone was asked.
    fn payer(&self) -> Option<AgentKey> {
        match (self.holder, self.asked.as_slice()) {
            (Some(holder), _) => Some(holder),
            (None, [only]) => Some(*only),
            (None, _) => None,
        }
    }
}

impl State {
    /// A task as it is, with a step that changes nothing yet.
    fn unmoved(&self, index: usize, step: Step, by: AgentKey) -> Move {
        let task = &self.work.tasks[index];
        Move {
            task: index,
            step,
            by,
            status: task.status,
            holder: task.holder,
            is_claimed: task.is_claimed,
            lease_until: task.lease_until,
            hold: task.hold,
            blocker: task.blocker,
            reserved: task.reserved,
            cost: 0,
            asked: None,
            request: None,
            waits_for: Vec::new(),
        }
    }
}

pub(super) fn is_over(status: TaskStatus) -> bool {
    matches!(status, TaskStatus::Done | TaskStatus::Failed | TaskStatus::Rejected | TaskStatus::Cancelled)
}

/// Tells whether a message of this kind is work for whoever gets it.
pub(super) fn is_work(kind: Kind) -> bool {
    matches!(kind, Kind::TaskRequest | Kind::HelpAsk | Kind::HandoffOffer)
}
