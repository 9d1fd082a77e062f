//! The driver: what a node does, as steps without threads, clocks or disks of their own.
//!
//! ```text
//! jobs ─▶ Decider::step ─▶ PendingBatch ─▶ Committer::append ─▶ Committer::sync ─▶ completions
//!         (broker, pure)                     (log)               (log)
//! ```
//!
//! [`Maintenance`] prepares segments, folds snapshots and trims behind that. Time and randomness are arguments, and the
//! log is any [`log::Log`]: threads run these steps in a server, and the simulation runs them in seeded order on a disk
//! that fails. Several appends may be in flight, as many as the log allows; their outcomes come in their order, and so do
//! their completions leave. An append may be refused, and its outcome may be unknown; no step assumes that it succeeds.
//! Either settles all that are behind it, those before it end as they would, and then the state is loaded again from a
//! snapshot and the tail of the log.

mod commit;
mod completion;
mod decide;
mod dispatch;
mod in_flight;
mod job;
mod load;
mod maintenance;
mod moved;
mod pipeline;
#[cfg(feature = "plants")]
mod plant;
mod recent;
mod transaction;
mod trim;

pub use commit::{Appended, CommitError, Committed, Committer};
#[cfg(test)]
pub(crate) use completion::Complete;
pub use completion::{Completion, Returns};
pub use decide::{Decider, Tick, Work};
#[cfg(feature = "simulation")]
pub use decide::{Observed, Observer, Source};
pub use dispatch::{Awaited, Dispatcher, Letter, Outcome, SubscriberId};
pub use in_flight::InFlight;
pub use job::{Executed, Job, QueryJob, ReplyTo, RunQuery, Take, Taken};
pub use load::{Loaded, load, load_prepared};
pub use maintenance::{Ask, Maintenance};
pub use moved::Moved;
pub use pipeline::{Next, PendingBatch, Pipeline, Room};
#[cfg(feature = "plants")]
pub use plant::Plant;
pub use recent::RecentBodies;
pub(crate) use trim::Trimmer;
pub use trim::{Followed, Hindrance, Keep, Looked, Pace, Plan, Trim};
#[cfg(test)]
pub(crate) use trim::{Hook, Point};
