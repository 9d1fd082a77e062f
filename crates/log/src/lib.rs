//! The durable log: one ordered sequence of records, kept in preallocated segment files.
//!
//! Everything that changes the bus is a record here, written in atomic batches and made durable by one sync
//! for all that waited. `docs/log.md` in the repository describes every byte of the format.
//!
//! The crate knows nothing of what a record means: records are bytes. It has no clock, no randomness and no
//! threads of its own; whoever drives it decides when to sync, to prepare segments and to take snapshots.
//! It never guesses: what a power loss can leave is cut and reported, anything else refuses to open.

mod api;
mod batch;
mod disk;
mod error;
mod folder;
mod frame;
mod index;
mod leftovers;
mod options;
#[cfg(any(test, feature = "plants"))]
mod plant;
mod report;
mod salvage;
mod segment;
mod segment_log;
mod snapshot_file;
mod survey;
mod verify;
mod walk;
mod window;

pub use api::{Class, Entry, Keep, Log, Reader, Room, Snapshot, Snapshots, Syncer};
pub use batch::Batch;
pub use disk::memory::{Fault, MemDisk};
pub use disk::real::RealDisk;
pub use disk::{Disk, DiskFile};
pub use error::{
    AppendError, Damage, InspectError, OpenError, ReadError, SnapshotError, SyncError, TruncateError,
};
pub use message::Seq;
pub use options::Options;
#[cfg(any(test, feature = "plants"))]
pub use plant::Plant;
pub use report::{Range, Report, Salvaged, Trimmed};
pub use salvage::salvage;
pub use segment_log::{Cut, Extent, Keeper, LogReader, LogSnapshots, LogSyncer, Opened, Ready, SegmentLog};
pub use verify::verify;

#[cfg(test)]
mod tests;
