//! What a log is, whoever keeps it: append, sync, read, truncate, snapshots.
//!
//! Small on purpose: a replicated log can keep the same promises.

use std::io::{self, Read, Write};
use std::ops::ControlFlow;

use message::Seq;

use crate::batch::Batch;
use crate::error::{AppendError, ReadError, SnapshotError, SyncError, TruncateError};
use crate::segment_log::{Extent, Ready};

/// An ordered sequence of records with one writer.
///
/// Records are numbered from 1 without gaps, except where a salvage had to leave some out.
pub trait Log {
    /// Makes appended batches durable; may live on another thread.
    type Syncer: Syncer;
    /// Reads records; any number of them, on any thread.
    type Reader: Reader;
    /// Stores and loads snapshots; may live on another thread.
    type Snapshots: Snapshots;
    /// Prepares room and gives old records up; may live on another thread.
    type Keeper: Keep;

    /// Returns the oldest record still held, or `last + 1` when there is none.
    fn first(&self) -> Seq;

    /// Returns the last appended record, durable or not; 0 when nothing was ever appended.
    fn last(&self) -> Seq;

    /// Says how much can be appended for sure; see [`Room`].
    fn room(&self) -> Room;

    /// Appends one atomic batch, in order, not yet durable, and returns the new last sequence number.
    ///
    /// A log that answers late may refuse the batch only when it is asked for the outcome: [`SyncError::Stale`].
    /// A writer whose idea of the last record is stale is refused. If the answer is an error, no record of
    /// the batch is visible; after [`AppendError::Storage`] every later append and sync fails too.
    /// An empty batch changes nothing.
    fn append(&mut self, expected_last: Seq, batch: &mut Batch, class: Class) -> Result<Seq, AppendError>;

    /// Says how many appends may be in flight: handed over by [`Log::append`], their outcome not yet asked of
    /// [`Syncer::sync_upto`]. A log that takes long to answer wants several.
    fn in_flight_max(&self) -> usize {
        1
    }

    /// Returns a handle that makes batches durable.
    fn syncer(&self) -> Self::Syncer;

    /// Returns a handle that reads.
    fn reader(&self) -> Self::Reader;

    /// Returns a handle that stores and loads snapshots.
    fn snapshots(&self) -> Self::Snapshots;

    /// Returns a handle that prepares room and gives old records up.
    fn keeper(&self) -> Self::Keeper;

    /// Notes in the log what is durable by now, so that later damage to it cannot be taken for a torn tail.
    ///
    /// Every batch notes it too. Call this when nothing was appended for a while and before a clean stop, after
    /// a sync, and sync again. Without room it does nothing.
    fn mark(&mut self) -> Result<(), AppendError>;

    /// Gives up records before `seq`, as far as whole segments allow, and returns the new first record.
    ///
    /// Never gives up a record that the older of the two kept snapshots would need to be folded forward from, so
    /// without two of them nothing happens.
    fn truncate_before(&mut self, seq: Seq) -> Result<Seq, TruncateError>;
}

/// Makes what was appended durable.
pub trait Syncer: Send {
    /// Makes durable everything that was appended before the call and returns the durable sequence number.
    ///
    /// After one failure every later sync and append fails: what a failed sync left is unknown, and trying
    /// again would only hide it.
    fn sync(&mut self) -> Result<Seq, SyncError>;

    /// Waits for the outcome of everything that was appended up to a record, and returns the durable sequence number,
    /// which is that record or a later one.
    ///
    /// [`SyncError::Stale`] says that the log has refused an append up to there: neither it nor anything behind it is
    /// in the log, and [`Log::last`] says where the log ends. A log that makes everything durable at once ignores the
    /// record.
    fn sync_upto(&mut self, _upto: Seq) -> Result<Seq, SyncError> {
        self.sync()
    }

    /// Returns the last record known to be durable, without any work.
    fn durable(&self) -> Seq;
}

/// Prepares room ahead of need, and gives old records up. Appends go on meanwhile.
pub trait Keep: Send + Sync {
    /// Prepares as much room as there should be, as far as the storage has it.
    fn keep(&self) -> Result<(), SyncError>;

    /// Says how much room is prepared, besides what is left in the segment that is written to.
    fn ready(&self) -> Ready;

    /// Returns the segments in use, the oldest first; the last one is written to.
    fn extents(&self) -> Vec<Extent>;

    /// Returns the oldest record that is held, or will be.
    fn first(&self) -> Seq;

    /// Returns the first record of the segment that is written to.
    fn newest(&self) -> Seq;

    /// Returns what all segments take, those that are only prepared included.
    fn bytes(&self) -> u64;

    /// Returns up to which record the log may be given up: the last one that every kept snapshot holds.
    fn covered(&self) -> Seq;

    /// Gives up records before `seq`, as [`Log::truncate_before`] does.
    fn truncate_before(&self, seq: Seq) -> Result<Seq, TruncateError>;
}

/// Reads records by their sequence number.
///
/// A reader sees every appended record; who must not see more than what is durable bounds it by that.
pub trait Reader: Clone + Send + Sync {
    /// Reads one record.
    fn read(&self, seq: Seq) -> Result<Vec<u8>, ReadError>;

    /// Reads many records in the order given, until the visitor breaks; neighbours cost one read of the disk.
    fn read_many(
        &self,
        seqs: &[Seq],
        visit: &mut dyn FnMut(Seq, &[u8]) -> ControlFlow<()>,
    ) -> Result<(), ReadError>;

    /// Visits `from..=to` in order, in big reads, until the visitor breaks or the log ends.
    ///
    /// What a salvage left out is visited as [`Entry::Gap`].
    fn scan(
        &self,
        from: Seq,
        to: Seq,
        visit: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<(), ReadError>;
}

/// Stores and loads snapshots of the state that was folded from the log.
pub trait Snapshots: Send {
    /// Stores the state after record `at`, all or nothing; `at` must be durable and the last of its batch.
    ///
    /// The snapshot before it is kept, older ones are removed once this one is durable.
    fn store(
        &mut self,
        at: Seq,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), SnapshotError>;

    /// Finds the newest snapshot that is whole.
    fn load(&self) -> Result<Option<Snapshot>, SnapshotError>;
}

/// A snapshot to read.
pub struct Snapshot {
    /// The last record folded into it.
    pub at: Seq,
    /// What was stored, from its beginning.
    pub bytes: Box<dyn Read + Send>,
    /// Newer snapshots that are damaged and were passed over.
    pub damaged: Vec<String>,
}

/// What a scan meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry<'a> {
    /// A record.
    Record {
        /// Its place.
        seq: Seq,
        /// Its bytes.
        bytes: &'a [u8],
        /// Whether it closes its batch.
        last_of_batch: bool,
    },
    /// Records that a salvage had to leave out.
    Gap {
        /// The first missing one.
        first: Seq,
        /// The last missing one.
        last: Seq,
    },
}

/// What an append may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// New work: refused when only the reserve is left.
    Normal,
    /// What lets the bus finish and free its work (acks, claims, trims): may use the reserve.
    Reserve,
}

/// How many bytes ([`Batch::bytes`]) can be appended for sure now, without asking the disk for more.
///
/// One batch of at most `min(normal, batch_bytes_max)` is accepted for sure. Over several batches some room
/// may be lost at the end of each segment, because a batch never spans two. A normal append may still be
/// accepted when there is no room left here: it then tries to make a segment at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Room for [`Class::Normal`].
    pub normal: u64,
    /// Room for [`Class::Reserve`]; includes `normal`.
    pub reserve: u64,
    /// The largest batch that any segment takes.
    pub batch_bytes_max: u64,
}
