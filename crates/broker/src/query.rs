//! Queries: looks at the state, each bounded by its page.
//!
//! A query runs between two commands of the one writer, so everybody waits for it. It copies out what was asked for and
//! does nothing else: no JSON, no parsing, no walk over all agents, tasks or messages. Only this crate defines queries.

use crate::{Broker, Time};

/// A look at the state.
pub trait Query: sealed::Sealed + Send + 'static {
    /// What it is answered with.
    type Answer: Send + 'static;

    /// The name under which its time is measured.
    const NAME: &'static str;

    /// Looks. Takes time for what it returns, not for what the state holds.
    fn run(self, state: &Broker, at: At) -> Self::Answer;
}

/// When a query runs.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// The bus's time.
    pub now: Time,
    /// The wall clock's time.
    pub wall: Time,
}

pub(crate) mod sealed {
    /// Keeps other crates from defining queries.
    pub trait Sealed {}
}

/// Defines a query: its name, its answer and how it looks.
macro_rules! query {
    ($(#[$doc:meta])* $query:ident -> $answer:ty, $name:literal, |$this:ident, $state:ident, $at:ident| $run:expr) => {
        impl $crate::query::sealed::Sealed for $query {}

        $(#[$doc])*
        impl $crate::query::Query for $query {
            type Answer = $answer;

            const NAME: &'static str = $name;

            fn run(self, $state: &$crate::Broker, $at: $crate::query::At) -> $answer {
                let $this = self;
                $run
            }
        }
    };
}

pub mod agents;
pub mod dead_letters;
pub mod figures;
pub mod messages;
pub mod records;
pub mod task_steps;
pub mod tasks;
pub mod work;

/// Sums over the whole bus.
#[derive(Clone, Copy, Debug)]
pub struct Totals;

query!(Totals -> crate::Counts, "totals", |_this, state, _at| state.counts());
