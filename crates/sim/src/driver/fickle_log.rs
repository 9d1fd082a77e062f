//! A log that may refuse an append or lose its answer, as one does that several writers share over a network.
//!
//! It is the embedded log, which answers at once, or the same log behind a network: appends are on their way until
//! somebody asks for their outcome, and reach the log in their order.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use log::{AppendError, Batch, Class, Keeper, Log, LogReader, LogSnapshots, LogSyncer, MemDisk, Room};
use log::{SegmentLog, SyncError, Syncer, TruncateError};
use message::Seq;

use crate::random::Dice;

/// The log.
pub(crate) struct FickleLog {
    inner: Arc<Mutex<SegmentLog<MemDisk>>>,
    network: Arc<Mutex<Network>>,
    /// How many appends may be on their way; none on the embedded log.
    in_flight_max: Option<usize>,
}

/// Waits for outcomes.
pub(crate) struct FickleSyncer {
    inner: LogSyncer<MemDisk>,
    log: Arc<Mutex<SegmentLog<MemDisk>>>,
    network: Arc<Mutex<Network>>,
}

/// Appends on their way, and what becomes of the next one.
#[derive(Default)]
struct Network {
    sent: VecDeque<Sent>,
    next: Option<AppendFault>,
    /// Whether an answer was lost that nobody has been told of.
    lost: bool,
}

struct Sent {
    expected: Seq,
    last: Seq,
    batch: Batch,
    fault: Option<AppendFault>,
}

/// How an append fails although the log is whole.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AppendFault {
    /// At once.
    RefusedAtOnce,
    /// When its outcome is asked for.
    RefusedLater,
    /// Nobody learns whether it failed. So many of it and those behind it are in the log.
    Unknown { kept: usize },
}

impl AppendFault {
    /// Draws one for a log.
    pub(crate) fn draw(dice: &mut Dice, in_flight_max: Option<usize>) -> AppendFault {
        let Some(in_flight_max) = in_flight_max else { return AppendFault::RefusedAtOnce };
        match dice.weighted(&[25, 50, 25]) {
            0 => AppendFault::RefusedAtOnce,
            1 => AppendFault::RefusedLater,
            _ => AppendFault::Unknown { kept: dice.index(in_flight_max + 1) },
        }
    }
}

impl FickleLog {
    pub(crate) fn new(inner: SegmentLog<MemDisk>, in_flight_max: Option<usize>) -> Self {
        FickleLog { inner: Arc::new(Mutex::new(inner)), network: Arc::default(), in_flight_max }
    }

    /// Lets the next append fail.
    pub(crate) fn fail_next(&self, fault: AppendFault) {
        lock(&self.network).next = Some(fault);
    }

    /// Tells, once, whether an answer was lost while the log is whole.
    pub(crate) fn has_lost_an_answer(&self) -> bool {
        std::mem::take(&mut lock(&self.network).lost)
    }

    /// Returns how many appends are on their way.
    pub(crate) fn sent(&self) -> usize {
        lock(&self.network).sent.len()
    }

    /// Lets so many appends that are on their way reach the log, without anybody learning of it: the process dies.
    pub(crate) fn let_arrive(&self, count: usize) {
        let mut network = lock(&self.network);
        let is_good = |sent: &Sent| sent.fault.is_none();
        let arriving = std::mem::take(&mut network.sent).into_iter().take(count).take_while(is_good);
        // A disk that fails takes no more, and nobody is there to be told.
        let _failed = arriving.map(|sent| arrive(&self.inner, sent)).find(Result::is_err);
    }

    /// Returns the last record that reached the log.
    pub(crate) fn written(&self) -> Seq {
        lock(&self.inner).last()
    }
}

impl Log for FickleLog {
    type Syncer = FickleSyncer;
    type Reader = LogReader<MemDisk>;
    type Snapshots = LogSnapshots<MemDisk>;
    type Keeper = Keeper<MemDisk>;

    fn first(&self) -> Seq {
        lock(&self.inner).first()
    }

    fn last(&self) -> Seq {
        lock(&self.network).sent.back().map_or_else(|| self.written(), |sent| sent.last)
    }

    fn room(&self) -> Room {
        lock(&self.inner).room()
    }

    fn append(&mut self, expected: Seq, batch: &mut Batch, class: Class) -> Result<Seq, AppendError> {
        let last = self.last();
        let fault = lock(&self.network).next.take();
        if matches!(fault, Some(AppendFault::RefusedAtOnce)) || expected != last {
            return Err(AppendError::Stale { expected, last });
        }
        if self.in_flight_max.is_none() {
            return lock(&self.inner).append(expected, batch, class);
        }
        let last = Seq(last.0 + batch.count());
        let batch = std::mem::replace(batch, Batch::new());
        lock(&self.network).sent.push_back(Sent { expected, last, batch, fault });
        Ok(last)
    }

    fn in_flight_max(&self) -> usize {
        self.in_flight_max.unwrap_or(1)
    }

    fn syncer(&self) -> Self::Syncer {
        FickleSyncer {
            inner: lock(&self.inner).syncer(),
            log: Arc::clone(&self.inner),
            network: Arc::clone(&self.network),
        }
    }

    fn reader(&self) -> Self::Reader {
        lock(&self.inner).reader()
    }

    fn snapshots(&self) -> Self::Snapshots {
        lock(&self.inner).snapshots()
    }

    fn keeper(&self) -> Self::Keeper {
        lock(&self.inner).keeper()
    }

    fn mark(&mut self) -> Result<(), AppendError> {
        lock(&self.inner).mark()
    }

    fn truncate_before(&mut self, seq: Seq) -> Result<Seq, TruncateError> {
        lock(&self.inner).truncate_before(seq)
    }
}

impl Syncer for FickleSyncer {
    fn sync(&mut self) -> Result<Seq, SyncError> {
        self.sync_upto(Seq(u64::MAX))
    }

    fn sync_upto(&mut self, upto: Seq) -> Result<Seq, SyncError> {
        let mut network = lock(&self.network);
        while let Some(sent) = network.sent.pop_front_if(|sent| sent.last <= upto) {
            match sent.fault {
                None | Some(AppendFault::RefusedAtOnce) => {
                    arrive(&self.log, sent).inspect_err(|_| network.sent.clear())?
                }
                Some(AppendFault::RefusedLater) => {
                    network.sent.clear();
                    return Err(SyncError::Stale { last: self.inner.sync()? });
                }
                Some(AppendFault::Unknown { kept }) => {
                    let all = [sent].into_iter().chain(std::mem::take(&mut network.sent));
                    all.take(kept).try_for_each(|sent| arrive(&self.log, sent))?;
                    self.inner.sync()?;
                    network.lost = true;
                    return Err(SyncError::Storage(io::Error::other("the answer was lost")));
                }
            }
        }
        self.inner.sync()
    }

    fn durable(&self) -> Seq {
        self.inner.durable()
    }
}

/// Lets an append reach the log.
fn arrive(log: &Mutex<SegmentLog<MemDisk>>, mut sent: Sent) -> Result<(), SyncError> {
    let mut log = lock(log);
    match log.append(sent.expected, &mut sent.batch, Class::Reserve) {
        Ok(_) => Ok(()),
        Err(AppendError::Storage(error)) => Err(SyncError::Storage(error)),
        Err(AppendError::Poisoned) => Err(SyncError::Poisoned),
        Err(
            AppendError::Stale { .. }
            | AppendError::RecordTooLarge { .. }
            | AppendError::BatchTooLarge { .. }
            | AppendError::NoRoom { .. },
        ) => Err(SyncError::Stale { last: log.last() }),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
