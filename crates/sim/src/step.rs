//! Steps: what happens in a run, one after the other.
//!
//! A step names things by a number that is taken modulo what is there when it happens, so that any step can be left
//! out and the rest still means something. That is what makes a failing run short.

use broker::Operation;
use message::{Backoff, Guarantee, Kind, PresenceState, Priority};

use crate::rules::Rules;
use crate::said::Said;

/// Something that happens.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Somebody asks the bus for something; it waits for the next turn.
    Ask(Ask),
    /// The bus works off what it was asked and what is due, and appends it to the log.
    Turn,
    /// The log is made durable, and answers leave.
    Sync,
    /// Time passes.
    Pass { ms: u64 },
    /// Somebody sets the wall clock.
    Jump { ms: i64 },
    /// The machine sleeps.
    Sleep { ms: u64 },
    /// A snapshot is folded from the last one and the log.
    Snapshot,
    /// Living bodies are carried forward and what is before them is given up.
    Trim,
    /// The process dies; another starts after a while.
    Crash(Crash),
    /// The disk is full, but for so many bytes.
    DiskFull { bytes: u64 },
    /// The disk has room again.
    DiskFreed,
    /// The next sync goes wrong, or another operation soon after its beginning.
    SyncFault { after: u64, fault: DiskFault },
    /// The next write goes wrong, or another operation soon after it.
    WriteFault { after: u64, fault: DiskFault },
    /// The log refuses the next append.
    Refuse,
    /// Something acknowledged rots on the disk while the process is down; the log must say so.
    Rot { pick: u64 },
}

/// How the process dies and what of the disk is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crash {
    pub(crate) at: CrashPoint,
    /// Whether the power goes too, and with it what was not synced; decides what exactly is lost.
    pub(crate) power: Option<u64>,
    /// At which operation of the recovery the power goes again.
    pub(crate) again: Option<u64>,
    /// For how long nothing runs.
    pub(crate) down_ms: u64,
}

/// What goes wrong with one operation of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiskFault {
    Error,
    Full,
    Interrupted,
    Short,
}

/// Where in a commit the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CrashPoint {
    /// What was asked is worked off, nothing is written.
    BeforeWrite,
    /// It is written, not synced.
    AfterWrite,
    /// The sync is under way: any part of it has reached the disk.
    DuringSync,
    /// It is durable, and no answer has left.
    AfterSync,
    /// Nothing is under way.
    Idle,
}

/// An agent that is registered.
#[derive(Clone, Debug)]
pub(crate) struct RegisterPlan {
    pub(crate) agent: u8,
    pub(crate) alias: bool,
    /// Which profile it has.
    pub(crate) profile: u8,
    pub(crate) swap: ProfileSwapPlan,
    pub(crate) join: Option<u8>,
    pub(crate) capabilities: Option<Vec<&'static str>>,
}

/// What whoever registers an agent believes to be known of it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ProfileSwapPlan {
    /// Nothing in particular.
    Anything,
    /// Nothing at all.
    New,
    /// What is known of it now.
    Current,
    /// This profile.
    Profile(u8),
}

/// What somebody asks of the bus.
#[derive(Clone, Debug)]
pub(crate) enum Ask {
    Register(RegisterPlan),
    Remove {
        agent: u8,
    },
    /// An agent that comes, goes, or wants to be given messages.
    Be {
        agent: u8,
        what: Being,
    },
    Send(Box<Letter>),
    /// A sender that repeats itself, whether it got an answer or not.
    Again {
        send: u32,
        change: Change,
    },
    /// An agent that replies to what it was given.
    Answer {
        agent: u8,
        delivery: u32,
        kind: Kind,
        native: bool,
        task: Option<u8>,
        said: Option<Box<Said>>,
    },
    /// An agent that does something with what it was given.
    Handle {
        agent: u8,
        delivery: u32,
        how: Handling,
    },
    /// Somebody who has second thoughts about a message.
    Meddle {
        message: u32,
        how: Meddling,
    },
    /// An agent that keeps something, or keeps it no longer, in one commit.
    Keep {
        agent: u8,
        /// Whether it says which commit it believes to be the last one, and is right.
        swap: Option<bool>,
        writes: Vec<KeepPlan>,
    },
    /// Somebody who changes the shared state.
    Change(Box<ChangePlan>),
    /// The human, or somebody who is not, judges a gate.
    Judge {
        nth: u32,
        approved: bool,
        honest: bool,
    },
    Claim {
        agent: u8,
        task: Option<u8>,
        group: Option<u8>,
        lease_ms: Option<u64>,
        /// By which a repeat is known.
        key: u8,
    },
    Equip {
        agent: u8,
        capabilities: Vec<&'static str>,
    },
    Sign {
        agent: u8,
        sign: SignPlan,
    },
    RetryDead {
        nth: u32,
    },
    DropDead {
        nth: u32,
    },
}

/// What an agent says of itself; it takes work from so long from now on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignPlan {
    pub(crate) state: PresenceState,
    pub(crate) quality: Option<u32>,
    pub(crate) from_ms: Option<u64>,
}

/// A change of the shared state.
#[derive(Clone, Debug)]
pub(crate) struct ChangePlan {
    pub(crate) by: u8,
    /// Decides which one is changed.
    pub(crate) which: u32,
    pub(crate) operation: Operation,
    pub(crate) what: Wanted,
    /// By how much the version that it names lies above the one that is there.
    pub(crate) version: Option<i8>,
}

/// What it changes.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    Note,
    Status(&'static str),
    Assign(u8),
    Task { dependencies: Vec<&'static str>, budget: Option<u64>, assigned: Option<u8> },
    Presence(PresenceState),
    Rules(Rules),
    Allotment { agent: u8, is_money: bool, limit: u64 },
}

/// What an agent is about, itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Being {
    Join {
        group: u8,
    },
    Leave {
        group: u8,
    },
    Presence {
        state: PresenceState,
    },
    Connect,
    Disconnect {
        session: u8,
    },
    Take {
        session: Option<u8>,
        max: u8,
        bytes_max: u16,
        lease_ms: u64,
    },
    /// A connection that waits to be given messages.
    Credit {
        session: u8,
        credit: u8,
        lease_ms: u64,
    },
}

/// What an agent does with what it was given.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Handling {
    Surface,
    Ack,
    Process,
    Nack(NackDelay),
    Extend {
        lease_ms: u64,
    },
    /// Nothing of it was written, so it was never given.
    Return,
}

/// What becomes of a message by second thoughts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Meddling {
    Retract { honest: bool },
    Amend { honest: bool, body_len: u16 },
    Resume,
    EndWait,
}

/// A record that is kept, or kept no longer.
#[derive(Clone, Debug)]
pub(crate) struct KeepPlan {
    pub(crate) name: NamePlan,
    pub(crate) swap: SwapPlan,
    pub(crate) how: Keeping,
}

/// Which record.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NamePlan {
    /// One of those that may be.
    Known(u8),
    /// One whose key the bus has made.
    Made(u32),
    /// A new one, whose key the bus makes.
    New { is_message: bool },
}

/// What is believed to be there before.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SwapPlan {
    Anything,
    Nothing,
    Something,
    /// What is there, or something else.
    Is {
        honest: bool,
    },
}

/// What becomes of a record.
#[derive(Clone, Debug)]
pub(crate) enum Keeping {
    Write {
        body_len: u16,
    },
    /// It is a message; to those to whom it went before, if it was one.
    Send {
        letter: Box<Letter>,
        /// Whether the message says what the record says.
        is_same: bool,
        same_to: bool,
    },
    /// What was written last is written again.
    Again,
    Remove,
}

/// What is different when somebody repeats itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Nothing,
    Body,
}

/// When a refused delivery may come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NackDelay {
    Backoff,
    Ms(u64),
    Never,
}

/// A message to send.
#[derive(Clone, Debug)]
pub(crate) struct Letter {
    pub(crate) from: u8,
    pub(crate) to: Vec<To>,
    pub(crate) kind: Kind,
    pub(crate) priority: Priority,
    pub(crate) guarantee: Guarantee,
    /// The number of its native id; what it says is its identity where there is none.
    pub(crate) native: Option<u32>,
    pub(crate) task: Option<u8>,
    pub(crate) thread: Option<u8>,
    /// How far the sender's clock is off, where it tells its time.
    pub(crate) created: Option<i64>,
    pub(crate) expires_ms: Option<u64>,
    pub(crate) lifetime_ms: Option<u64>,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) retries: Option<u32>,
    pub(crate) backoff: Option<Backoff>,
    pub(crate) fallback: Vec<u8>,
    pub(crate) wait_ms: Option<u64>,
    pub(crate) live_only: bool,
    pub(crate) hold: bool,
    pub(crate) hops: u8,
    pub(crate) body_len: u16,
    /// What it says about work.
    pub(crate) said: Option<Box<Said>>,
    /// Decides of which task it speaks, where it is sent by somebody who may speak of it.
    pub(crate) apt: Option<u32>,
    /// By when work is wanted, from now on.
    pub(crate) deadline_ms: Option<u64>,
    /// To whom a blocked task goes.
    pub(crate) routes: Vec<To>,
    /// The group in which its sender says that it is; a claim joins that of the task.
    pub(crate) joins: Option<u8>,
    /// What its sender says of itself.
    pub(crate) sign: Option<SignPlan>,
    /// What it changes of the shared state.
    pub(crate) update: Option<Box<ChangePlan>>,
}

/// A recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    Agent(u8),
    Alias(u8),
    Session(u8, u8),
    Group(u8),
    All,
    Human,
}
