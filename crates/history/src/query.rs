//! Questions about messages, and how they are answered page by page.

use broker::AgentKey;
use message::{Kind, Seq};

use crate::row::Row;

/// Which messages are wanted. Everything that is given must hold.
#[derive(Clone, Debug)]
pub struct Query {
    /// What the asker may see.
    pub scope: Scope,
    /// Messages that this agent sent, got or was sent.
    pub agent: Option<AgentKey>,
    /// Messages of this conversation.
    pub thread: Option<String>,
    /// Messages about this task.
    pub task: Option<String>,
    /// Messages to this role, topic or channel, by its address; `all` for those to everyone.
    pub channel: Option<String>,
    /// Messages that mean this.
    pub kind: Option<Kind>,
    /// Words that the message has: `word`, `"a phrase"`, `begin*`, `-not`.
    pub text: Option<String>,
    /// Only behind this place; the page starts there.
    pub after: Option<Seq>,
    /// Only before this place.
    pub before: Option<Seq>,
    /// How many at most.
    pub limit: usize,
    /// What the answer should know of: the durable place when the question was asked. The history waits for its own
    /// thread a moment, and then reads the rest from the log as far as its limits let it.
    pub fresh: Seq,
}

/// What somebody may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everything: the operator's.
    Everything,
    /// What an agent sent, got or was sent, and what was sent to topics, channels and everyone.
    Agent(AgentKey),
}

/// Messages, the oldest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The messages.
    pub rows: Vec<Row>,
    /// The `after` of the next page; nothing at the end. A page can be short and have one: looking is limited.
    pub next: Option<Seq>,
    /// The `before` of the page before this one, where the page was cut off at its beginning.
    pub earlier: Option<Seq>,
    /// How far the answer reaches: later events are not in it.
    pub upto: Seq,
}

impl Query {
    /// Asks for the newest messages that somebody may see.
    pub fn new(scope: Scope, limit: usize) -> Self {
        Query {
            scope,
            agent: None,
            thread: None,
            task: None,
            channel: None,
            kind: None,
            text: None,
            after: None,
            before: None,
            limit,
            fresh: Seq(0),
        }
    }
}
