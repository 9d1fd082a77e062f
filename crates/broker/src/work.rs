//! Work: which tasks there are, who has them, what they may cost, and who must be asked.
//!
//! A task is born from a message that asks for it and moves by messages that speak of it, whatever their dialect. The
//! state holds how far it is and a short history; what was said lies in the log, where the messages are.

mod agents;
pub(crate) mod breaker;
mod claim;
mod claim_command;
mod due;
mod fact;
mod fold;
mod gate;
mod handoff;
pub(crate) mod hear;
mod help;
mod intent;
mod look;
mod money;
mod notices;
mod policy;
pub(crate) mod recent;
mod request;
mod review;
mod snapshot;
mod state;
mod steps;
mod word;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{BuildHasherDefault, DefaultHasher};

use hashbrown::HashMap;
use message::{MessageId, Priority, Seq, TaskStatus};

use crate::broker::Broker;
use crate::slab::Slab;
use crate::{AgentKey, Fingerprint, GroupKey, MessageKey, TaskKey, Time};

pub use due::WorkDue;
pub use fact::{
    Allotted, Anew, Asked, Breaker, Fact, GateRaised, Hold, Judged, Moved, OfTask, Outcome, Resource,
    TaskRequest,
};
pub use intent::TaskIntent;
pub use look::{AgentWork, AllotmentView, GateView, JudgedGate, NoteView, OfferView, PolicyView, TaskView};
pub use money::Micros;
pub use policy::{Ask, BreakerRule, Lapse, Over, Policy, Unjudged, Verdict, share};
pub use recent::Changed;
pub use state::{Change, Entity, Operation, StateChange};
pub(crate) use word::words;
pub use word::{Blocker, HandoffReason, HelpAnswer, Step, after, is_over};

/// Tasks that are over and remembered.
const ENDED_MAX: usize = 100_000;
/// Steps of one task that are remembered; the first and the newest stay.
const NOTES_MAX: usize = 64;
/// Decisions of the policy that are remembered.
const JUDGED_MAX: usize = 1_000;
/// Gates that were judged and are remembered.
const JUDGED_GATES_MAX: usize = 1_000;
/// How deep and how large a document of the shared state may be.
const LIMITS: json::Limits = json::Limits::DOCUMENT;
/// Bytes of a title and of a reason that are kept.
const TEXT_BYTES_MAX: usize = 200;

/// Everything that is known of work.
#[derive(Default)]
pub(crate) struct Works {
    pub(crate) tasks: Slab<Task>,
    /// Tasks by all that they are called. Only looked up, never gone through, so its order does not matter.
    names: HashMap<Fingerprint, TaskKey, BuildHasherDefault<DefaultHasher>>,
    /// Tasks by the numbers that stand in for their names. Only looked up.
    numbers: HashMap<u64, TaskKey, BuildHasherDefault<DefaultHasher>>,
    /// How many tasks there are of each status.
    counts: [u64; TaskStatus::ALL.len()],
    /// Tasks that may be claimed, by who was asked: the most urgent first, then the oldest.
    available: BTreeMap<Place, BTreeSet<(std::cmp::Reverse<Priority>, Seq, TaskKey)>>,
    /// Tasks that wait for a task of this name.
    dependents: BTreeMap<Fingerprint, BTreeSet<TaskKey>>,
    /// Tasks for which something that they depend on is over.
    stirred: BTreeSet<TaskKey>,
    /// Tasks that are over, the oldest first, by the event that ended them.
    ended: BTreeSet<(Seq, TaskKey)>,
    pub(crate) gates: BTreeMap<MessageId, Gate>,
    /// Gates that wait and are about a task.
    gates_of_tasks: BTreeSet<(TaskKey, MessageId)>,
    /// Gates that were judged, the oldest first.
    judged_gates: VecDeque<(MessageId, Gate, Judgement)>,
    helps: BTreeMap<MessageId, Help>,
    pub(crate) workers: BTreeMap<AgentKey, Worker>,
    /// Agents that are given no work because of their errors.
    open_breakers: BTreeSet<AgentKey>,
    allotments: BTreeMap<Box<str>, Allotment>,
    policy: PolicyHeld,
    /// What everything has cost.
    spent: Micros,
    /// What is set aside for what is not over.
    reserved: Micros,
    judged: VecDeque<JudgedHeld>,
    /// In the bus's time.
    timers: BTreeSet<(Time, Timer)>,
    /// By the wall clock.
    deadlines: BTreeSet<(Time, TaskKey)>,
    /// When anything changed last.
    updated: Time,
    /// What changed lately.
    pub(crate) recent: recent::Recent,
}

/// Where a task waits to be claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Agent(AgentKey),
    Group(GroupKey),
}

/// What a timer of work is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    /// A claim ends.
    Lease(TaskKey),
    /// An offer of a task ends.
    Offer(TaskKey),
    /// Work has taken long enough to count as an error.
    Slow(TaskKey),
    /// A gate has waited long enough.
    Gate(MessageId),
    /// A call for help has waited long enough.
    Help(MessageId),
    /// An agent has been left alone long enough, or has had the time to prove itself.
    Breaker(AgentKey),
}

/// A task.
pub(crate) struct Task {
    pub(crate) id: Box<str>,
    title: Box<str>,
    /// The event that made it.
    pub(crate) born: Seq,
    /// The message that asks for it.
    pub(crate) request: Option<TaskRequest>,
    requester: AgentKey,
    group: Option<GroupKey>,
    pub(crate) holder: Option<AgentKey>,
    pub(crate) is_claimed: bool,
    pub(crate) status: TaskStatus,
    hold: Hold,
    priority: Priority,
    blocker: Option<Blocker>,
    version: u32,
    lapses: u8,
    created: Time,
    updated: Time,
    lease_until: Time,
    /// When work that it has taken counts as too slow.
    slow_at: Time,
    deadline: Time,
    /// Whether it is known that it is late.
    is_late: bool,
    /// The event that ended it; 0 if it is not over.
    ended: Seq,
    reserved: Micros,
    spent: Micros,
    tokens: u64,
    rest: Box<Rest>,
}

/// What only some tasks have much of.
#[derive(Default)]
struct Rest {
    aliases: Vec<Fingerprint>,
    /// Agents that were asked.
    asked: Vec<AgentKey>,
    dependencies: Vec<Box<str>>,
    capabilities: Vec<Box<str>>,
    budget: Option<Micros>,
    tokens_max: Option<u64>,
    quality: Option<u32>,
    chain: Option<Box<str>>,
    offer: Option<Offer>,
    votes: Vec<(AgentKey, bool)>,
    reviewed: Option<bool>,
    notes: Vec<Note>,
    /// Notes between the first and those that are kept.
    notes_lost: u32,
    /// Where the message lies by which it ended.
    outcome: Option<Seq>,
    reason: Box<str>,
    overlay: Box<[u8]>,
}

/// A step that a task has taken.
#[derive(Clone, Copy)]
struct Note {
    at: Time,
    step: Step,
    by: AgentKey,
    /// The message that said so, where it was accepted; 0 if none did.
    said: Seq,
}

/// A task that is offered to another.
#[derive(Clone, Copy)]
struct Offer {
    to: AgentKey,
    message: MessageId,
    until: Time,
    reason: HandoffReason,
}

/// Something that waits for a human.
#[derive(Clone)]
pub(crate) struct Gate {
    asker: AgentKey,
    pub(crate) guards: Option<MessageKey>,
    task: Option<TaskKey>,
    since: Time,
    until: Time,
    why: Box<str>,
}

/// How a gate was judged.
struct Judgement {
    by: AgentKey,
    approved: bool,
    at: Time,
    reason: Box<str>,
}

/// A call for help.
struct Help {
    asker: AgentKey,
    until: Time,
}

/// What is known of an agent as somebody who works.
#[derive(Default)]
pub(crate) struct Worker {
    capabilities: Vec<Box<str>>,
    quality: Option<u32>,
    /// From when on it takes work.
    from: Time,
    pub(crate) breaker: Breaker,
    spent: Micros,
    reserved: Micros,
    tokens: u64,
    /// Tasks that it has.
    holds: BTreeSet<TaskKey>,
    version: u32,
    overlay: Box<[u8]>,
}

/// What an agent may use of something.
struct Allotment {
    version: u32,
    agent: AgentKey,
    resource: Resource,
    allocated: u64,
    consumed: u64,
    limit: u64,
    expires: Time,
    overlay: Box<[u8]>,
}

/// The policy in force, and the document that says so.
#[derive(Default)]
struct PolicyHeld {
    rules: Policy,
    version: u32,
    by: Option<AgentKey>,
    document: Box<[u8]>,
}

/// What the policy said of a piece of work.
struct JudgedHeld {
    at: Time,
    task: Box<str>,
    agent: Option<AgentKey>,
    ask: Ask,
    outcome: Outcome,
}

impl Works {
    pub(crate) fn task(&self, key: TaskKey) -> Option<&Task> {
        self.tasks.get(key.0)
    }

    /// Finds a task by anything that it is called.
    pub(crate) fn find(&self, name: &str) -> Option<TaskKey> {
        self.names.get(&fingerprint(name)).copied()
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.policy.rules
    }

    fn worker(&self, agent: AgentKey) -> Option<&Worker> {
        self.workers.get(&agent)
    }

    /// Tells whether an agent says that it can do something.
    fn can(&self, agent: AgentKey, wanted: &str) -> bool {
        self.worker(agent).is_some_and(|worker| worker.capabilities.iter().any(|has| **has == *wanted))
    }

    /// Returns what the work of an agent has cost and may yet cost.
    fn cost_of(&self, agent: AgentKey) -> Micros {
        self.worker(agent).map(|worker| worker.spent.plus(worker.reserved)).unwrap_or_default()
    }

    /// Returns whether the dependencies of a task are done; or that one of them never will be.
    fn dependencies(&self, task: &Task) -> Dependencies {
        let mut open = false;
        for name in &task.rest.dependencies {
            match self.find(name).and_then(|key| self.task(key)).map(|task| task.status) {
                Some(TaskStatus::Done) => {}
                Some(TaskStatus::Failed | TaskStatus::Rejected | TaskStatus::Cancelled) => {
                    return Dependencies::Lost;
                }
                Some(_) | None => open = true,
            }
        }
        if open { Dependencies::Open } else { Dependencies::Done }
    }
}

/// How the tasks are that another depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dependencies {
    Done,
    Open,
    Lost,
}

impl Task {
    /// Returns how a fact names the task.
    fn of(&self, key: TaskKey) -> OfTask {
        OfTask { task: key, born: self.born }
    }

    /// Tells whether it may be claimed.
    fn is_available(&self) -> bool {
        self.status == TaskStatus::Pending && self.hold == Hold::Nothing
    }

    /// Tells whether somebody was asked by name.
    fn was_asked(&self, agent: AgentKey) -> bool {
        self.rest.asked.contains(&agent)
    }

    /// Returns who pays for it: whoever has it, else whoever alone was asked.
    fn payer(&self) -> Option<AgentKey> {
        self.holder.or(match self.rest.asked.as_slice() {
            [only] => Some(*only),
            [] | [..] => None,
        })
    }

    /// Returns where it waits to be claimed.
    fn places(&self) -> impl Iterator<Item = Place> + '_ {
        let agents = self.rest.asked.iter().map(|agent| Place::Agent(*agent));
        agents.chain(self.group.map(Place::Group))
    }
}

/// Returns by what a name is found.
fn fingerprint(name: &str) -> Fingerprint {
    Fingerprint::of(&[b"task", name.as_bytes()])
}

/// Returns the head of a text that is kept.
fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_BYTES_MAX)]
}

impl Broker {
    /// Tells whether a message waits for a gate.
    pub(crate) fn is_gated(&self, message: MessageKey) -> bool {
        let id = self.message(message).map(|message| message.id);
        let gate = id.and_then(|id| self.work.gates.get(&id));
        gate.is_some_and(|gate| gate.guards == Some(message))
    }

    /// Tells whether a message waits for tasks that must be done before.
    pub(crate) fn waits_for_tasks(&self, message: MessageKey) -> bool {
        let Some(id) = self.message(message).map(|message| message.id) else { return false };
        let task = self.work.find(&id.to_string()).and_then(|key| self.work.task(key));
        task.is_some_and(|task| {
            task.hold == Hold::Dependencies && task.request.is_some_and(|request| request.id == id)
        })
    }
}
