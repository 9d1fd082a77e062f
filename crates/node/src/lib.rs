//! The node: one writer that drives a broker on a log, and what gateways need of it.
//!
//! One thread owns the broker. It takes everything that was asked while it was busy, carries it out, hands what
//! became ready to those who wait, and does what the clock made due: one batch. A second thread owns the log, makes
//! batches durable and only then lets the answers out. A third keeps segments ready, folds snapshots behind the
//! log, and gives old segments up.
//!
//! Gateways see nothing of broker and log but through a [`Node`]. It knows no dialect and opens no socket.

mod bell;
mod clock;
mod counters;
mod failure;
mod handle;
mod mailman;
mod moved;
mod release;
mod start;
mod subscription;
mod trim;
mod turn;
mod upkeep;
mod writer;

#[cfg(test)]
mod tests;

pub use clock::{Clock, SystemClock};
pub use counters::{Counters, Durations, Happened, STEPS_US};
pub use failure::{CallError, StartError};
pub use handle::Node;
pub use log::ReadError;
pub use mailman::{Awaited, Letter, Outcome};
pub use start::{Settings, Started};
pub use subscription::{Credit, Subscription, Wishes};
pub use trim::{Hindrance, Keep, Trim};
pub use turn::Turn;
