//! Replies: what a command that was carried out gives back.

use json::{Finding, Source};
use message::{DeliveryId, Guarantee, Kind, MessageId, Priority, RecipientReceipt, Seq, Stage, Warning};

use crate::{AgentKey, Change, Digest, EntryKey, MessageKey, SessionKey, Time};

/// What a command gives back. It may leave only when everything up to the last sequence at that time is durable.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// It is done.
    Done,
    /// The agent has this number.
    Agent(AgentKey),
    /// The connection has this number, and is called by it among those of its agent.
    Session { session: SessionKey, number: u32 },
    /// The message is taken in, or was before.
    Accepted(Receipted),
    /// What was handed out.
    Taken(Vec<Delivery>),
    /// The delivery is at this stage.
    Stage(Stage),
    /// The lease lasts until then.
    Lease(Time),
    /// The state is changed, or was before.
    Changed(Change),
    /// The records are written.
    Committed(Committed),
    /// What came of a claim.
    Claimed(Box<ClaimOutcome>),
}

/// What came of a claim that was not refused.
#[derive(Clone, Debug, PartialEq)]
pub enum ClaimOutcome {
    /// The agent has this task, by this message.
    Claimed { task: Box<str>, receipted: Receipted },
    /// The claim was made before by this message. The agent still has this task; or it has none by it any more, or the
    /// state has forgotten the message.
    Repeated { message: MessageId, task: Option<Box<str>>, is_forgotten: bool },
    /// There is nothing that the agent may have.
    NoTasks,
    /// The agent is not in the role.
    NotInRole,
    /// There is no such task.
    UnknownTask,
}

/// A message that was taken in.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipted {
    /// Its id.
    pub id: MessageId,
    /// Its number, while the state remembers it.
    pub message: Option<MessageKey>,
    /// Whether it had been taken in before; nothing was added then.
    pub duplicate: bool,
    /// The reply, where the sender waits and it has come already.
    pub answer: Option<MessageId>,
    /// Until when its sender waits for a reply; nothing when it does not, or no longer.
    pub wait_until: Option<Time>,
    /// What its sender should know.
    pub cautions: Vec<Caution>,
    /// What became of it with each recipient, where the command asked for it.
    pub recipients: Vec<RecipientReceipt>,
}

/// Something that a sender should know, though its message was taken in. Most are never read: words are made of it
/// only for whoever asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caution {
    /// A stable code for programs.
    pub code: &'static str,
    said: Said,
}

/// What a caution says.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    Always(&'static str),
    Now(String),
    Turns(u32),
}

impl Caution {
    /// Says what is always said.
    pub(crate) fn new(code: &'static str, text: &'static str) -> Self {
        Caution { code, said: Said::Always(text) }
    }

    /// Says what is said this time.
    pub fn now(code: &'static str, text: String) -> Self {
        Caution { code, said: Said::Now(text) }
    }

    /// Says how often a conversation went back and forth.
    pub(crate) fn turns(code: &'static str, count: u32) -> Self {
        Caution { code, said: Said::Turns(count) }
    }

    /// Returns it in words.
    pub fn warning(&self) -> Warning {
        let message = match &self.said {
            Said::Always(text) => (*text).to_owned(),
            Said::Now(text) => text.clone(),
            Said::Turns(count) => {
                format!("{count} turns without a human or another task: is anybody getting anywhere?")
            }
        };
        Finding { path: String::new(), code: self.code, source: Source::Rule, message }.into()
    }
}

impl Receipted {
    /// Returns what is said of a message that is taken in.
    pub(crate) fn new(
        id: MessageId,
        message: MessageKey,
        wait_until: Option<Time>,
        cautions: Vec<Caution>,
    ) -> Self {
        Receipted {
            id,
            message: Some(message),
            duplicate: false,
            answer: None,
            wait_until,
            cautions,
            recipients: Vec::new(),
        }
    }

    /// Returns what its sender should know, in words.
    pub fn warnings(&self) -> impl Iterator<Item = Warning> {
        self.cautions.iter().map(Caution::warning)
    }
}

/// What a commit led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The commit; none if every write would have changed nothing.
    pub head: Option<Head>,
    /// The key of the record of each write, in order; also of those that were left out.
    pub keys: Vec<Box<str>>,
}

/// What a commit is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The hash of its CID.
    pub commit: Digest,
    /// The tick of its last write; it grows from commit to commit.
    pub rev: u64,
}

/// A message that is handed out.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    /// The id of this handing-out.
    pub delivery: DeliveryId,
    /// The message.
    pub id: MessageId,
    /// Its number.
    pub message: MessageKey,
    /// The entry.
    pub entry: EntryKey,
    /// Where its body lies in the log.
    pub body: Seq,
    /// Who sent it.
    pub from: AgentKey,
    /// What it means.
    pub kind: Kind,
    /// How urgent it is.
    pub priority: Priority,
    /// How hard the bus tries.
    pub guarantee: Guarantee,
    /// The how-manieth time this agent is given it, from 1.
    pub attempt: u32,
    /// Until when the agent has it.
    pub lease_until: Time,
    /// Who was tried before, and what came of it.
    pub tried: Vec<Tried>,
}

/// A recipient that was tried before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The agent, by name: it may be unknown or gone.
    pub agent: Box<str>,
    /// How often.
    pub attempts: u32,
    /// What came of it.
    pub reason: Box<str>,
}
