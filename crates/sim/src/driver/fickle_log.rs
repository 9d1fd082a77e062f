//! A log that may refuse an append, as one does that several writers share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use log::{AppendError, Batch, Class, Keeper, Log, LogReader, LogSnapshots, LogSyncer, MemDisk, Room};
use log::{SegmentLog, TruncateError};
use message::Seq;

/// The embedded log, which refuses the next append when it is told to.
pub(crate) struct FickleLog {
    pub(crate) inner: SegmentLog<MemDisk>,
    pub(crate) refuses: Arc<AtomicBool>,
}

impl Log for FickleLog {
    type Syncer = LogSyncer<MemDisk>;
    type Reader = LogReader<MemDisk>;
    type Snapshots = LogSnapshots<MemDisk>;
    type Keeper = Keeper<MemDisk>;

    fn first(&self) -> Seq {
        self.inner.first()
    }

    fn last(&self) -> Seq {
        self.inner.last()
    }

    fn room(&self) -> Room {
        self.inner.room()
    }

    fn append(&mut self, expected: Seq, batch: &mut Batch, class: Class) -> Result<Seq, AppendError> {
        if self.refuses.swap(false, Ordering::Relaxed) {
            return Err(AppendError::Stale { expected, last: self.inner.last() });
        }
        self.inner.append(expected, batch, class)
    }

    fn syncer(&self) -> Self::Syncer {
        self.inner.syncer()
    }

    fn reader(&self) -> Self::Reader {
        self.inner.reader()
    }

    fn snapshots(&self) -> Self::Snapshots {
        self.inner.snapshots()
    }

    fn keeper(&self) -> Self::Keeper {
        self.inner.keeper()
    }

    fn mark(&mut self) -> Result<(), AppendError> {
        self.inner.mark()
    }

    fn truncate_before(&mut self, seq: Seq) -> Result<Seq, TruncateError> {
        self.inner.truncate_before(seq)
    }
}
