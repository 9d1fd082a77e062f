//! Refusals: why a command is not carried out, and what to do instead; and misfits, events that cannot be.

use message::{MessageId, Seq};

use crate::Digest;

/// Why a command is not carried out. Nothing has changed, except that what a message says of its sender is noted though
/// the message is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    #[error("no agent has this number: it was removed")]
    UnknownAgent,
    #[error("nobody is called `{address}`{}", did_you_mean(.suggestions))]
    UnknownRecipient { address: String, suggestions: Vec<String> },
    #[error("`{name}` is a name of `{agent}` already")]
    NameTaken { name: String, agent: String },
    #[error("`{name}` belongs to the operator or the bus")]
    NameReserved { name: String },
    #[error("somebody else changed what is known of `{name}` at the same time")]
    ProfileChanged { name: String },
    #[error("a message needs at least one recipient")]
    NoRecipient,
    #[error("{count} recipients, at most {count_max} are allowed: use a topic or a channel")]
    TooManyRecipients { count: usize, count_max: usize },
    #[error("the same id stands for another message of yours, {id}: give the new one an id of its own")]
    Conflict { id: MessageId },
    #[error("its time was over before it came")]
    Expired,
    #[error("it was forwarded {hops} times, at most {hops_max} are allowed")]
    TooManyHops { hops: u8, hops_max: u8 },
    #[error(
        "`{recipient}` has {count} messages waiting, at most {count_max} are allowed: try again when it has taken some"
    )]
    QueueFull { recipient: String, count: u64, count_max: u64 },
    #[error(
        "`{recipient}` has {bytes} bytes waiting, at most {bytes_max} are allowed: try again when it has taken some"
    )]
    QueueBytesFull { recipient: String, bytes: u64, bytes_max: u64 },
    #[error("the bus holds {count} unsettled messages, at most {count_max} are allowed")]
    BusFull { count: u64, count_max: u64 },
    #[error("the bus holds {bytes} bytes of unsettled messages, at most {bytes_max} are allowed")]
    BusBytesFull { bytes: u64, bytes_max: u64 },
    #[error("the message has {bytes} bytes, at most {bytes_max} are allowed")]
    TooLarge { bytes: u64, bytes_max: u64 },
    #[error("there are {count} {what}, at most {count_max} are allowed")]
    TooMany { what: &'static str, count: u64, count_max: u64 },
    #[error("`{what}` has {bytes} bytes, at most {bytes_max} are allowed")]
    TooLong { what: &'static str, bytes: usize, bytes_max: usize },
    #[error("a lease lasts from {ms_min} to {ms_max} ms, not {ms}")]
    LeaseLength { ms: u64, ms_min: u64, ms_max: u64 },
    #[error("there is no such delivery for this agent")]
    UnknownDelivery,
    #[error("the lease is over and the message was handed out again or is settled")]
    LeaseLost,
    #[error("there is no such message here")]
    UnknownMessage,
    #[error("only its sender and the operator may do this")]
    NotYours,
    #[error("there is no such dead letter")]
    NotDead,
    #[error("there is no such connection")]
    UnknownSession,
    #[error("agents join roles, topics and channels; `{address}` is none")]
    NotAGroup { address: String },
    #[error("the message is not parked")]
    NotParked,
    #[error("the message is settled for every recipient: send another")]
    Settled,
    #[error("what is there is not what the write replaces: look again")]
    Swapped { found: Option<Digest> },
    #[error("there is such a record already")]
    RecordExists,
    #[error("there is no such record")]
    UnknownRecord,
    #[error("a commit writes `{name}` twice")]
    RecordTwice { name: String },
    #[error("the message went to others than `{name}`: delete it, and create one for `{name}`")]
    OtherRecipient { name: String },
    #[error("{what}")]
    CommitHead { what: &'static str },
    #[error("the message waits for {what}")]
    Guarded { what: &'static str },
    #[error("there is no task `{task}`")]
    UnknownTask { task: String },
    #[error("task `{task}` is {status}: `{step}` is impossible now")]
    TaskState { task: String, status: &'static str, step: &'static str },
    #[error("task `{task}` has to wait: {why}")]
    TaskHeld { task: String, why: String },
    #[error("{}", not_holder(.task, .holder.as_deref()))]
    NotHolder { task: String, holder: Option<String> },
    #[error("only who asked for task `{task}` and the operator may do this")]
    NotRequester { task: String },
    #[error("`{holder}` claimed task `{task}` first")]
    Missed { task: String, holder: String },
    #[error("you were not asked for task `{task}`: join its role first")]
    NotAsked { task: String },
    #[error("`{agent}` is not given task `{task}`: {why}")]
    Unfit { task: String, agent: String, why: String },
    #[error("the tasks would wait for each other: {path}")]
    TaskCycle { path: String },
    #[error("the policy does not allow it: {why}")]
    OverPolicy { why: String },
    #[error("task `{task}` is not offered to you")]
    NoOffer { task: String },
    #[error("a task is handed over to one agent")]
    HandoffRecipient,
    #[error("there is no such gate, or it is judged already")]
    UnknownGate,
    #[error("the version is older than the current one, {current}")]
    Stale { current: u32 },
    #[error("versions are missing before it, the current one is {current}: read the state again")]
    Gap { current: u32 },
    #[error("there is no {entity} `{id}`")]
    UnknownEntity { entity: &'static str, id: String },
    #[error("{what}")]
    BadEntity { what: &'static str },
    #[error("the policy is not valid")]
    BadPolicy { findings: Vec<json::Finding> },
}

/// An event that does not fit the state: the log is not the one that this state was made from, or was written by
/// another version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    #[error("event {found} after {last}: the state holds other events than the log")]
    Sequence { last: Seq, found: Seq },
    #[error("event {seq} is about {what} that is not there")]
    Missing { seq: Seq, what: &'static str },
    #[error("event {seq} puts {what} where something else is")]
    Taken { seq: Seq, what: &'static str },
    #[error("event {seq} does not follow from the state of {what}")]
    State { seq: Seq, what: &'static str },
}

fn not_holder(task: &str, holder: Option<&str>) -> String {
    match holder {
        Some(holder) => format!("`{holder}` has task `{task}`, not you: ask for it to be handed over"),
        None => format!("nobody has task `{task}`: claim it first"),
    }
}

fn did_you_mean(suggestions: &[String]) -> String {
    match suggestions {
        [] => String::from("; register it, or ask to hold the message until it is"),
        names => format!("; did you mean `{}`?", names.join("`, `")),
    }
}
