//! The embedded log on a disk in memory, which fails once as it is told and lets other threads run between its steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use log::{AppendError, Batch, Class, Extent, Keep, Keeper, Log, LogReader, LogSnapshots, LogSyncer};
use log::{MemDisk, Ready, Room, SegmentLog, Seq, SyncError, Syncer, TruncateError};

use super::sync::pause;

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Append,
    AppendPanics,
    Sync,
    SyncPanics,
    Keep,
}

/// The log.
pub(super) struct FailingLog {
    inner: SegmentLog<MemDisk>,
    plan: Arc<FaultPlan>,
    in_flight_max: usize,
}

pub(super) struct FailingSyncer {
    inner: LogSyncer<MemDisk>,
    plan: Arc<FaultPlan>,
}

pub(super) struct FailingKeeper {
    inner: Keeper<MemDisk>,
    plan: Arc<FaultPlan>,
}

/// What fails, and when.
#[derive(Default)]
pub(super) struct FaultPlan {
    /// The fault, and how often what fails is done well before.
    fault: Option<(Fault, u64)>,
    done: AtomicU64,
    /// Whether it has failed, after which nothing works any more.
    failed: AtomicBool,
}

impl FaultPlan {
    pub(super) fn new(fault: Option<(Fault, u64)>) -> Arc<Self> {
        Arc::new(FaultPlan { fault, ..FaultPlan::default() })
    }

    /// Tells whether this fails now.
    fn comes(&self, what: Fault) -> bool {
        match self.fault {
            Some((fault, after)) if fault == what && self.done.fetch_add(1, Ordering::Relaxed) == after => {
                self.failed.store(true, Ordering::Relaxed);
                true
            }
            Some(_) | None => false,
        }
    }

    fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }
}

impl FailingLog {
    pub(super) fn new(inner: SegmentLog<MemDisk>, plan: Arc<FaultPlan>, in_flight_max: usize) -> Self {
        FailingLog { inner, plan, in_flight_max }
    }
}

impl Log for FailingLog {
    type Syncer = FailingSyncer;
    type Reader = LogReader<MemDisk>;
    type Snapshots = LogSnapshots<MemDisk>;
    type Keeper = FailingKeeper;

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
        pause();
        if self.plan.comes(Fault::AppendPanics) {
            panic_quietly();
        }
        if self.plan.comes(Fault::Append) {
            return Err(AppendError::Storage(std::io::Error::other("as planned")));
        }
        if self.plan.has_failed() {
            return Err(AppendError::Poisoned);
        }
        self.inner.append(expected, batch, class)
    }

    fn in_flight_max(&self) -> usize {
        self.in_flight_max
    }

    fn syncer(&self) -> FailingSyncer {
        FailingSyncer { inner: self.inner.syncer(), plan: Arc::clone(&self.plan) }
    }

    fn reader(&self) -> Self::Reader {
        self.inner.reader()
    }

    fn snapshots(&self) -> Self::Snapshots {
        self.inner.snapshots()
    }

    fn keeper(&self) -> FailingKeeper {
        FailingKeeper { inner: self.inner.keeper(), plan: Arc::clone(&self.plan) }
    }

    fn mark(&mut self) -> Result<(), AppendError> {
        self.inner.mark()
    }

    fn truncate_before(&mut self, seq: Seq) -> Result<Seq, TruncateError> {
        self.inner.truncate_before(seq)
    }
}

impl Syncer for FailingSyncer {
    fn sync(&mut self) -> Result<Seq, SyncError> {
        pause();
        if self.plan.comes(Fault::SyncPanics) {
            panic_quietly();
        }
        if self.plan.comes(Fault::Sync) {
            return Err(SyncError::Storage(std::io::Error::other("as planned")));
        }
        if self.plan.has_failed() {
            return Err(SyncError::Poisoned);
        }
        let synced = self.inner.sync();
        pause();
        synced
    }

    fn durable(&self) -> Seq {
        self.inner.durable()
    }
}

impl Keep for FailingKeeper {
    fn keep(&self) -> Result<(), SyncError> {
        pause();
        if self.plan.comes(Fault::Keep) {
            return Err(SyncError::Storage(std::io::Error::other("as planned")));
        }
        if self.plan.has_failed() {
            return Err(SyncError::Poisoned);
        }
        let kept = self.inner.keep();
        pause();
        kept
    }

    fn ready(&self) -> Ready {
        self.inner.ready()
    }

    fn extents(&self) -> Vec<Extent> {
        self.inner.extents()
    }

    fn first(&self) -> Seq {
        self.inner.first()
    }

    fn newest(&self) -> Seq {
        self.inner.newest()
    }

    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }

    fn covered(&self) -> Seq {
        self.inner.covered()
    }

    fn truncate_before(&self, seq: Seq) -> Result<Seq, TruncateError> {
        pause();
        self.inner.truncate_before(seq)
    }
}

/// Panics without the message and the schedule that the checker's hook would print for every planned one.
pub(super) fn panic_quietly() -> ! {
    std::panic::resume_unwind(Box::new("as planned"))
}
