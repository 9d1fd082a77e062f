//! Requests: commands as somebody holds them before they are carried out; they own what they carry.

use std::rc::Rc;

use broker::{
    Accept, AgentKey, Command, Commit, Delay, Digest, Document, Door, EntryKey, Fingerprint, Identity, Nack,
};
use broker::{
    RecordChange, RecordWrite, Register, Retention, Saying, SessionKey, StateChange, Swap, Take, Time,
};
use message::{Address, AgentName, AgentRef, Backoff, DeliveryId, Dialect, Guarantee, Kind, MessageId};
use message::{PresenceState, Priority};

use crate::said::{Changed, Said};
use crate::step::NackDelay;

/// By whom everything is handed over; receipts name it.
pub(crate) const BY: &str = "sim";

/// What the bus is asked for.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    Register { name: AgentName, aliases: Vec<String> },
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
    RetryDead { entry: EntryKey },
    DropDead { entry: EntryKey },
    EndWait { message: MessageId },
    Tune(Retention),
    Record(Recorded),
    ChangeState(Box<Changed>),
    JudgeGate { gate: MessageId, by: AgentKey, approved: bool },
    Equip { agent: AgentKey, capabilities: Vec<&'static str> },
    Fit { agent: AgentKey, quality: Option<u32>, from: Time },
}

/// A record that somebody writes or removes.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) repo: AgentKey,
    /// Its collection and key.
    pub(crate) name: (&'static str, &'static str),
    pub(crate) how: Recording,
}

/// What becomes of a record.
#[derive(Clone, Debug)]
pub(crate) enum Recording {
    Here(Rc<[u8]>),
    OfMessage(MessageId),
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
    pub(crate) task: Option<&'static str>,
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
}

/// What a command borrows beside the request.
#[derive(Clone, Copy)]
struct Borrowed<'a> {
    names: &'a [&'a str],
    tick: u64,
    writes: &'a [RecordWrite<'a>],
    saying: Option<&'a Saying<'a>>,
    changes: &'a json::Object<'a>,
}

impl Request {
    /// Lends the request as a command; a write has the tick that is next.
    pub(crate) fn with_command<R>(&self, tick: u64, run: impl FnOnce(&Command<'_>) -> R) -> R {
        let mut names: Vec<&str> = Vec::new();
        if let Request::Register { aliases, .. } = self {
            names.extend(aliases.iter().map(String::as_str));
        }
        let writes = if let Request::Record(recorded) = self { vec![recorded.write()] } else { Vec::new() };
        let saying = if let Request::Accept(sent) = self {
            sent.said.as_ref().map(|said| said.saying())
        } else {
            None
        };
        let document =
            if let Request::ChangeState(changed) = self { changed.document() } else { String::new() };
        let changes = json::parse(document.as_bytes(), json::Limits::DOCUMENT).ok();
        let changes = changes.as_ref().and_then(json::Value::as_object).cloned().unwrap_or_default();
        let borrowed =
            Borrowed { names: &names, tick, writes: &writes, saying: saying.as_ref(), changes: &changes };
        run(&self.command(&borrowed))
    }

    /// Tells whether it adds to what the bus holds, and so must be refused when there is no room.
    pub(crate) fn is_new_work(&self) -> bool {
        match self {
            Request::Accept(_)
            | Request::Amend { .. }
            | Request::Register { .. }
            | Request::Join { .. }
            | Request::ChangeState(_)
            | Request::Equip { .. }
            | Request::Fit { .. }
            | Request::Record(Recorded { how: Recording::Here(_) | Recording::OfMessage(_), .. }) => true,
            Request::Remove { .. }
            | Request::Leave { .. }
            | Request::Presence { .. }
            | Request::Connect { .. }
            | Request::Disconnect { .. }
            | Request::Restart
            | Request::Wake
            | Request::Take(_)
            | Request::Surface { .. }
            | Request::Ack { .. }
            | Request::Process { .. }
            | Request::Nack { .. }
            | Request::Extend { .. }
            | Request::Return { .. }
            | Request::Retract { .. }
            | Request::Resume { .. }
            | Request::RetryDead { .. }
            | Request::DropDead { .. }
            | Request::EndWait { .. }
            | Request::Tune(_)
            | Request::JudgeGate { .. }
            | Request::Record(Recorded { how: Recording::Remove, .. }) => false,
        }
    }

    fn command<'a>(&'a self, borrowed: &Borrowed<'a>) -> Command<'a> {
        let Borrowed { names: aliases, tick, writes, saying, changes } = *borrowed;
        match self {
            Request::Register { name, .. } => {
                Command::Register(Register { name, aliases, dialect: Dialect::Convoke, profile: b"" })
            }
            Request::Accept(sent) => Command::Accept(Box::new(sent.accept(saying))),
            Request::Remove { agent } => Command::Remove { agent: *agent },
            Request::Join { agent, address } => Command::Join { agent: *agent, address },
            Request::Leave { agent, address } => Command::Leave { agent: *agent, address },
            Request::Presence { agent, state } => {
                Command::SetPresence { agent: *agent, state: *state, detail: b"" }
            }
            Request::Connect { agent } => Command::OpenSession { agent: *agent, door: Door::ALL[0] },
            Request::Disconnect { session } => Command::CloseSession { session: *session },
            Request::Restart => Command::Restart,
            Request::Wake => Command::Wake,
            Request::Take(wish) => Command::Take(wish.take()),
            Request::Surface { agent, delivery } => {
                Command::Surface { agent: *agent, delivery: *delivery, by: BY }
            }
            Request::Ack { agent, delivery } => Command::Ack { agent: *agent, delivery: *delivery, by: BY },
            Request::Process { agent, message } => {
                Command::Process { agent: *agent, message: *message, by: BY }
            }
            Request::Nack { agent, delivery, delay } => Command::Nack(nack(*agent, *delivery, *delay)),
            Request::Extend { agent, delivery, lease_ms } => {
                Command::Extend { agent: *agent, delivery: *delivery, lease_ms: *lease_ms }
            }
            Request::Return { agent, delivery } => Command::Return { agent: *agent, delivery: *delivery },
            Request::Retract { message, by } => Command::Retract { message: *message, by: *by },
            Request::Amend { message, by, body } => {
                Command::Amend { message: *message, by: *by, body: body.as_ref() }
            }
            Request::Resume { message } => Command::Resume { message: *message },
            Request::RetryDead { entry } => Command::RetryDead { entry: *entry },
            Request::DropDead { entry } => Command::DropDead { entry: *entry },
            Request::EndWait { message } => Command::EndWait { message: *message },
            Request::Tune(retention) => Command::Tune(*retention),
            Request::ChangeState(changed) => Command::ChangeState(StateChange {
                by: changed.by,
                operation: changed.operation,
                entity: changed.entity,
                id: &changed.id,
                changes,
                version: changed.version,
            }),
            Request::JudgeGate { gate, by, approved } => {
                Command::JudgeGate { gate: *gate, by: *by, approved: *approved, reason: "" }
            }
            Request::Equip { agent, capabilities } => Command::Equip { agent: *agent, capabilities },
            Request::Fit { agent, quality, from } => {
                Command::Fit { agent: *agent, quality: *quality, from: *from }
            }
            Request::Record(Recorded { repo, .. }) => {
                let commit = Digest([0; 32]);
                Command::Commit(Commit { repo: *repo, swap: None, commit, tick, writes })
            }
        }
    }
}

impl Recorded {
    fn write(&self) -> RecordWrite<'_> {
        let set = |document, message| {
            let (cid, blobs) = (Digest([0; 32]), &[][..]);
            RecordChange::Set { cid, document, message, blobs }
        };
        let change = match &self.how {
            Recording::Here(body) => set(Document::Here(body), None),
            Recording::OfMessage(id) => set(Document::OfMessage(*id), Some(*id)),
            Recording::Remove => RecordChange::Remove,
        };
        let (collection, key) = self.name;
        RecordWrite { collection, key, swap: Swap::Anything, change }
    }
}

impl TakeWish {
    fn take(&self) -> Take<'static> {
        Take {
            agent: self.agent,
            session: self.session,
            max: self.max,
            bytes_max: self.bytes_max,
            lease_ms: self.lease_ms,
            by: BY,
        }
    }
}

impl Sent {
    /// Returns what the document says, which is what its repeat must say too.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&[self.body.as_ref()])
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
        }
    }

    fn accept<'a>(&'a self, saying: Option<&'a Saying<'a>>) -> Accept<'a> {
        Accept {
            from: self.from,
            to: &self.to,
            kind: self.kind,
            priority: self.priority,
            guarantee: self.guarantee,
            identity: self.native_id.as_deref().map_or(Identity::Content, Identity::Native),
            fingerprint: self.fingerprint(),
            task: self.task,
            thread: self.thread,
            reply_to: self.reply_to.as_deref(),
            created: self.created,
            expires: self.expires,
            lifetime_ms: self.lifetime_ms,
            timeout_ms: self.timeout_ms,
            retries: self.retries,
            backoff: self.backoff,
            fallback: &self.fallback,
            wait_ms: self.wait_ms,
            live_only: self.live_only,
            hold: self.hold,
            saying,
            hops: self.hops,
            body: &self.body,
        }
    }
}

fn nack(agent: AgentKey, delivery: DeliveryId, delay: NackDelay) -> Nack<'static> {
    let delay = match delay {
        NackDelay::Backoff => Delay::Backoff,
        NackDelay::Ms(ms) => Delay::Ms(ms),
        NackDelay::Never => Delay::Never,
    };
    Nack { agent, delivery, reason: "not now", delay }
}
