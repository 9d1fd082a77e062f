//! What the writer and the handles of one log share.
//!
//! Locks never nest, except that the file that is written to is looked up while the sync lock is held.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use message::Seq;

use super::keeper::Extent;
use super::pool::Pool;
use crate::disk::{Disk, DiskFile, sync_file};
use crate::index::Index;
use crate::options::Options;
#[cfg(any(test, feature = "plants"))]
use crate::plant::Plant;
use crate::segment::SegmentHeader;

/// In what pieces the log is let go of.
const LET_GO_BYTES: u64 = 4 << 20;
/// How many files are kept open beside the one that is written to: a log may have more segments than a process
/// may have open files.
const OPEN_MAX: usize = 128;

pub(crate) struct Shared<D: Disk> {
    pub(crate) disk: D,
    pub(crate) options: Options,
    pub(crate) pool: Mutex<Pool>,
    /// Only one makes a segment at a time; the pool stays free meanwhile.
    pub(crate) making: Mutex<()>,
    /// The snapshots that are kept, oldest first.
    pub(crate) snapshots: Mutex<Vec<Seq>>,
    /// The snapshot that opening has just checked and that nobody has loaded yet.
    pub(crate) snapshot_checked: Mutex<Option<Seq>>,
    segments: RwLock<VecDeque<Arc<Segment<D::File>>>>,
    /// The file that is written to: a failed sync is reported to those who had it open before.
    writing: Mutex<Arc<OpenFile<D::File>>>,
    /// The files opened last, so that they stay open.
    recent: Mutex<VecDeque<Arc<OpenFile<D::File>>>>,
    last: AtomicU64,
    durable: AtomicU64,
    /// How many writes were made, and how many of them a sync has covered.
    written: AtomicU64,
    synced: AtomicU64,
    failed: AtomicBool,
    /// Where the next batch goes in the segment that is written to.
    end: AtomicU64,
    /// Up to where the log was let go of: the first record of a segment, and an offset in it.
    let_go: Mutex<(Seq, u64)>,
    /// Two syncs of one file must not run at once: the kernel reports a failure to one of them only.
    syncing: Mutex<()>,
    _lock: D::Lock,
}

/// What opening found, to begin with.
pub(crate) struct Start<F> {
    pub(crate) pool: Pool,
    /// The snapshots, oldest first, and the one that was checked.
    pub(crate) snapshots: Vec<Seq>,
    pub(crate) snapshot_checked: Option<Seq>,
    pub(crate) segments: VecDeque<Arc<Segment<F>>>,
    /// The file of the last segment.
    pub(crate) writing: Arc<OpenFile<F>>,
    pub(crate) last: Seq,
}

/// A segment in use. Its file is opened when it is needed.
pub(crate) struct Segment<F> {
    pub(crate) name: String,
    pub(crate) header: SegmentHeader,
    open: Mutex<Weak<OpenFile<F>>>,
}

/// The open file of a segment and where records lie in it.
pub(crate) struct OpenFile<F> {
    pub(crate) file: F,
    /// Made when the segment is written or checked, or else when it is first read.
    pub(crate) index: RwLock<Option<Index>>,
}

/// A segment and the first record of the one behind it.
pub(crate) struct Located<F> {
    pub(crate) segment: Arc<Segment<F>>,
    pub(crate) next: Option<Seq>,
}

impl<F> Segment<F> {
    pub(crate) fn new(name: String, header: SegmentHeader) -> Self {
        Self { name, header, open: Mutex::new(Weak::new()) }
    }

    /// Gives the segment its open file, which lives as long as somebody holds it.
    pub(crate) fn opened(&self, file: F, index: Option<Index>) -> Arc<OpenFile<F>> {
        let open = Arc::new(OpenFile { file, index: RwLock::new(index) });
        *hold(&self.open) = Arc::downgrade(&open);
        open
    }
}

/// Why a sync did not happen.
pub(crate) enum SyncFailure {
    Earlier,
    Now(io::Error),
}

impl<D: Disk> Shared<D> {
    pub(crate) fn new(disk: D, lock: D::Lock, options: Options, start: Start<D::File>) -> Self {
        // What was there before is as the system has it.
        let let_go = start.segments.back().map_or(Seq(0), |segment| segment.header.first);
        Self {
            disk,
            options,
            pool: Mutex::new(start.pool),
            making: Mutex::new(()),
            snapshots: Mutex::new(start.snapshots),
            snapshot_checked: Mutex::new(start.snapshot_checked),
            segments: RwLock::new(start.segments),
            writing: Mutex::new(start.writing),
            recent: Mutex::new(VecDeque::new()),
            last: AtomicU64::new(start.last.0),
            durable: AtomicU64::new(start.last.0),
            written: AtomicU64::new(0),
            synced: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            end: AtomicU64::new(0),
            let_go: Mutex::new((let_go, 0)),
            syncing: Mutex::new(()),
            _lock: lock,
        }
    }

    pub(crate) fn last(&self) -> Seq {
        Seq(self.last.load(Ordering::Acquire))
    }

    pub(crate) fn durable(&self) -> Seq {
        Seq(self.durable.load(Ordering::Acquire))
    }

    pub(crate) fn first(&self) -> Seq {
        let segments = self.segments.read().unwrap_or_else(PoisonError::into_inner);
        segments.front().map_or(Seq(1), |segment| segment.header.first)
    }

    /// Returns the first record of the segment that is written to.
    pub(crate) fn newest(&self) -> Seq {
        let segments = self.segments.read().unwrap_or_else(PoisonError::into_inner);
        segments.back().map_or(Seq(1), |segment| segment.header.first)
    }

    pub(crate) fn extents(&self) -> Vec<Extent> {
        let segments = self.segments.read().unwrap_or_else(PoisonError::into_inner);
        segments.iter().map(|segment| Extent::of(&segment.header)).collect()
    }

    /// Returns the segment that holds a record or would hold it, and the first record of the one behind it.
    pub(crate) fn segment_of(&self, seq: Seq) -> Option<Located<D::File>> {
        let segments = self.segments.read().unwrap_or_else(PoisonError::into_inner);
        let after = segments.partition_point(|segment| segment.header.first <= seq);
        let segment = Arc::clone(segments.get(after.checked_sub(1)?)?);
        Some(Located { segment, next: segments.get(after).map(|next| next.header.first) })
    }

    /// Returns the open file of a segment.
    pub(crate) fn file(&self, segment: &Segment<D::File>) -> io::Result<Arc<OpenFile<D::File>>> {
        let mut open = hold(&segment.open);
        if let Some(file) = open.upgrade() {
            return Ok(file);
        }
        let file = self.disk.open(&segment.name)?;
        let file = Arc::new(OpenFile { file, index: RwLock::new(None) });
        *open = Arc::downgrade(&file);
        drop(open);
        self.keep_open(Arc::clone(&file));
        Ok(file)
    }

    /// Keeps a file open until enough others were opened after it.
    pub(crate) fn keep_open(&self, file: Arc<OpenFile<D::File>>) {
        let mut recent = hold(&self.recent);
        if recent.len() == OPEN_MAX {
            recent.pop_front();
        }
        recent.push_back(file);
    }

    /// Goes on in a new segment; the file of the one before it stays open for its readers.
    pub(crate) fn push_segment(&self, segment: Arc<Segment<D::File>>, open: Arc<OpenFile<D::File>>) {
        self.segments.write().unwrap_or_else(PoisonError::into_inner).push_back(segment);
        self.end.store(0, Ordering::Release);
        let before = std::mem::replace(&mut *hold(&self.writing), open);
        self.keep_open(before);
    }

    /// Lets the system forget what it holds of the log before its newest part, each piece once.
    pub(crate) fn let_go_of_old(&self) {
        let (mut first, mut from) = *hold(&self.let_go);
        for (segment, to) in self.old_parts(first, from) {
            if segment.header.first != first {
                (first, from) = (segment.header.first, 0);
            }
            // A file that cannot be opened now is no worse off.
            if let Ok(open) = self.file(&segment) {
                open.file.let_go(from, to);
            }
            from = to;
        }
        *hold(&self.let_go) = (first, from);
    }

    /// Returns the segments with something old behind a place, the oldest first, and where that ends in each.
    fn old_parts(&self, first: Seq, from: u64) -> Vec<(Arc<Segment<D::File>>, u64)> {
        let segments = self.segments.read().unwrap_or_else(PoisonError::into_inner);
        let mut recent = self.options.recent_bytes;
        let mut written = Some(self.end.load(Ordering::Acquire));
        let mut parts = Vec::new();
        for segment in segments.iter().rev().take_while(|segment| segment.header.first >= first) {
            // Those before the one that is written to are full.
            let end = written.take().unwrap_or(segment.header.bytes);
            let old = end.saturating_sub(recent);
            let to = if recent == 0 { old } else { old / LET_GO_BYTES * LET_GO_BYTES };
            let known = if segment.header.first == first { from } else { 0 };
            if to > known {
                parts.push((Arc::clone(segment), to));
            }
            recent = recent.saturating_sub(end);
        }
        parts.reverse();
        parts
    }

    /// Takes the oldest segment out if all its records are before `floor`; never the one that is written to.
    pub(crate) fn pop_segment_before(&self, floor: Seq) -> Option<Arc<Segment<D::File>>> {
        let mut segments = self.segments.write().unwrap_or_else(PoisonError::into_inner);
        let next = segments.get(1)?;
        if next.header.first <= floor { segments.pop_front() } else { None }
    }

    /// Lets everybody see what was appended.
    pub(crate) fn appended(&self, last: Seq, end: u64) {
        self.end.store(end, Ordering::Release);
        self.written.fetch_add(1, Ordering::Release);
        self.last.store(last.0, Ordering::Release);
    }

    pub(crate) fn poison(&self) {
        self.failed.store(true, Ordering::Release);
    }

    pub(crate) fn poisoned(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// Makes everything durable that was appended before the call.
    pub(crate) fn sync(&self) -> Result<Seq, SyncFailure> {
        let last = self.last();
        let written = self.written.load(Ordering::Acquire);
        let _syncing = hold(&self.syncing);
        if self.poisoned() {
            return Err(SyncFailure::Earlier);
        }
        if self.synced.load(Ordering::Acquire) < written {
            // What was appended before this segment was synced when it began.
            let open = Arc::clone(&hold(&self.writing));
            if let Err(error) = self.sync_segment(&open.file) {
                self.poison();
                return Err(SyncFailure::Now(error));
            }
            self.synced.fetch_max(written, Ordering::AcqRel);
        }
        self.durable.fetch_max(last.0, Ordering::AcqRel);
        Ok(self.durable())
    }

    #[cfg(not(any(test, feature = "plants")))]
    fn sync_segment(&self, file: &D::File) -> io::Result<()> {
        sync_file(file)
    }

    #[cfg(any(test, feature = "plants"))]
    fn sync_segment(&self, file: &D::File) -> io::Result<()> {
        if self.planted(Plant::SkipSync) {
            return Ok(());
        }
        let synced = sync_file(file);
        if self.planted(Plant::IgnoreFailedSync) { Ok(()) } else { synced }
    }

    #[cfg(not(any(test, feature = "plants")))]
    pub(crate) fn sync_folder(&self) -> io::Result<()> {
        self.disk.sync_folder()
    }

    #[cfg(any(test, feature = "plants"))]
    pub(crate) fn sync_folder(&self) -> io::Result<()> {
        if self.planted(Plant::SkipDirSync) { Ok(()) } else { self.disk.sync_folder() }
    }

    #[cfg(any(test, feature = "plants"))]
    pub(crate) fn planted(&self, plant: Plant) -> bool {
        self.options.plant == Some(plant)
    }
}

/// Takes a lock. Nothing here panics while it holds one, so a poisoned one still guards whole data.
pub(crate) fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
