//! The checker: from what clients did and saw, which promises were broken. Pure, and the same for every fault.
//!
//! It knows nothing of how the bus works. Each promise is one function that reads the whole record.

mod ends;
mod handing;

use std::fmt;

use crate::history::Record;

pub use handing::answer_to;

/// A promise that was broken, and how.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// Which promise.
    pub promise: Promise,
    /// What was seen.
    pub what: String,
}

/// What the bus promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Promise {
    /// What was acknowledged to its sender is there.
    Durable,
    /// At least once: until somebody acknowledges it.
    AtLeastOnce,
    /// At most once: never a second time.
    AtMostOnce,
    /// Who gets something again is told so.
    Flagged,
    /// In order within a task.
    Ordered,
    /// Nothing comes that nobody sent, or to somebody else, or changed.
    Genuine,
    /// One id for one message.
    Idempotent,
    /// What was acknowledged does not come again.
    Settled,
    /// Everything ends in one of the ways that are promised.
    Accounted,
    /// A sender is told when its message dies.
    Told,
    /// Receipts agree with what was seen.
    Receipts,
    /// Each who waits gets its own answer.
    Replies,
    /// Who follows a repo sees every write once, in order.
    Followed,
}

impl Promise {
    /// Returns the promise in words.
    pub fn words(self) -> &'static str {
        match self {
            Promise::Durable => "what was acknowledged survives",
            Promise::AtLeastOnce => "handed out until settled",
            Promise::AtMostOnce => "handed out at most once",
            Promise::Flagged => "who gets something again is told so",
            Promise::Ordered => "in order within a task",
            Promise::Genuine => "only what was sent comes, as it was sent, to whom it was sent",
            Promise::Idempotent => "a repeat is the same message",
            Promise::Settled => "what is acknowledged does not come again",
            Promise::Accounted => "every message ends in a way that is promised",
            Promise::Told => "the sender is told when a message dies",
            Promise::Receipts => "a receipt says what became of a message",
            Promise::Replies => "a reply reaches who waits for it",
            Promise::Followed => "who follows a repo sees every record once, in order",
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "broken promise: {}: {}", self.promise.words(), self.what)
    }
}

/// Returns every promise that was broken.
pub fn check(record: &Record) -> Vec<Violation> {
    let checks: [fn(&Record, &mut Vec<Violation>); 10] = [
        handing::genuine,
        handing::repeated,
        handing::ordered,
        handing::settled,
        handing::replies,
        ends::idempotent,
        ends::durable,
        ends::accounted,
        ends::told,
        ends::followed,
    ];
    let mut violations = Vec::new();
    for check in checks {
        check(record, &mut violations);
    }
    violations
}

/// Notes a promise that was broken.
fn broken(violations: &mut Vec<Violation>, promise: Promise, what: String) {
    violations.push(Violation { promise, what });
}
