//! Commands: what somebody wants of the bus.
//!
//! A command owns what it carries, so that it can be queued, counted, timed and generated. The events that it leads to
//! borrow from it; nothing is copied. Who may give which command is checked before it comes here, except where the
//! answer depends on the state, such as whose delivery it is.

use bytes::Bytes;
use message::{Address, AgentName, AgentRef, Backoff, DeliveryId, Dialect, Guarantee, Kind, MessageId};
use message::{PresenceState, Priority, Seq};
use smol_str::SmolStr;

use crate::{
    AgentKey, Digest, Door, EntryKey, Fingerprint, GroupKey, Holder, MessageKey, Retention, SessionKey,
    StateChange, TaskIntent, Time, WorkDue,
};

/// What somebody wants of the bus.
#[derive(Clone, Debug)]
pub enum Command {
    /// Makes an agent known, or changes what is known of it.
    Register(Box<Register>),
    /// Forgets an agent; what waits for it goes to its fallback or becomes a dead letter.
    Remove { agent: AgentKey },
    /// Makes an agent a member of a role, topic or channel.
    Join { agent: AgentKey, address: Address },
    /// Ends a membership.
    Leave { agent: AgentKey, address: Address },
    /// Notes how an agent is.
    SetPresence { agent: AgentKey, state: PresenceState, detail: Vec<u8> },
    /// Notes a connection of an agent.
    OpenSession { agent: AgentKey, door: Door },
    /// Ends a connection; its leases end with it.
    CloseSession { session: SessionKey },
    /// Says that the process has started again: connections are gone, and so is what was on its way over them.
    Restart,
    /// Says that the machine slept: leases get a grace.
    Wake,
    /// Takes a message in.
    Accept(Box<Accept>),
    /// Takes a message back.
    Retract { message: MessageId, by: AgentKey },
    /// Puts another body in the place of a message's own.
    Amend { message: MessageId, by: AgentKey, body: Bytes },
    /// Lets a parked conversation go on.
    Resume { message: MessageId },
    /// Hands out what waits for an agent.
    Take(Take),
    /// Says that a delivery was put before a model, and by what.
    Surface { agent: AgentKey, delivery: DeliveryId, by: SmolStr },
    /// Settles a delivery.
    Ack { agent: AgentKey, delivery: DeliveryId, by: SmolStr },
    /// Settles what waits for an agent, or what it holds, by the message instead of a delivery.
    Process { agent: AgentKey, message: MessageId, by: SmolStr },
    /// Refuses a delivery.
    Nack(Nack),
    /// Asks for more time.
    Extend { agent: AgentKey, delivery: DeliveryId, lease_ms: u64 },
    /// Says that not one byte of a delivery was written, so that it was never handed out.
    Return { agent: AgentKey, delivery: DeliveryId },
    /// Gives a dead letter another try.
    RetryDead { message: MessageId, entry: EntryKey },
    /// Clears a dead letter away.
    DropDead { message: MessageId, entry: EntryKey },
    /// Says that nobody waits for the reply any more.
    EndWait { message: MessageId },
    /// What [`crate::Broker::due`] found.
    Due(Due),
    /// Carries a living body to the end of the log, so that its old place can be trimmed. Refused if the body lies
    /// elsewhere by now, or nothing needs it any more.
    Carry { of: Holder, place: Seq, body: Bytes },
    /// Sets how much is remembered of what is over.
    Tune(Retention),
    /// Writes and removes records of a repository with the messages that they are, all together or not at all.
    Commit(Box<Commit>),
    /// Changes a task, an agent's state, an allotment or the policy.
    ChangeState(Box<StateChange>),
    /// Says yes or no to what waits for a human.
    JudgeGate { gate: MessageId, by: AgentKey, approved: bool, reason: Box<str> },
    /// Claims a task for an agent.
    Claim(Box<Claim>),
    /// Notes what an agent can do.
    Equip { agent: AgentKey, capabilities: Vec<Box<str>> },
    /// Notes what an agent says of itself.
    Sign { agent: AgentKey, sign: Box<Sign> },
}

/// An agent to make known.
#[derive(Clone, Debug)]
pub struct Register {
    /// Its name.
    pub name: AgentName,
    /// Every other name by which it is known: DID, handle, URI, deprecated id. Replaces those that it had.
    pub aliases: Vec<Box<str>>,
    /// The language that it speaks.
    pub dialect: Dialect,
    /// Whatever else the doors want to know of it; kept, not read.
    pub profile: Vec<u8>,
    /// What must be known of the agent before.
    pub swap: ProfileSwap,
    /// The roles, topics and channels that it joins.
    pub joins: Vec<Address>,
    /// What it can do, if that changes.
    pub capabilities: Option<Vec<Box<str>>>,
}

impl Register {
    /// Registers an agent of our own dialect of which nothing else is known, whatever was known before.
    pub fn of(name: AgentName) -> Self {
        Register {
            name,
            aliases: Vec::new(),
            dialect: Dialect::Convoke,
            profile: Vec::new(),
            swap: ProfileSwap::Anything,
            joins: Vec::new(),
            capabilities: None,
        }
    }
}

/// What must be known of an agent before it is registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProfileSwap {
    /// Whatever there is.
    Anything,
    /// Nothing: no agent has this name.
    New,
    /// This profile.
    Is(Box<[u8]>),
}

/// A wish to have a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Who wants it.
    pub by: AgentKey,
    /// The task; the next one that the agent may have, if it names none.
    pub task: Option<Box<str>>,
    /// The role whose next task is wanted; of all the agent's, if it names none.
    pub role: Option<Address>,
    /// How long the task is the agent's without a sign of life.
    pub lease_ms: Option<u64>,
    /// What a repeat of the claim is known by.
    pub key: SmolStr,
}

/// What an agent says of itself, alone or with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sign {
    /// How it is.
    pub state: PresenceState,
    /// What else it says; nothing keeps what it said before.
    pub detail: Option<Vec<u8>>,
    /// How good it is, in millionths; nothing keeps what it said before.
    pub quality: Option<u32>,
    /// From when on it takes work; nothing keeps what it said before.
    pub from: Option<Time>,
}

impl Sign {
    /// Says how an agent is; everything else stays as it was.
    pub fn of(state: PresenceState) -> Self {
        Sign { state, detail: None, quality: None, from: None }
    }
}

/// A message to take in.
#[derive(Clone, Debug)]
pub struct Accept {
    /// Who sends it; from the credential, never from the document.
    pub from: AgentKey,
    /// To whom it goes.
    pub to: Vec<Address>,
    /// What it means.
    pub kind: Kind,
    /// How urgent it is.
    pub priority: Priority,
    /// How hard to try.
    pub guarantee: Guarantee,
    /// How a repeat of it is known.
    pub identity: Identity,
    /// What the document says, without what its dialect calls volatile.
    pub fingerprint: Fingerprint,
    /// The task whose order it keeps.
    pub task: Option<SmolStr>,
    /// The conversation.
    pub thread: Option<SmolStr>,
    /// What it answers: our id, or the id that the other side gave.
    pub reply_to: Option<SmolStr>,
    /// When its sender made it, by the sender's clock.
    pub created: Option<Time>,
    /// When it is no longer wanted, by the sender's clock.
    pub expires: Option<Time>,
    /// How long it is wanted from its creation on.
    pub lifetime_ms: Option<u64>,
    /// How long each recipient has to take it.
    pub timeout_ms: Option<u64>,
    /// How often to try again.
    pub retries: Option<u32>,
    /// How the pauses between tries grow.
    pub backoff: Option<Backoff>,
    /// Who gets it when the recipient does not take it, in order.
    pub fallback: Vec<AgentRef>,
    /// How long the sender waits for a reply, if it does.
    pub wait_ms: Option<u64>,
    /// Whether it is only for those who are connected now.
    pub live_only: bool,
    /// Whether it may wait for a recipient that is not registered yet.
    pub hold: bool,
    /// How often it was forwarded already.
    pub hops: u8,
    /// The document and whatever the doors keep with it. Not read here.
    pub body: Bytes,
    /// What it says about work, if it says anything beside its kind and its task.
    pub intent: Option<Box<TaskIntent>>,
    /// The role, topic or channel in which its sender says that it is. It joins before the message is decided, and stays
    /// a member though the message is refused.
    pub joins: Option<Address>,
    /// What its sender says of itself. It is noted before the message is decided, and though the message is refused.
    pub sign: Option<Box<Sign>>,
    /// What it changes of the shared state. Refused together with the message; a repeat changes nothing.
    pub update: Option<Box<StateChange>>,
    /// Whether the reply says what became of it with each recipient.
    pub with_recipients: WithRecipients,
}

impl Accept {
    /// Makes a message that asks for nothing special.
    pub fn new(from: AgentKey, to: Vec<Address>, kind: Kind, identity: Identity, body: Bytes) -> Self {
        Accept {
            from,
            to,
            kind,
            priority: Priority::Normal,
            guarantee: Guarantee::AtLeastOnce,
            identity,
            fingerprint: Fingerprint::of(&[&body]),
            task: None,
            thread: None,
            reply_to: None,
            created: None,
            expires: None,
            lifetime_ms: None,
            timeout_ms: None,
            retries: None,
            backoff: None,
            fallback: Vec::new(),
            wait_ms: None,
            live_only: false,
            hold: false,
            hops: 0,
            body,
            intent: None,
            joins: None,
            sign: None,
            update: None,
            with_recipients: WithRecipients::Never,
        }
    }
}

/// When the reply to a message says what became of it with each recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithRecipients {
    /// Never: they are not looked at.
    Never,
    /// When the message was accepted before.
    IfRepeated,
    /// Always.
    Always,
}

/// How a repeat of a message is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// By the id that the sender gave, or a key that it sent along.
    Native(SmolStr),
    /// By what it says, for a short while.
    Content,
}

impl Identity {
    /// Returns the id that the sender gave.
    pub(crate) fn native(&self) -> Option<&str> {
        match self {
            Identity::Native(id) => Some(id),
            Identity::Content => None,
        }
    }
}

/// A wish to be given messages.
#[derive(Clone, Debug)]
pub struct Take {
    /// For whom.
    pub agent: AgentKey,
    /// Over which connection, if the lease is to end with one.
    pub session: Option<SessionKey>,
    /// At most how many.
    pub max: u32,
    /// At most how many bytes of bodies; one message is given in any case.
    pub bytes_max: u64,
    /// For how long.
    pub lease_ms: u64,
    /// By which gateway, for the receipt.
    pub by: SmolStr,
}

/// A delivery that its recipient does not want, or not now.
#[derive(Clone, Debug)]
pub struct Nack {
    /// Whose it is.
    pub agent: AgentKey,
    /// Which.
    pub delivery: DeliveryId,
    /// Why.
    pub reason: Box<str>,
    /// When to try again.
    pub delay: Delay,
}

/// When to try again after a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// As the backoff says.
    Backoff,
    /// After this time.
    Ms(u64),
    /// Never, and nobody else is to try either.
    Never,
}

/// Writes of one repository that belong together, and the messages that the records are: all of it or nothing.
#[derive(Clone, Debug)]
pub struct Commit {
    /// Whose repository it is.
    pub repo: AgentKey,
    /// Its DID; the commit and its messages are known by names that begin with it.
    pub did: Box<str>,
    /// The commit that must be the last one, if that matters.
    pub swap: Option<Digest>,
    /// What is written; no record twice.
    pub writes: Vec<RecordWrite>,
}

/// A change of one record. One that would change nothing is left out.
#[derive(Clone, Debug)]
pub struct RecordWrite {
    /// Its collection.
    pub collection: Box<str>,
    /// Its key; without one it gets the TID of the write's tick.
    pub key: Option<Box<str>>,
    /// What must be there before.
    pub swap: Swap,
    /// What becomes of it.
    pub change: RecordChange,
}

/// What must be there before something is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swap {
    /// Whatever there is, if anything.
    Anything,
    /// No record.
    Nothing,
    /// A record.
    Something,
    /// The record that is known by this, or none.
    Is(Option<Digest>),
}

/// What becomes of a record.
#[derive(Clone, Debug)]
pub enum RecordChange {
    /// It is stored, or stored differently.
    Set {
        /// What it is known by.
        cid: Digest,
        /// What it says. Not read here.
        document: Bytes,
        /// The message that it is: sent with a new record, amended with one that was sent before. Where its body is
        /// the document, the document is stored once.
        submit: Option<Box<Accept>>,
        /// The blobs to which it refers.
        blobs: Vec<Digest>,
    },
    /// It is gone, and the message that it was is taken back; if it was not there, nothing happens.
    Remove,
}

/// Something whose time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// The lease of a delivery is over.
    Lease(EntryKey),
    /// A retry may start.
    Retry(EntryKey),
    /// A recipient has had its time to take a message.
    Offer(EntryKey),
    /// A message is no longer wanted.
    Expiry(MessageKey),
    /// The time of somebody who waits for a reply is over.
    Wait(MessageKey),
    /// A delivery was on its way over a connection that is gone.
    Stray(EntryKey),
    /// A message waits for an agent that is gone.
    Orphan(EntryKey),
    /// The oldest message of a topic or channel whose members have not all taken it, where there are too many.
    Overflow(GroupKey),
    /// Something about work.
    Work(WorkDue),
}
