//! The commit queue: batches between the writer and the log's thread, with the locks and the waiting around the
//! [`Pipeline`].

use log::{Keep, Log};
use message::Seq;
use tokio::sync::watch;

use super::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use crate::driver::{Committed, Next, PendingBatch, Pipeline, Room};
use crate::failure::Fatal;

/// Room below which a full disk counts as full.
const FULL_BYTES: u64 = 1 << 20;

/// Batches on their way to the log.
pub(crate) struct CommitQueue<L: Log> {
    state: Mutex<State>,
    /// There is work for the log's thread, or it is to end.
    pushed: Condvar,
    /// The waiting batches were taken.
    taken: Condvar,
    /// More is durable, or nothing more will be.
    advanced: Condvar,
    keeper: L::Keeper,
    batch_bytes_max: u64,
    in_flight_max: usize,
    /// Up to where the log is durable, for those who cannot block.
    durable: watch::Sender<Seq>,
}

struct State {
    pipeline: Pipeline,
    /// Whether nothing more will be made durable.
    done: bool,
}

/// What the log's thread does next.
pub(crate) enum LogStep {
    /// Appends these, all together.
    Append(Vec<PendingBatch>),
    /// Waits for the outcome of its oldest append in flight.
    Settle,
    /// Ends.
    End,
}

impl<L: Log> CommitQueue<L> {
    pub(crate) fn new(log: &L, free: u64) -> Self {
        let pipeline = Pipeline::new(log.last(), free, log.in_flight_max());
        let [pushed, taken, advanced] = [const { Condvar::new() }; 3];
        CommitQueue {
            state: Mutex::new(State { pipeline, done: false }),
            pushed,
            taken,
            advanced,
            keeper: log.keeper(),
            batch_bytes_max: log.room().batch_bytes_max,
            in_flight_max: log.in_flight_max(),
            durable: watch::Sender::new(log.last()),
        }
    }

    /// Adds a batch. After a failure it is dropped, and with it its callers learn that the node has stopped.
    pub(crate) fn push(&self, batch: PendingBatch) {
        let mut state = self.lock();
        let refused = state.pipeline.push(batch);
        self.pushed.notify_one();
        drop(state);
        // Outside of the lock: dropping may run code of callers.
        drop(refused);
    }

    /// Lets the writer make a batch durable itself, if nothing is in flight and nothing waits before it.
    pub(crate) fn begin_alone(&self, batch: &PendingBatch) -> bool {
        self.lock().pipeline.begin_alone(batch.batch.bytes())
    }

    /// Returns what the log's thread does next, which has so many appends in flight. Waits for batches if it has none.
    pub(crate) fn next(&self, in_flight: usize) -> LogStep {
        if in_flight >= self.in_flight_max {
            return LogStep::Settle;
        }
        let mut state = self.lock();
        loop {
            match state.pipeline.take_next() {
                Next::Batches(batches) => {
                    self.taken.notify_all();
                    return LogStep::Append(batches);
                }
                Next::Wait if in_flight > 0 => return LogStep::Settle,
                Next::Wait => state = self.pushed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Next::End => return LogStep::End,
            }
        }
    }

    /// Notes that an append is durable. It counts as in flight until [`CommitQueue::end_commit`].
    pub(crate) fn advance(&self, committed: &mut Committed) {
        let mut state = self.lock();
        let before = state.pipeline.durable();
        state.pipeline.advance(committed);
        let durable = state.pipeline.durable();
        drop(state);
        self.publish(before, durable);
    }

    /// Notes that the completions of an append have left, and lets the next batches be taken.
    pub(crate) fn end_commit(&self) {
        self.lock().pipeline.end_commit();
        self.pushed.notify_one();
    }

    /// Notes that the log is durable up to its end, and that nothing follows.
    pub(crate) fn end(&self, durable: Option<Seq>) {
        let mut state = self.lock();
        state.done = true;
        drop(state);
        self.advanced.notify_all();
        let before = *self.durable.borrow();
        self.publish(before, durable.unwrap_or(before));
    }

    fn publish(&self, before: Seq, durable: Seq) {
        if durable > before {
            self.advanced.notify_all();
            self.durable.send_replace(durable);
        }
    }

    /// Notes a failure, and returns the first. Nothing is made durable or released after it.
    pub(crate) fn fail(&self, fatal: &Fatal) -> Fatal {
        let mut state = self.lock();
        let (first, batches) = state.pipeline.fail(fatal);
        state.done = true;
        self.pushed.notify_all();
        self.taken.notify_all();
        self.advanced.notify_all();
        drop(state);
        // Outside of the lock: dropping may run code of callers, who learn that the node has stopped.
        drop(batches);
        first
    }

    /// Returns why nothing can be made durable any more, if that is so.
    pub(crate) fn failure(&self) -> Option<Fatal> {
        self.lock().pipeline.failure().cloned()
    }

    /// Waits until another batch may be decided. Fails when nothing can be made durable any more.
    pub(crate) fn wait_for_room(&self) -> Result<(), Fatal> {
        let waits = |state: &mut State| !state.pipeline.has_room() && state.pipeline.failure().is_none();
        let state = self.taken.wait_while(self.lock(), waits).unwrap_or_else(PoisonError::into_inner);
        state.pipeline.failure().cloned().map_or(Ok(()), Err)
    }

    /// Waits until everything up to a place is durable.
    pub(crate) fn wait_until_durable(&self, upto: Seq) -> Result<(), Fatal> {
        let waits = |state: &mut State| state.pipeline.durable() < upto && state.pipeline.failure().is_none();
        let state = self.advanced.wait_while(self.lock(), waits).unwrap_or_else(PoisonError::into_inner);
        state.pipeline.failure().cloned().map_or(Ok(()), Err)
    }

    /// Waits until more than this is durable; nothing when it never will be.
    pub(crate) fn wait_beyond(&self, after: Seq) -> Option<Seq> {
        let waits = |state: &mut State| state.pipeline.durable() <= after && !state.done;
        let state = self.advanced.wait_while(self.lock(), waits).unwrap_or_else(PoisonError::into_inner);
        Some(state.pipeline.durable()).filter(|durable| *durable > after)
    }

    /// Returns how much fits into the next batch.
    pub(crate) fn room(&self) -> Room {
        self.lock().pipeline.room(self.keeper.ready(), self.batch_bytes_max)
    }

    /// Returns how much fits into the next batch. Where that is less than wanted and the disk is not known to be full,
    /// prepares segments. Maintenance does that ahead of need, but the writer must not wait for it: it may be waiting
    /// for the writer's answer.
    pub(crate) fn prepare_room(&self, wanted: u64) -> Room {
        let wanted = wanted.min(self.batch_bytes_max / 2);
        let room = self.room();
        if room.bytes >= wanted || room.is_full {
            return room;
        }
        // A failure is the next append's to report.
        drop(self.keeper.keep());
        self.room()
    }

    /// Tells whether the disk is full.
    pub(crate) fn is_full(&self) -> bool {
        self.keeper.ready().is_full && self.room().bytes < FULL_BYTES
    }

    /// Returns what is left in the segment that is written to.
    pub(crate) fn free(&self) -> u64 {
        self.lock().pipeline.free()
    }

    pub(crate) fn batch_bytes_max(&self) -> u64 {
        self.batch_bytes_max
    }

    /// Returns the oldest record of the log, and what its files take.
    pub(crate) fn held(&self) -> (Seq, u64) {
        (self.keeper.first(), self.keeper.bytes())
    }

    /// Returns an empty batch.
    pub(crate) fn batch(&self) -> log::Batch {
        self.lock().pipeline.batch()
    }

    /// Lets nothing more in; what waits is still made durable.
    pub(crate) fn close(&self) {
        self.lock().pipeline.close();
        self.pushed.notify_all();
    }

    /// Returns a handle that tells when more is durable.
    pub(crate) fn watch(&self) -> watch::Receiver<Seq> {
        self.durable.subscribe()
    }

    pub(crate) fn durable(&self) -> Seq {
        self.lock().pipeline.durable()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
