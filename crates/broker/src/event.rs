//! Events: what has happened. The log is made of them, and the state is a fold over them.
//!
//! An event says everything that the state needs, so applying one decides nothing. What it refers to, it names twice:
//! by its number in the state and by the place of the message in the log; an event that does not fit is refused.

mod decode;
mod encode;

pub(crate) use decode::blobs;

use std::borrow::Cow;

use message::{Backoff, DeliveryId, Dialect, Guarantee, Kind, MessageId, PresenceState, Priority, Seq};

use crate::known::Known;
use crate::work::words;
use crate::{
    AgentKey, Digest, Door, EntryKey, Fact, Fingerprint, GroupKey, MessageKey, OfTask, Retention, SessionKey,
    Time,
};

/// What has happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<'a> {
    /// An agent is known, or known differently.
    AgentSet { agent: AgentKey, name: &'a str, aliases: Vec<&'a str>, dialect: Dialect, profile: &'a [u8] },
    /// An agent is gone.
    AgentRemoved { agent: AgentKey },
    /// A role, topic or channel is known.
    GroupMade { group: GroupKey, address: Cow<'a, str> },
    /// An agent is a member.
    Joined { agent: AgentKey, group: GroupKey },
    /// An agent is no longer a member.
    Left { agent: AgentKey, group: GroupKey },
    /// How an agent is.
    PresenceSet { agent: AgentKey, state: PresenceState, detail: Cow<'a, [u8]> },
    /// An agent is connected.
    SessionOpened { session: SessionKey, agent: AgentKey, number: u32, door: Door },
    /// A connection is gone. What was on its way over it follows in events of its own.
    SessionClosed { session: SessionKey },
    /// The process started again: every connection is gone.
    Restarted,
    /// No lease ends before this.
    Graced { until: Time },
    /// A message was taken in.
    Accepted(Box<Accepted<'a>>),
    /// A member of a topic or channel has its own entries of the posts up to a place.
    Absorbed { agent: AgentKey, group: GroupKey, upto: u64, entries: Vec<Of> },
    /// A message is handed out.
    Dispatched {
        of: Of,
        agent: AgentKey,
        session: Option<SessionKey>,
        delivery: DeliveryId,
        lease_until: Time,
        by: &'a str,
    },
    /// A delivery was never written, so the message waits as if it had not been handed out.
    Returned { of: Of },
    /// A delivery was put before a model.
    Surfaced { of: Of, by: &'a str },
    /// A delivery is settled.
    Acknowledged { of: Of, agent: AgentKey, by: &'a str },
    /// A delivery, or the attempt to make one, came to nothing; what is next.
    Failed(Failed<'a>),
    /// A lease is longer.
    Extended { of: Of, until: Time },
    /// A pause is over; the message waits again.
    Released { of: Of },
    /// A message is no longer handed out.
    Expired { message: MessageKey, seq: Seq },
    /// Its sender took a message back.
    Withdrawn { message: MessageKey, seq: Seq },
    /// A message has another body, here.
    Amended { message: MessageKey, seq: Seq, body: &'a [u8] },
    /// A parked message may go.
    Resumed { message: MessageKey, seq: Seq },
    /// A dead letter waits again, at the tail.
    DeadRetried { of: Of },
    /// A dead letter is cleared away.
    DeadDropped { of: Of },
    /// Nobody waits for the reply of a message any more.
    WaitEnded { message: MessageKey, seq: Seq },
    /// The body of a message is here from now on.
    Carried { message: MessageKey, seq: Seq, body: &'a [u8] },
    /// How much is remembered of what is over.
    Tuned(Retention),
    /// A record is stored, or stored differently.
    RecordSet(Box<RecordSet<'a>>),
    /// A record is gone; its document lay here.
    RecordRemoved {
        repo: AgentKey,
        collection: &'a str,
        key: &'a str,
        tick: u64,
        rev: u64,
        commit: Digest,
        body: Seq,
    },
    /// The document of the record that was written at a tick is here from now on.
    RecordCarried { repo: AgentKey, collection: &'a str, key: &'a str, tick: u64, body: &'a [u8] },
    /// Something happened to work.
    Work(Fact<'a>),
    /// The document that asked for a task is here from now on.
    TaskCarried { of: OfTask, body: &'a [u8] },
}

/// Which entry an event is about: its number, and the place in the log of the message that must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Of {
    /// The entry.
    pub entry: EntryKey,
    /// Where its message was accepted.
    pub seq: Seq,
}

/// A message that was taken in.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted<'a> {
    /// Its number in the state.
    pub message: MessageKey,
    /// Its id.
    pub id: MessageId,
    /// Who sent it.
    pub from: AgentKey,
    /// What it means.
    pub kind: Kind,
    /// How urgent it is.
    pub priority: Priority,
    /// How hard to try.
    pub guarantee: Guarantee,
    /// How a repeat is known: the sender's id for it, or nothing for what it says.
    pub native_id: Option<&'a str>,
    /// What follows from the texts, so that it is computed once. Not written.
    pub marks: Marks,
    /// What it says.
    pub fingerprint: Fingerprint,
    /// The task whose order it keeps.
    pub task: Option<&'a str>,
    /// The conversation.
    pub thread: Option<&'a str>,
    /// What it answers, as its sender wrote it.
    pub reply_to: Option<&'a str>,
    /// When it is no longer wanted, by the wall clock.
    pub expires: Time,
    /// How long each recipient has to take it.
    pub timeout_ms: Option<u64>,
    /// How often to try again.
    pub retries: u32,
    /// How the pauses between tries grow.
    pub backoff: Backoff,
    /// Who is next when a recipient does not take it.
    pub fallback: Vec<AgentKey>,
    /// Until when its sender waits for a reply.
    pub wait_until: Option<Time>,
    /// Whether it is only for those who are connected now.
    pub live_only: bool,
    /// What it waits for before it goes to anybody.
    pub parked: Park,
    /// Whether it is filed and handed to nobody, because it answers a question whose time is over.
    pub filed: bool,
    /// How often it was forwarded.
    pub hops: u8,
    /// The entry that it answers.
    pub answers: Option<Of>,
    /// Where it goes.
    pub targets: Vec<Target<'a>>,
    /// The document and what the doors keep with it.
    pub body: Cow<'a, [u8]>,
}

/// A record that is stored, or stored differently.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordSet<'a> {
    /// Whose repository it is in.
    pub repo: AgentKey,
    /// Its collection.
    pub collection: &'a str,
    /// Its key.
    pub key: &'a str,
    /// What it is known by.
    pub cid: Digest,
    /// When it was written.
    pub tick: u64,
    /// The tick of the last write of its commit.
    pub rev: u64,
    /// What the commit is known by.
    pub commit: Digest,
    /// Whether there was no such record before.
    pub is_new: bool,
    /// The message that was sent by writing it.
    pub message: Option<MessageId>,
    /// The blobs to which it refers.
    pub blobs: Vec<Digest>,
    /// Where its document lies, if not here.
    pub place: Option<Seq>,
    /// How many bytes its document has.
    pub bytes: u32,
    /// Its document, if it is here.
    pub body: &'a [u8],
}

/// What the state keeps of a message's texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    /// By which a repeat is known.
    pub(crate) key: Fingerprint,
    /// The hash of the task; 0 if there is none.
    pub(crate) task: u64,
}

words! {
    /// What a message waits for before it goes to anybody.
    Park {
        /// Nothing.
        Nothing = "nothing",
        /// A human who lets the conversation go on.
        Loop = "loop",
        /// A gate, or tasks that must be done before.
        Guard = "guard",
    }
}

/// One way that a message goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Target<'a> {
    /// To an agent, or to one of its connections.
    Agent { entry: EntryKey, agent: AgentKey, session: Option<SessionKey> },
    /// To a role, topic or channel.
    Group { entry: EntryKey, group: GroupKey },
    /// To a name that nobody has yet.
    Held { entry: EntryKey, name: &'a str },
    /// To a fallback at once, because nobody has the name.
    Instead { entry: EntryKey, agent: AgentKey, name: &'a str },
    /// To an agent that waits for this very reply.
    Waiter { entry: EntryKey, agent: AgentKey, delivery: DeliveryId, until: Time },
}

/// A delivery, or the attempt to make one, that came to nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Failed<'a> {
    /// Which.
    pub of: Of,
    /// Why, in words.
    pub reason: &'a str,
    /// What is next.
    pub next: Next,
}

/// What comes after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It waits again at once, in its old place.
    Again,
    /// Another try, at this time.
    Retry { at: Time },
    /// Another agent tries.
    Fallback { entry: EntryKey, agent: AgentKey },
    /// It is given up and becomes a dead letter.
    Dead,
    /// Its time was over.
    Expired,
    /// It was handed out once, and nobody knows whether it arrived.
    Unconfirmed,
    /// Its sender had taken it back.
    Withdrawn,
}

impl Marks {
    /// Takes the marks of a message: who sent it, the id or else the document, the task.
    pub fn of(from: AgentKey, native_id: Option<&str>, document: Fingerprint, task: Option<&str>) -> Self {
        let key = match native_id {
            Some(id) => Known::native_key(from, id),
            None => Known::content_key(from, document),
        };
        Marks { key, task: task.map_or(0, task_mark) }
    }
}

impl Event<'_> {
    /// Tells whether an answer to anybody may wait for this event to be durable; presence is only remembered.
    pub fn needs_sync(&self) -> bool {
        match self {
            Event::PresenceSet { .. } | Event::SessionOpened { .. } | Event::SessionClosed { .. } => false,
            Event::AgentSet { .. }
            | Event::Restarted
            | Event::AgentRemoved { .. }
            | Event::GroupMade { .. }
            | Event::Joined { .. }
            | Event::Left { .. }
            | Event::Graced { .. }
            | Event::Accepted(_)
            | Event::Absorbed { .. }
            | Event::Dispatched { .. }
            | Event::Returned { .. }
            | Event::Surfaced { .. }
            | Event::Acknowledged { .. }
            | Event::Failed(_)
            | Event::Extended { .. }
            | Event::Released { .. }
            | Event::Expired { .. }
            | Event::Withdrawn { .. }
            | Event::Amended { .. }
            | Event::Resumed { .. }
            | Event::DeadRetried { .. }
            | Event::DeadDropped { .. }
            | Event::WaitEnded { .. }
            | Event::Carried { .. }
            | Event::Tuned(_)
            | Event::RecordSet(_)
            | Event::RecordRemoved { .. }
            | Event::RecordCarried { .. }
            | Event::Work(_)
            | Event::TaskCarried { .. } => true,
        }
    }
}

/// Returns the hash of a task; never 0, which stands for none.
pub(crate) fn task_mark(task: &str) -> u64 {
    Fingerprint::of(&[task.as_bytes()]).hash().max(1)
}
