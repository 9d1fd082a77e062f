//! The pipeline between deciding and the log: batches that wait to be made durable, and who may write.
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
    /// These; the pipeline is then busy until [`Pipeline::end_commit`] or [`Pipeline::fail`].
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
    /// Whether somebody is writing to the log.
    busy: bool,
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
    /// Makes an empty one, of a log that is durable up to a place and has so much room in its segment.
    pub fn new(durable: Seq, free: u64) -> Self {
        Pipeline {
            batches: Vec::new(),
            waiting_bytes: 0,
            pending_bytes: 0,
            busy: false,
            spares: Vec::new(),
            free,
            durable,
            closed: false,
            failure: None,
            #[cfg(feature = "plants")]
            plant: None,
        }
    }

    /// Adds a batch. After a failure it is given back, to be dropped where no lock is held.
    #[must_use]
    pub fn push(&mut self, batch: PendingBatch) -> Option<PendingBatch> {
        if self.failure.is_some() && !self.is_planted_drop() {
            return Some(batch);
        }
        self.pending_bytes += batch.batch.bytes();
        self.waiting_bytes += batch.batch.bytes();
        self.batches.push(batch);
        None
    }

    /// Takes all batches that wait, to be made durable together.
    pub fn take_next(&mut self) -> Next {
        if self.failure.is_some() {
            return if self.busy { Next::Wait } else { Next::End };
        }
        if self.busy {
            return Next::Wait;
        }
        if self.batches.is_empty() {
            return if self.closed { Next::End } else { Next::Wait };
        }
        self.busy = true;
        self.waiting_bytes = 0;
        Next::Batches(std::mem::take(&mut self.batches))
    }

    /// Lets whoever decided a batch make it durable itself, if nobody is writing and nothing waits before it.
    pub fn begin_alone(&mut self, bytes: u64) -> bool {
        let may = !self.busy && self.batches.is_empty() && self.failure.is_none();
        if may {
            self.busy = true;
            self.pending_bytes += bytes;
        }
        may
    }

    /// Notes that batches are durable. The pipeline stays busy until their completions have left: those of the next
    /// batches must not overtake them.
    pub fn advance(&mut self, committed: &mut Committed) {
        self.pending_bytes = self.pending_bytes.saturating_sub(committed.bytes);
        self.durable = self.durable.max(committed.durable);
        self.free = committed.free;
        self.spares.append(&mut committed.spares);
        self.spares.truncate(SPARES_MAX);
    }

    /// Notes that the completions of durable batches have left, so that the next batches may be taken.
    pub fn end_commit(&mut self) {
        self.busy = false;
    }

    /// Notes a failure: nothing is made durable any more. Returns the first one, and the batches whose callers are to
    /// be told, which are dropped where no lock is held.
    pub fn fail(&mut self, fatal: &Fatal) -> (Fatal, Vec<PendingBatch>) {
        #[cfg(feature = "plants")]
        let resets = self.plant != Some(super::Plant::SkipBusyReset);
        #[cfg(not(feature = "plants"))]
        let resets = true;
        if resets {
            self.busy = false;
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

    /// Notes that the log refused an append, so that nothing that was decided behind it counts: the state is loaded
    /// again. Returns the batches whose callers are to be told, which are dropped where no lock is held.
    pub fn refuse(&mut self, free: u64) -> Vec<PendingBatch> {
        (self.busy, self.free) = (false, free);
        (self.pending_bytes, self.waiting_bytes) = (0, 0);
        std::mem::take(&mut self.batches)
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
