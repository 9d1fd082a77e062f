//! What happened, event by event, with names instead of numbers.

mod list;

use broker::AgentKey;
use message::{PresenceState, Seq, Timestamp};

use crate::query::Scope;
use crate::row::Row;

pub(crate) use list::list;

/// What happened after a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Happenings {
    /// In the order of the log.
    pub list: Vec<Happening>,
    /// How far the log was looked through: the place from which to go on, whatever of it was shown.
    pub upto: Seq,
}

/// Something in the log.
#[derive(Clone, Debug, PartialEq)]
pub enum Happening {
    /// An event.
    Happened(Box<Happened>),
    /// Records that are missing.
    Gap {
        /// The first of them.
        first: Seq,
        /// The last of them.
        last: Seq,
    },
}

/// An event with names.
#[derive(Clone, Debug, PartialEq)]
pub struct Happened {
    /// Its place in the log.
    pub seq: Seq,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub name: Name,
    /// The message that it is about; its stage is that of today.
    pub row: Option<Row>,
    /// The agent that it is about: a recipient, or somebody who came or went.
    pub agent: Option<String>,
    /// Through what it happened.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// What comes after a failure.
    pub next: Option<&'static str>,
    /// The agent that is tried next.
    pub next_agent: Option<String>,
    /// The role, topic or channel of a membership.
    pub address: Option<String>,
    /// How an agent says that it is.
    pub presence: Option<PresenceState>,
}

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Name {
    /// A message was taken in.
    Accepted,
    /// It was handed out.
    Dispatched,
    /// It was not written after all.
    Returned,
    /// It was put before a model.
    Surfaced,
    /// It was settled.
    Acknowledged,
    /// An attempt came to nothing.
    Failed,
    /// A lease is longer.
    Extended,
    /// A pause is over.
    Released,
    /// A message is no longer handed out.
    Expired,
    /// Its sender took it back.
    Withdrawn,
    /// It has another body.
    Amended,
    /// A parked conversation goes on.
    Resumed,
    /// A dead letter waits again.
    Retried,
    /// A dead letter was cleared away.
    Dropped,
    /// An agent is known, or known differently.
    AgentSet,
    /// An agent is gone.
    AgentRemoved,
    /// An agent is a member.
    Joined,
    /// An agent is no longer a member.
    Left,
    /// How an agent is.
    Presence,
    /// An agent is connected.
    SessionOpened,
    /// A connection is gone.
    SessionClosed,
    /// The bus started again.
    Restarted,
}

/// Which happenings are wanted. Everything that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// What this agent has to do with.
    pub agent: Option<AgentKey>,
    /// Messages of this conversation.
    pub thread: Option<String>,
    /// Messages about this task.
    pub task: Option<String>,
}

/// A question about happenings.
pub(crate) struct Asked<'a> {
    pub(crate) after: Seq,
    pub(crate) upto: Seq,
    pub(crate) limit: usize,
    pub(crate) scope: Scope,
    pub(crate) filter: &'a Watch,
}

impl Name {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Name::Accepted => "accepted",
            Name::Dispatched => "dispatched",
            Name::Returned => "returned",
            Name::Surfaced => "surfaced",
            Name::Acknowledged => "acknowledged",
            Name::Failed => "failed",
            Name::Extended => "extended",
            Name::Released => "released",
            Name::Expired => "expired",
            Name::Withdrawn => "withdrawn",
            Name::Amended => "amended",
            Name::Resumed => "resumed",
            Name::Retried => "retried",
            Name::Dropped => "dropped",
            Name::AgentSet => "agent_set",
            Name::AgentRemoved => "agent_removed",
            Name::Joined => "joined",
            Name::Left => "left",
            Name::Presence => "presence",
            Name::SessionOpened => "session_opened",
            Name::SessionClosed => "session_closed",
            Name::Restarted => "restarted",
        }
    }
}
