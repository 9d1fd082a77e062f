//! Facts: what has happened to work. They are events of the log like any other, and say everything that the fold
//! needs.

mod code;

pub(crate) use code::{request, write_request};

use std::borrow::Cow;

use message::{MessageId, Priority, Seq, TaskStatus};

use super::money::Micros;
use super::word::{Blocker, HandoffReason, Step, words};
use crate::{AgentKey, GroupKey, MessageKey, TaskKey, Time};

/// Which task a fact is about: its number, and the event that made the task which must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfTask {
    /// The task.
    pub task: TaskKey,
    /// Where it was made.
    pub born: Seq,
}

/// What has happened to work.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact<'a> {
    /// Somebody asked for a task.
    Asked(Box<Asked<'a>>),
    /// A task is where it was not before.
    Moved(Box<Moved<'a>>),
    /// The holder of a task offers it to another.
    Offered { of: OfTask, by: AgentKey, to: AgentKey, message: MessageId, until: Time, reason: HandoffReason },
    /// Somebody said what it thinks of a task; and what all think, if that is settled by it.
    Voted { of: OfTask, by: AgentKey, approves: bool, outcome: Option<bool> },
    /// What is known of a task beside its state is this.
    Described { of: OfTask, by: AgentKey, overlay: Cow<'a, [u8]> },
    /// Something waits for a human.
    GateRaised(Box<GateRaised<'a>>),
    /// A human has decided, or time has.
    GateJudged { gate: MessageId, by: AgentKey, approved: bool, reason: &'a str },
    /// The human is asked again.
    GateRenewed { gate: MessageId, until: Time },
    /// Somebody asks for help.
    HelpAsked { help: MessageId, asker: AgentKey, until: Time },
    /// A call for help is over: answered by somebody, or passed on to a human.
    HelpOver { help: MessageId, by: AgentKey, escalated: bool },
    /// These are the rules from now on.
    PolicySet { version: u32, by: AgentKey, document: Cow<'a, [u8]> },
    /// An agent may use so much of something.
    Allotted(Box<Allotted<'a>>),
    /// An allotment is gone.
    AllotmentGone { id: &'a str, version: u32 },
    /// An allotment is used to this extent.
    Consumed { id: Cow<'a, str>, consumed: u64 },
    /// What an agent's state is said to be, by itself or the operator.
    AgentDescribed { agent: AgentKey, version: u32, overlay: Cow<'a, [u8]> },
    /// An agent's breaker is in another state.
    BreakerSet { agent: AgentKey, breaker: Breaker },
    /// What an agent can do.
    Equipped { agent: AgentKey, capabilities: Vec<&'a str> },
    /// How good an agent is, in millionths, and from when on it takes work.
    Fitness { agent: AgentKey, quality: Option<u32>, from: Time },
    /// What the policy said of a piece of work.
    Judged(Box<Judged<'a>>),
}

/// A task that somebody asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked<'a> {
    /// Its number.
    pub task: TaskKey,
    /// What it is called.
    pub id: Cow<'a, str>,
    /// By what else it is known.
    pub aliases: Vec<Cow<'a, str>>,
    /// What is to be done, in a line.
    pub title: &'a str,
    /// Who wants it.
    pub requester: AgentKey,
    /// The message that asked.
    pub request: Option<TaskRequest>,
    /// Agents that were asked.
    pub asked: Vec<AgentKey>,
    /// The role, topic or channel that was asked.
    pub group: Option<GroupKey>,
    /// How urgent it is.
    pub priority: Priority,
    /// What keeps it from being handed out.
    pub hold: Hold,
    /// Tasks that must be done before.
    pub dependencies: Vec<&'a str>,
    /// What whoever does it must be able to do.
    pub capabilities: Vec<&'a str>,
    /// By when it is wanted.
    pub deadline: Time,
    /// What it may cost.
    pub budget: Option<Micros>,
    /// How many tokens it may use.
    pub tokens_max: Option<u64>,
    /// How good whoever does it must be.
    pub quality: Option<u32>,
    /// The chain along which it goes.
    pub chain: Option<Cow<'a, str>>,
    /// What is set aside for it.
    pub reserved: Micros,
    /// What is known of it beside its state.
    pub overlay: Cow<'a, [u8]>,
}

/// A task that is where it was not before.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved<'a> {
    /// Which.
    pub of: OfTask,
    /// What happened.
    pub step: Step,
    /// Who did it.
    pub by: AgentKey,
    /// Where it is.
    pub status: TaskStatus,
    /// Who has it.
    pub holder: Option<AgentKey>,
    /// Whether its holder claimed it in so many words.
    pub is_claimed: bool,
    /// Until when.
    pub lease_until: Time,
    /// What keeps it from being handed out.
    pub hold: Hold,
    /// Why it cannot go on.
    pub blocker: Option<Blocker>,
    /// What is set aside for it now.
    pub reserved: Micros,
    /// What the step has cost.
    pub cost: Micros,
    /// How many tokens it has used.
    pub tokens: u64,
    /// Where the message was accepted that said so; 0 if none did.
    pub said: Seq,
    /// Who is asked from now on, where that changes.
    pub anew: Option<Anew>,
    /// Tasks that must be done before it goes on, beside those that are known.
    pub waits_for: Vec<&'a str>,
    /// Why, in words.
    pub reason: &'a str,
}

/// The message that asks for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRequest {
    /// Its number.
    pub message: MessageKey,
    /// Its id.
    pub id: MessageId,
    /// Where its document lies.
    pub body: Seq,
    /// How long that is.
    pub bytes: u32,
}

/// A task that is asked for anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anew {
    /// Agents that are asked.
    pub asked: Vec<AgentKey>,
    /// The role, topic or channel that is asked.
    pub group: Option<GroupKey>,
    /// The message that asks, where it takes the place of the one before.
    pub request: Option<TaskRequest>,
}

words! {
    /// What keeps a task from being handed out.
    Hold {
        /// Nothing.
        Nothing = "nothing",
        /// Tasks that must be done before.
        Dependencies = "dependencies",
        /// A human's yes.
        Gate = "gate",
    }
}

/// Something that waits for a human.
#[derive(Clone, Debug, PartialEq)]
pub struct GateRaised<'a> {
    /// By what it is known: the message that asks, or that waits.
    pub gate: MessageId,
    /// Who asks.
    pub asker: AgentKey,
    /// The message that waits, if one does.
    pub guards: Option<MessageKey>,
    /// The task that waits, if one does.
    pub task: Option<TaskKey>,
    /// Until when.
    pub until: Time,
    /// Why.
    pub why: Cow<'a, str>,
}

/// What an agent may use of something.
#[derive(Clone, Debug, PartialEq)]
pub struct Allotted<'a> {
    /// What it is called.
    pub id: &'a str,
    /// Its version.
    pub version: u32,
    /// Whose it is.
    pub agent: AgentKey,
    /// Of what.
    pub resource: Resource,
    /// How much is set aside; budgets in millionths of a dollar.
    pub allocated: u64,
    /// How much is used.
    pub consumed: u64,
    /// How much may be used.
    pub limit: u64,
    /// Until when, by the wall clock.
    pub expires: Time,
    /// What is known of it beside that.
    pub overlay: Cow<'a, [u8]>,
}

words! {
    /// What can be allotted.
    Resource {
        Tokens = "tokens",
        Cpu = "cpu",
        Memory = "memory",
        Budget = "budget",
    }
}

/// Whether an agent is given work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Breaker {
    /// It is; so many errors came one after the other.
    #[default]
    Closed,
    /// It is; and the last so many things that it did were errors.
    Counting(u32),
    /// It is not, until then.
    Open { until: Time },
    /// It is given one piece of work, to see how it goes.
    HalfOpen,
    /// It has that one piece.
    Probing { until: Time },
}

/// What the policy said of a piece of work, and what it was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged<'a> {
    /// The task.
    pub task: Cow<'a, str>,
    /// Who was to do it.
    pub agent: Option<AgentKey>,
    /// What was asked of the policy.
    pub ask: super::policy::Ask,
    /// Whether it could go.
    pub outcome: Outcome,
}

words! {
    /// How the policy decided.
    Outcome {
        Go = "go",
        Gate = "gate",
        Refuse = "refuse",
    }
}
