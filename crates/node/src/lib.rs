//! The node: one writer that drives a broker on a log, and what gateways need of it.
//!
//! What it does is the [`driver`]'s: steps without threads. Three threads run them. The writer takes the jobs that have
//! come while it was busy and decides them: one batch. The log's thread makes batches durable and only then lets the
//! answers out. The maintenance thread prepares segments, folds snapshots behind the log, and gives old segments up.
//! When one of them ends, for whatever reason, all do, and every caller is answered.
//!
//! Gateways see nothing of broker and log but through a [`Node`]. It knows no dialect and opens no socket.

mod bodies;
mod clock;
mod commit_queue;
mod counters;
pub mod driver;
mod failure;
mod handle;
#[cfg(test)]
mod interleavings;
mod maintenance_signal;
mod queue;
mod start;
mod subscription;
mod sync;
mod threads;

#[cfg(test)]
mod tests;

pub use bodies::BodyReader;
pub use clock::{Clock, SystemClock};
pub use counters::{Counters, Durations, Happened, JobTimes, STEPS_US};
pub use driver::{Awaited, Executed, Hindrance, Keep, Letter, Outcome, Trim};
pub use failure::{CallError, StartError};
pub use handle::Node;
pub use log::ReadError;
pub use start::{Settings, Started};
pub use subscription::{Credit, Subscription, Wishes};
