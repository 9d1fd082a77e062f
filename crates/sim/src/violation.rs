//! Violations: what the bus promised and did not keep.

use std::fmt;

/// A promise that was broken, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// Which promise.
    pub(crate) promise: Promise,
    /// What was seen.
    pub(crate) what: String,
}

/// What the bus promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Promise {
    Durable,
    AtLeastOnce,
    AtMostOnce,
    Ordered,
    Priority,
    Idempotent,
    NeverLate,
    Retries,
    Fallbacks,
    Notices,
    Held,
    Unknown,
    Limits,
    Replies,
    Receipts,
    Bodies,
    Records,
    Tasks,
    Claims,
    Versions,
    Budgets,
    Breakers,
    Gates,
    Snapshots,
    Recovery,
    Answers,
    Stops,
    Panics,
}

impl Promise {
    /// Returns the promise in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Promise::Durable => "what was acknowledged survives",
            Promise::AtLeastOnce => "handed out until settled, then ended once",
            Promise::AtMostOnce => "handed out at most once",
            Promise::Ordered => "in order within a task",
            Promise::Priority => "urgent first, and nothing starves",
            Promise::Idempotent => "a repeat is the same message",
            Promise::NeverLate => "nothing is handed out after its time",
            Promise::Retries => "tried again as often and as late as agreed",
            Promise::Fallbacks => "fallbacks in order, told what was tried",
            Promise::Notices => "the sender is told when a message dies",
            Promise::Held => "held for a name until it is registered",
            Promise::Unknown => "nobody unknown is written to",
            Promise::Limits => "limits are kept",
            Promise::Replies => "a reply reaches who waits for it, in time or filed",
            Promise::Receipts => "a receipt says what became of a message",
            Promise::Bodies => "the body handed out is the one sent",
            Promise::Records => "a record is there as it was written",
            Promise::Tasks => "a task moves as its rules say, and ends once",
            Promise::Claims => "one winner, for as long as its claim lasts",
            Promise::Versions => "a version grows by one, and nothing else is taken",
            Promise::Budgets => "money is set aside before and settled after, and limits hold",
            Promise::Breakers => "who only makes errors is left alone, then tried once",
            Promise::Gates => "what waits for a human waits for it",
            Promise::Snapshots => "a snapshot is the state at its place in the log",
            Promise::Recovery => "it starts again after every crash",
            Promise::Answers => "the answer follows from what was asked",
            Promise::Stops => "after a failure every caller is answered, and the process ends",
            Promise::Panics => "nothing that anybody asks makes it panic",
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "broken promise: {}\n{}", self.promise.words(), self.what)
    }
}

/// Makes a violation; for the tail of an expression.
pub(crate) fn broken<T>(promise: Promise, what: fmt::Arguments<'_>) -> Result<T, Violation> {
    Err(Violation { promise, what: what.to_string() })
}

/// Checks one thing that must be so.
pub(crate) fn ensure(holds: bool, promise: Promise, what: fmt::Arguments<'_>) -> Result<(), Violation> {
    if holds { Ok(()) } else { broken(promise, what) }
}
