//! What can go wrong, one enum per operation.

use std::fmt;
use std::io;

use message::Seq;

/// Why a batch was not appended.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// Somebody else appended, or the writer lost its place. Nothing was written.
    #[error("the writer expected the log to end at {expected}, it ends at {last}")]
    Stale {
        /// What the writer expected.
        expected: Seq,
        /// Where the log ends.
        last: Seq,
    },
    /// A record is too large. Nothing was written.
    #[error("record is {bytes} bytes, limit {bytes_max}")]
    RecordTooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        bytes_max: u64,
    },
    /// The batch does not fit into a segment. Nothing was written.
    #[error("batch is {bytes} bytes, limit {bytes_max}")]
    BatchTooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        bytes_max: u64,
    },
    /// There is no room for this class. Nothing was written, and it may be tried again when there is.
    #[error("the log has no room for a batch of {bytes} bytes: the disk or the configured limit is full")]
    NoRoom {
        /// The size of the batch.
        bytes: u64,
    },
    /// An earlier write or sync failed; the process must stop and open the log anew.
    #[error("the log takes no more because an earlier write or sync failed")]
    Poisoned,
    /// Writing failed; the log is poisoned by it.
    #[error("cannot write to the log")]
    Storage(#[source] io::Error),
}

/// Why nothing more can be promised.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// An earlier write or sync failed.
    #[error("the log takes no more because an earlier write or sync failed")]
    Poisoned,
    /// Somebody else appended first. What was appended behind the end of the log is refused and not in it.
    #[error("the log ends at {last}: what was appended behind that was refused")]
    Stale {
        /// Where the log ends.
        last: Seq,
    },
    /// This sync failed; what it left is unknown, and the log is poisoned by it.
    #[error("cannot sync the log")]
    Storage(#[source] io::Error),
}

/// Why a record could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It was given up.
    #[error("record {seq} was trimmed, the log begins at {first}")]
    Trimmed {
        /// The record.
        seq: Seq,
        /// The oldest one held.
        first: Seq,
    },
    /// It is not written yet.
    #[error("record {seq} is beyond the end of the log at {last}")]
    Beyond {
        /// The record.
        seq: Seq,
        /// The last one.
        last: Seq,
    },
    /// A salvage had to leave it out.
    #[error("record {seq} is missing since a salvage of {first} to {last}")]
    Missing {
        /// The record.
        seq: Seq,
        /// The first missing one.
        first: Seq,
        /// The last missing one.
        last: Seq,
    },
    /// What is on the disk is not what was written.
    #[error("the log is damaged: {0}")]
    Damaged(Damage),
    /// Reading failed.
    #[error("cannot read the log")]
    Storage(#[source] io::Error),
}

/// Why records could not be given up.
#[derive(Debug, thiserror::Error)]
pub enum TruncateError {
    /// An earlier write or sync failed.
    #[error("the log takes no more because an earlier write or sync failed")]
    Poisoned,
    /// Setting a segment free failed; the log is poisoned by it.
    #[error("cannot set a segment free")]
    Storage(#[source] io::Error),
}

/// Why a snapshot was not stored or loaded.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The state is ahead of what the log can promise.
    #[error("snapshot at {at} is ahead of the durable record {durable}")]
    Ahead {
        /// The last record folded into it.
        at: Seq,
        /// What is durable.
        durable: Seq,
    },
    /// The record is not the last of its batch, or not held any more.
    #[error("there is no batch that ends at {at}")]
    NotABatchEnd {
        /// The record.
        at: Seq,
    },
    /// A snapshot at this record or a later one exists.
    #[error("a snapshot at {newest} exists, which is not older than {at}")]
    NotNewer {
        /// The last record folded into the refused one.
        at: Seq,
        /// The newest one that exists.
        newest: Seq,
    },
    /// The log around that record is not what was written.
    #[error("the log is damaged: {0}")]
    Damaged(Damage),
    /// Writing or reading failed; the snapshots that exist are untouched.
    #[error("cannot store or load a snapshot")]
    Storage(#[source] io::Error),
}

/// Why a log did not open.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has the folder.
    #[error("the log is in use by another process")]
    InUse,
    /// The folder cannot be written.
    #[error("the folder of the log cannot be written")]
    ReadOnly(#[source] io::Error),
    /// The options contradict themselves.
    #[error("option {name} is {value}, it must be {must}")]
    Options {
        /// The option.
        name: &'static str,
        /// Its value.
        value: u64,
        /// What it must be.
        must: &'static str,
    },
    /// Something is not what was written, and it was acknowledged. Nothing was changed.
    #[error("the log is damaged: {0}; `convoke log salvage` sets the damaged part aside and keeps the rest")]
    Damaged(Damage),
    /// The log was written by another version of this program. Nothing was changed.
    #[error("{file} has format version {version}, this program reads version {known}")]
    Version {
        /// The file.
        file: String,
        /// Its version.
        version: u32,
        /// The version that this program reads.
        known: u32,
    },
    /// There is no room for the first segment.
    #[error("there is no room for the first segment of {bytes} bytes")]
    NoRoom {
        /// Its size.
        bytes: u64,
    },
    /// Reading or writing failed.
    #[error("cannot open the log")]
    Storage(#[source] io::Error),
}

/// Why a log could not be verified or salvaged.
#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    /// A process has the folder.
    #[error("the log is in use by a process")]
    InUse,
    /// The log was written by another version of this program. Nothing was changed.
    #[error("{file} has format version {version}, this program reads version {known}")]
    Version {
        /// The file.
        file: String,
        /// Its version.
        version: u32,
        /// The version that this program reads.
        known: u32,
    },
    /// There is damage that cannot be set aside by machine.
    #[error("cannot be repaired by machine: {0}")]
    Hopeless(Damage),
    /// Reading or writing failed.
    #[error("cannot read or write the log")]
    Storage(#[from] io::Error),
}

/// A place that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The file, within the folder of the log.
    pub file: String,
    /// Where in the file.
    pub offset: u64,
    /// What is wrong there and what can be saved.
    pub what: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at offset {}: {}", self.file, self.offset, self.what)
    }
}
