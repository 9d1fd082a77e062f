//! The pipeline between deciding and the log: batches that wait to be made durable, how many appends are in flight, and
//! who may write.
//!
//! No lock and no waiting here: threads wrap it in both (`commit_queue.rs`), and the simulation uses it as it is.

use log::Batch;
use message::Seq;

use super::{Committed, Completion};
use crate::failure::Fatal;

/// Bytes that wait to be made durable, above which nothing more is decided.
const WAITING_BYTES_MAX: u64 = 4 << 20;
/// Memory with which a batch begins.
const BATCH_BYTES: usize = 256 << 10;
/// Batches whose memory is kept for reuse.
const SPARES_MAX: usize = 4;

/// The events of one step, and what waits for them.
pub struct PendingBatch {
    /// The events.
    pub batch: Batch,
    /// What leaves when `needs` is durable.
    pub completions: Vec<Completion>,
    /// The last event of the state when they were made; the batch ends there.
    pub last: Seq,
    /// The last event that must be durable before a completion leaves. Signs of life behind it are merely written.
    pub needs: Seq,
}

/// How much fits into the next batch.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// With new work in it.
    pub bytes: u64,
    /// The largest batch that the log takes.
    pub batch_bytes_max: u64,
    /// Whether the storage is known to be full, so that waiting for more room is in vain.
    pub is_full: bool,
}

/// What there is to do for who makes batches durable.
pub enum Next {
    /// These. Their append is in flight until [`Pipeline::end_commit`], [`Pipeline::refuse`] or [`Pipeline::fail`].
    Batches(Vec<PendingBatch>),
    /// Nothing yet.
    Wait,
    /// Nothing, ever.
    End,
}

/// Batches on their way to the log.
pub struct Pipeline {
    batches: Vec<PendingBatch>,
    /// Bytes of the waiting batches.
    waiting_bytes: u64,
    /// Bytes that were decided and are not in the log yet.
    pending_bytes: u64,
    /// Appends that were begun and whose completions have not left.
    in_flight: usize,
    /// How many there may be.
    in_flight_max: usize,
    /// Whether whoever decided a batch makes it durable itself, so that nobody else appends.
    is_alone: bool,
    /// Whether the log lacks an append, so that nothing counts that was decided behind it.
    is_refused: bool,
    /// Empty batches with memory, for reuse.
    spares: Vec<Batch>,
    /// What is left in the segment that is written to.
    free: u64,
    durable: Seq,
    closed: bool,
    failure: Option<Fatal>,
    #[cfg(feature = "plants")]
    pub plant: Option<super::Plant>,
}

impl Pipeline {
    /// Makes an empty one, of a log that is durable up to a place, has so much room in its segment and allows so many
    /// appends in flight.
    pub fn new(durable: Seq, free: u64, in_flight_max: usize) -> Self {
        Pipeline {
            batches: Vec::new(),
            waiting_bytes: 0,
            pending_bytes: 0,
            in_flight: 0,
            in_flight_max: in_flight_max.max(1),
            is_alone: false,
            is_refused: false,
            spares: Vec::new(),
            free,
            durable,
            closed: false,
            failure: None,
            #[cfg(feature = "plants")]
            plant: None,
        }
    }

    /// Adds a batch. After a failure or a refusal it is given back, to be dropped where no lock is held.
    #[must_use]
    pub fn push(&mut self, batch: PendingBatch) -> Option<PendingBatch> {
        if self.is_refused || (self.failure.is_some() && !self.is_planted_drop()) {
            return Some(batch);
        }
        self.pending_bytes += batch.batch.bytes();
        self.waiting_bytes += batch.batch.bytes();
        self.batches.push(batch);
        None
    }

    /// Takes all batches that wait, to be made durable together, if another append may be in flight.
    pub fn take_next(&mut self) -> Next {
        let is_idle = self.in_flight == 0;
        if self.failure.is_some() {
            return if is_idle { Next::End } else { Next::Wait };
        }
        if self.is_alone || self.is_refused || self.in_flight >= self.in_flight_max {
            return Next::Wait;
        }
        if self.batches.is_empty() {
            return if self.closed && is_idle { Next::End } else { Next::Wait };
        }
        self.in_flight += 1;
        self.waiting_bytes = 0;
        Next::Batches(std::mem::take(&mut self.batches))
    }

    /// Lets whoever decided a batch make it durable itself, if nothing is in flight and nothing waits before it. Nothing
    /// else is taken meanwhile: another thread would let out what was decided later first.
    pub fn begin_alone(&mut self, bytes: u64) -> bool {
        let is_idle = self.in_flight == 0 && self.batches.is_empty();
        let may = is_idle && self.failure.is_none() && !self.is_refused;
        if may {
            (self.in_flight, self.is_alone) = (1, true);
            self.pending_bytes += bytes;
        }
        may
    }

    /// Notes that the oldest append in flight is durable. It stays in flight until its completions have left.
    pub fn advance(&mut self, committed: &mut Committed) {
        self.pending_bytes = self.pending_bytes.saturating_sub(committed.bytes);
        self.durable = self.durable.max(committed.durable);
        self.free = committed.free;
        self.spares.append(&mut committed.spares);
        self.spares.truncate(SPARES_MAX);
    }

    /// Notes that the completions of the oldest append in flight have left, so that the next batches may be taken.
    pub fn end_commit(&mut self) {
        // After a failure nothing is counted as in flight any more.
        self.in_flight = self.in_flight.saturating_sub(1);
        self.is_alone = false;
    }

    /// Notes a failure: nothing is made durable any more. Returns the first one, and the batches whose callers are to
    /// be told, which are dropped where no lock is held.
    pub fn fail(&mut self, fatal: &Fatal) -> (Fatal, Vec<PendingBatch>) {
        #[cfg(feature = "plants")]
        let resets = self.plant != Some(super::Plant::SkipBusyReset);
        #[cfg(not(feature = "plants"))]
        let resets = true;
        if resets {
            (self.in_flight, self.is_alone) = (0, false);
        }
        let first = self.failure.get_or_insert_with(|| fatal.clone()).clone();
        let batches = if self.is_planted_drop() { Vec::new() } else { std::mem::take(&mut self.batches) };
        (first, batches)
    }

    /// Tells whether the batches behind a failed one are forgotten, by a planted fault.
    fn is_planted_drop(&self) -> bool {
        #[cfg(feature = "plants")]
        return self.plant == Some(super::Plant::ForgetBehindFailure);
        #[cfg(not(feature = "plants"))]
        false
    }

    /// Notes that the log refused an append, or that nobody knows its outcome: nothing counts that was decided behind
    /// it, and nothing is taken until the state was loaded again. So many appends before it are still in flight.
    /// Returns the batches whose callers are to be told, which are dropped where no lock is held.
    pub fn refuse(&mut self, before: usize) -> Vec<PendingBatch> {
        #[cfg(feature = "plants")]
        let before = if self.plant == Some(super::Plant::ReloadTooEarly) { 0 } else { before };
        (self.in_flight, self.is_alone, self.is_refused) = (before, false, true);
        self.waiting_bytes = 0;
        std::mem::take(&mut self.batches)
    }

    /// Tells whether the state is to be loaded again now: an append was refused, and nothing before it is in flight.
    pub fn wants_reload(&self) -> bool {
        self.is_refused && self.in_flight == 0
    }

    /// Notes that the state was loaded again, from a log that is durable up to a place and has so much room in its
    /// segment.
    pub fn reloaded(&mut self, durable: Seq, free: u64) {
        (self.is_refused, self.free, self.pending_bytes) = (false, free, 0);
        self.durable = self.durable.max(durable);
    }

    /// Lets nothing more in; what waits is still made durable.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Tells whether another batch may be decided.
    pub fn has_room(&self) -> bool {
        self.waiting_bytes < WAITING_BYTES_MAX
    }

    /// Returns why nothing is made durable any more, if that is so.
    pub fn failure(&self) -> Option<&Fatal> {
        self.failure.as_ref()
    }

    /// Returns up to where the log is durable.
    pub fn durable(&self) -> Seq {
        self.durable
    }

    /// Returns what is left in the segment that is written to, after what was decided.
    pub fn free(&self) -> u64 {
        self.free.saturating_sub(self.pending_bytes)
    }

    /// Returns how much fits into the next batch. As long as the storage is not known to be full, new work may use a
    /// part of the reserve, which is then prepared again.
    pub fn room(&self, ready: log::Ready, batch_bytes_max: u64) -> Room {
        let free = self.free();
        let sure = free + ready.normal;
        let lent = (free + ready.reserve).min(batch_bytes_max) / 2;
        let bytes = if ready.is_full { sure } else { sure.max(lent) };
        Room { bytes: bytes.min(batch_bytes_max), batch_bytes_max, is_full: ready.is_full }
    }

    /// Returns an empty batch.
    pub fn batch(&mut self) -> Batch {
        self.spares.pop().unwrap_or_else(|| Batch::with_capacity(BATCH_BYTES))
    }
}
