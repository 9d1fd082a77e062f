//! Requests: commands as somebody holds them before they are carried out; they own what they carry.

use std::rc::Rc;

use broker::WithRecipients;
use broker::{Accept, AgentKey, Claim, Command, Commit, Delay, Digest, Door, EntryKey, Identity, Nack};
use broker::{
    ProfileSwap, RecordChange, RecordWrite, Register, Retention, SessionKey, Sign, Swap, Take, Time,
};
use bytes::Bytes;
use message::{Address, AgentName, AgentRef, Backoff, DeliveryId, Guarantee, Kind, MessageId};
use message::{PresenceState, Priority};

use crate::said::{Changed, Said};
use crate::step::NackDelay;

/// By whom everything is handed over; receipts name it.
pub(crate) const BY: &str = "sim";

/// What the bus is asked for.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    Register(Box<Registered>),
    Remove { agent: AgentKey },
    Join { agent: AgentKey, address: Address },
    Leave { agent: AgentKey, address: Address },
    Presence { agent: AgentKey, state: PresenceState },
    Connect { agent: AgentKey },
    Disconnect { session: SessionKey },
    Restart,
    Wake,
    Accept(Rc<Sent>),
    Take(TakeWish),
    Surface { agent: AgentKey, delivery: DeliveryId },
    Ack { agent: AgentKey, delivery: DeliveryId },
    Process { agent: AgentKey, message: MessageId },
    Nack { agent: AgentKey, delivery: DeliveryId, delay: NackDelay },
    Extend { agent: AgentKey, delivery: DeliveryId, lease_ms: u64 },
    Return { agent: AgentKey, delivery: DeliveryId },
    Retract { message: MessageId, by: AgentKey },
    Amend { message: MessageId, by: AgentKey, body: Rc<[u8]> },
    Resume { message: MessageId },
    RetryDead { message: MessageId, entry: EntryKey },
    DropDead { message: MessageId, entry: EntryKey },
    EndWait { message: MessageId },
    Tune(Retention),
    Commit(Rc<Recorded>),
    ChangeState(Box<Changed>),
    Claim(Box<Claimed>),
    JudgeGate { gate: MessageId, by: AgentKey, approved: bool },
    Equip { agent: AgentKey, capabilities: Vec<&'static str> },
    Sign { agent: AgentKey, sign: Sign },
}

/// An agent that is registered.
#[derive(Clone, Debug)]
pub(crate) struct Registered {
    pub(crate) name: AgentName,
    pub(crate) aliases: Vec<String>,
    pub(crate) profile: Vec<u8>,
    pub(crate) swap: ProfileSwap,
    pub(crate) join: Option<Address>,
    pub(crate) capabilities: Option<Vec<&'static str>>,
}

/// A wish to have a task.
#[derive(Clone, Debug)]
pub(crate) struct Claimed {
    pub(crate) by: AgentKey,
    pub(crate) task: Option<&'static str>,
    pub(crate) role: Option<Address>,
    pub(crate) lease_ms: Option<u64>,
    pub(crate) key: String,
}

/// Records that somebody writes and removes in one commit.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) repo: AgentKey,
    pub(crate) did: String,
    /// The commit that must be the last one.
    pub(crate) swap: Option<Digest>,
    pub(crate) writes: Vec<Writing>,
}

/// A record that somebody writes or removes.
#[derive(Clone, Debug)]
pub(crate) struct Writing {
    pub(crate) collection: &'static str,
    /// Its key, unless the bus is to make one.
    pub(crate) key: Option<Rc<str>>,
    pub(crate) swap: Swap,
    pub(crate) how: Recording,
}

/// What becomes of a record.
#[derive(Clone, Debug)]
pub(crate) enum Recording {
    /// It says this, and may be a message.
    Set(Rc<[u8]>, Option<Rc<Sent>>),
    Remove,
}

/// A wish to be given messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TakeWish {
    pub(crate) agent: AgentKey,
    pub(crate) session: Option<SessionKey>,
    pub(crate) max: u32,
    pub(crate) bytes_max: u64,
    pub(crate) lease_ms: u64,
}

/// A message as its sender wrote it.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) from: AgentKey,
    pub(crate) to: Vec<Address>,
    pub(crate) kind: Kind,
    pub(crate) priority: Priority,
    pub(crate) guarantee: Guarantee,
    pub(crate) native_id: Option<String>,
    pub(crate) task: Option<Rc<str>>,
    pub(crate) thread: Option<&'static str>,
    pub(crate) reply_to: Option<String>,
    pub(crate) created: Option<Time>,
    pub(crate) expires: Option<Time>,
    pub(crate) lifetime_ms: Option<u64>,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) retries: Option<u32>,
    pub(crate) backoff: Option<Backoff>,
    pub(crate) fallback: Vec<AgentRef>,
    pub(crate) wait_ms: Option<u64>,
    pub(crate) live_only: bool,
    pub(crate) hold: bool,
    pub(crate) hops: u8,
    pub(crate) body: Rc<[u8]>,
    /// What it says about work.
    pub(crate) said: Option<Box<Said>>,
    /// The group in which its sender says that it is.
    pub(crate) joins: Option<Address>,
    /// What its sender says of itself.
    pub(crate) sign: Option<Sign>,
    /// What it changes of the shared state.
    pub(crate) update: Option<Box<Changed>>,
}

impl Request {
    /// Makes a command of it.
    pub(crate) fn command(&self) -> Command {
        match self {
            Request::Register(registered) => Command::Register(Box::new(registered.register())),
            Request::Accept(sent) => Command::Accept(Box::new(sent.accept())),
            Request::Remove { agent } => Command::Remove { agent: *agent },
            Request::Join { agent, address } => Command::Join { agent: *agent, address: address.clone() },
            Request::Leave { agent, address } => Command::Leave { agent: *agent, address: address.clone() },
            Request::Presence { agent, state } => {
                Command::SetPresence { agent: *agent, state: *state, detail: Vec::new() }
            }
            Request::Connect { agent } => Command::OpenSession { agent: *agent, door: Door::ALL[0] },
            Request::Disconnect { session } => Command::CloseSession { session: *session },
            Request::Restart => Command::Restart,
            Request::Wake => Command::Wake,
            Request::Take(wish) => Command::Take(wish.take()),
            Request::Surface { agent, delivery } => {
                Command::Surface { agent: *agent, delivery: *delivery, by: BY.into() }
            }
            Request::Ack { agent, delivery } => {
                Command::Ack { agent: *agent, delivery: *delivery, by: BY.into() }
            }
            Request::Process { agent, message } => {
                Command::Process { agent: *agent, message: *message, by: BY.into() }
            }
            Request::Nack { agent, delivery, delay } => Command::Nack(nack(*agent, *delivery, *delay)),
            Request::Extend { agent, delivery, lease_ms } => {
                Command::Extend { agent: *agent, delivery: *delivery, lease_ms: *lease_ms }
            }
            Request::Return { agent, delivery } => Command::Return { agent: *agent, delivery: *delivery },
            Request::Retract { message, by } => Command::Retract { message: *message, by: *by },
            Request::Amend { message, by, body } => {
                Command::Amend { message: *message, by: *by, body: Bytes::copy_from_slice(body) }
            }
            Request::Resume { message } => Command::Resume { message: *message },
            Request::RetryDead { message, entry } => Command::RetryDead { message: *message, entry: *entry },
            Request::DropDead { message, entry } => Command::DropDead { message: *message, entry: *entry },
            Request::EndWait { message } => Command::EndWait { message: *message },
            Request::Tune(retention) => Command::Tune(*retention),
            Request::ChangeState(changed) => Command::ChangeState(Box::new(changed.change())),
            Request::JudgeGate { gate, by, approved } => {
                Command::JudgeGate { gate: *gate, by: *by, approved: *approved, reason: "".into() }
            }
            Request::Claim(claimed) => Command::Claim(Box::new(claimed.claim())),
            Request::Equip { agent, capabilities } => {
                let capabilities = capabilities.iter().map(|text| (*text).into()).collect();
                Command::Equip { agent: *agent, capabilities }
            }
            Request::Sign { agent, sign } => Command::Sign { agent: *agent, sign: Box::new(sign.clone()) },
            Request::Commit(recorded) => Command::Commit(Box::new(recorded.commit())),
        }
    }
}

impl Claimed {
    fn claim(&self) -> Claim {
        let (role, key) = (self.role.clone(), self.key.as_str().into());
        Claim { by: self.by, task: self.task.map(Box::from), role, lease_ms: self.lease_ms, key }
    }
}

impl Registered {
    fn register(&self) -> Register {
        let boxed = |text: &&'static str| Box::from(*text);
        Register {
            aliases: self.aliases.iter().map(|alias| alias.as_str().into()).collect(),
            profile: self.profile.clone(),
            swap: self.swap.clone(),
            joins: self.join.iter().cloned().collect(),
            capabilities: self.capabilities.as_ref().map(|all| all.iter().map(boxed).collect()),
            ..Register::of(self.name.clone())
        }
    }
}

impl Recorded {
    fn commit(&self) -> Commit {
        let writes = self.writes.iter().map(Writing::write).collect();
        Commit { repo: self.repo, did: self.did.as_str().into(), swap: self.swap, writes }
    }
}

impl Writing {
    fn write(&self) -> RecordWrite {
        let change = match &self.how {
            Recording::Set(document, sent) => {
                let submit = sent.as_ref().map(|sent| Box::new(sent.accept()));
                let (cid, document) = (cid_of(document), Bytes::copy_from_slice(document));
                RecordChange::Set { cid, document, submit, blobs: Vec::new() }
            }
            Recording::Remove => RecordChange::Remove,
        };
        let key = self.key.as_deref().map(Into::into);
        RecordWrite { collection: self.collection.into(), key, swap: self.swap, change }
    }
}

/// Makes what a document is known by: no other begins like it.
pub(crate) fn cid_of(document: &[u8]) -> Digest {
    let mut cid = Digest::default();
    cid.0.iter_mut().zip(document).for_each(|(byte, text)| *byte = *text);
    cid
}

impl TakeWish {
    fn take(&self) -> Take {
        Take {
            agent: self.agent,
            session: self.session,
            max: self.max,
            bytes_max: self.bytes_max,
            lease_ms: self.lease_ms,
            by: BY.into(),
        }
    }
}

impl Sent {
    /// Makes a message that asks for nothing beyond its kind.
    pub(crate) fn new(from: AgentKey, to: Vec<Address>, kind: Kind, body: Rc<[u8]>) -> Self {
        Sent {
            from,
            to,
            kind,
            priority: Priority::Normal,
            guarantee: Guarantee::AtLeastOnce,
            native_id: None,
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
            said: None,
            joins: None,
            sign: None,
            update: None,
        }
    }

    /// Makes what the bus itself sends; what it says, nobody outside knows.
    pub(crate) fn notice(kind: Kind, priority: Priority) -> Self {
        Sent {
            from: AgentKey::SYSTEM,
            to: Vec::new(),
            kind,
            priority,
            guarantee: Guarantee::AtLeastOnce,
            native_id: None,
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
            body: Rc::from(&b""[..]),
            said: None,
            joins: None,
            sign: None,
            update: None,
        }
    }

    fn accept(&self) -> Accept {
        let native_id = self.native_id.as_deref();
        let identity = native_id.map_or(Identity::Content, |id| Identity::Native(id.into()));
        let body = Bytes::copy_from_slice(&self.body);
        Accept {
            priority: self.priority,
            guarantee: self.guarantee,
            task: self.task.as_deref().map(Into::into),
            thread: self.thread.map(Into::into),
            reply_to: self.reply_to.as_deref().map(Into::into),
            created: self.created,
            expires: self.expires,
            lifetime_ms: self.lifetime_ms,
            timeout_ms: self.timeout_ms,
            retries: self.retries,
            backoff: self.backoff,
            fallback: self.fallback.clone(),
            wait_ms: self.wait_ms,
            live_only: self.live_only,
            hold: self.hold,
            intent: self.said.as_ref().map(|said| Box::new(said.intent())),
            hops: self.hops,
            joins: self.joins.clone(),
            sign: self.sign.clone().map(Box::new),
            update: self.update.as_ref().map(|changed| Box::new(changed.change())),
            with_recipients: WithRecipients::Always,
            ..Accept::new(self.from, self.to.clone(), self.kind, identity, body)
        }
    }
}

fn nack(agent: AgentKey, delivery: DeliveryId, delay: NackDelay) -> Nack {
    let delay = match delay {
        NackDelay::Backoff => Delay::Backoff,
        NackDelay::Ms(ms) => Delay::Ms(ms),
        NackDelay::Never => Delay::Never,
    };
    Nack { agent, delivery, reason: "not now".into(), delay }
}
