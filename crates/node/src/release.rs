//! Letting answers out: a batch is appended, made durable, and then what waited for it is let go.
//!
//! The log's own thread does that, and the writer decides the next batches meanwhile. Those that wait until it is done
//! are then made durable together. A batch that is small, or need not be durable, is sent by the writer itself if it
//! finds nobody at work: waking another thread would take longer than it saves. Not on a disk that was slow of late,
//! for which whoever has better things to do must not wait.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use log::{Batch, Class, Keeper, Log, LogSyncer, RealDisk, SegmentLog, Syncer};
use message::Seq;
use tokio::sync::watch;

use crate::clock::Clock;
use crate::counters::Counters;
use crate::failure::{Fatal, describe};

/// Room below which more is looked for here, should the upkeep be late.
const ROOM_BYTES: u64 = 256 << 10;
/// Memory with which a batch begins.
const BATCH_BYTES: usize = 256 << 10;
/// What waits to be made durable at most, before nothing more is decided.
const WAITING_BYTES_MAX: u64 = 4 << 20;
/// Batches that are kept.
const SPARES_MAX: usize = 4;
/// Bytes of a parcel that the writer makes durable itself at most.
const ALONE_BYTES_MAX: u64 = 64 << 10;
/// How long a sync takes after which the disk counts as slow, until one takes less.
const SLOW: Duration = Duration::from_millis(10);
/// Room below which a full disk counts as full.
const FULL_BYTES: u64 = 1 << 20;
/// How long to wait before looking again on a full disk.
const ROOM_PAUSE: Duration = Duration::from_secs(1);

/// Something that leaves when a batch is durable.
pub(crate) type Release = Box<dyn FnOnce() + Send>;
pub(crate) type Releases = Vec<Release>;

/// What the writer hands over: the events of a turn, and what waits for them.
pub(crate) struct Parcel {
    pub(crate) batch: Batch,
    pub(crate) releases: Releases,
    /// The last event of the state when they were made; the batch ends there.
    pub(crate) upto: Seq,
    /// The last event that must be durable before anything is let out; signs of life behind it are merely written.
    pub(crate) needs: Seq,
}

/// Where the writer hands over.
pub(crate) struct Outbox {
    state: Mutex<State>,
    /// There is work for the log's thread, or it is to end.
    pushed: Condvar,
    /// The waiting parcels were taken.
    taken: Condvar,
    /// More is durable, segments are ready, or nothing more will be durable.
    advanced: Condvar,
    keeper: Keeper<RealDisk>,
    batch_bytes_max: u64,
    /// Up to where the log is durable, for those who cannot block.
    durable: watch::Sender<Seq>,
}

/// How much fits into the next batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// With new work in it.
    pub(crate) bytes: u64,
    /// The largest batch that there is.
    pub(crate) batch_bytes_max: u64,
}

struct State {
    parcels: Vec<Parcel>,
    /// What the waiting parcels have.
    bytes_waiting: u64,
    /// Whether somebody is making parcels durable.
    is_busy: bool,
    /// Whether the disk took long for the last sync.
    is_slow: bool,
    /// Empty batches with memory, to be used again.
    spares: Vec<Batch>,
    /// What is left in the segment that is written to.
    free: u64,
    /// Whether segments were made ready once.
    is_kept: bool,
    /// What was handed over and is not in the log yet.
    bytes_pending: u64,
    closed: bool,
    /// Whether the thread has ended.
    done: bool,
    durable: Seq,
    fatal: Option<Fatal>,
}

impl Outbox {
    pub(crate) fn new(log: &SegmentLog<RealDisk>) -> Self {
        let state = State {
            parcels: Vec::new(),
            bytes_waiting: 0,
            is_busy: false,
            is_slow: false,
            spares: Vec::new(),
            free: free(log),
            is_kept: false,
            bytes_pending: 0,
            closed: false,
            done: false,
            durable: log.last(),
            fatal: None,
        };
        let (keeper, batch_bytes_max) = (log.keeper(), log.room().batch_bytes_max);
        let [pushed, taken, advanced] = [const { Condvar::new() }; 3];
        let durable = watch::Sender::new(log.last());
        Outbox { state: Mutex::new(state), pushed, taken, advanced, keeper, batch_bytes_max, durable }
    }

    /// Hands a parcel over. After a failure it is dropped, and with it the callers that wait for it.
    pub(crate) fn push(&self, parcel: Parcel) {
        let mut state = self.lock();
        if state.fatal.is_some() {
            drop(state);
            // Outside of the lock: dropping may run code of callers.
            drop(parcel);
            return;
        }
        state.bytes_pending += parcel.batch.bytes();
        state.bytes_waiting += parcel.batch.bytes();
        state.parcels.push(parcel);
        self.pushed.notify_one();
    }

    /// Lets the caller write to the log, if its parcel is soon sent and no other thread writes.
    pub(crate) fn begin_alone(&self, parcel: &Parcel) -> Option<Busy<'_>> {
        let mut state = self.lock();
        let is_soon_durable = parcel.batch.bytes() <= ALONE_BYTES_MAX && !state.is_slow;
        let is_soon_sent = is_soon_durable || parcel.needs <= state.durable;
        let is_free = !state.is_busy && state.parcels.is_empty() && state.fatal.is_none();
        if is_soon_sent && is_free {
            state.is_busy = true;
            state.bytes_pending += parcel.batch.bytes();
            return Some(Busy { outbox: self });
        }
        None
    }

    /// Tells whether another parcel may be handed over.
    pub(crate) fn has_room(&self) -> bool {
        let state = self.lock();
        state.bytes_waiting < WAITING_BYTES_MAX && state.fatal.is_none()
    }

    /// Waits until another parcel may be handed over. Fails when nothing can be made durable any more.
    pub(crate) fn wait_for_room(&self) -> Result<(), Fatal> {
        let mut state = self.lock();
        while state.bytes_waiting >= WAITING_BYTES_MAX && state.fatal.is_none() {
            state = self.taken.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.fatal.clone().map_or(Ok(()), Err)
    }

    /// Waits until everything up to a place is durable.
    pub(crate) fn wait_until_durable(&self, upto: Seq) -> Result<(), Fatal> {
        let mut state = self.lock();
        while state.durable < upto && state.fatal.is_none() {
            state = self.advanced.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.fatal.clone().map_or(Ok(()), Err)
    }

    /// Waits until more than this is durable; nothing when it never will be.
    pub(crate) fn wait_beyond(&self, after: Seq) -> Option<Seq> {
        let mut state = self.lock();
        while state.durable <= after {
            if state.fatal.is_some() || state.done {
                return None;
            }
            state = self.advanced.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        Some(state.durable)
    }

    /// Says that nothing more will be made durable.
    fn finish(&self) {
        self.lock().done = true;
        self.advanced.notify_all();
    }

    /// Returns how much fits into the next batch. As long as the disk is not known to be full, new work may use a part
    /// of the reserve, which is then made ready again.
    pub(crate) fn room(&self) -> Room {
        let state = self.lock();
        let ready = self.keeper.ready();
        let free = state.free.saturating_sub(state.bytes_pending);
        let sure = free + ready.normal;
        let lent = (free + ready.reserve).min(self.batch_bytes_max) / 2;
        let bytes = if ready.is_full { sure } else { sure.max(lent) };
        Room { bytes: bytes.min(self.batch_bytes_max), batch_bytes_max: self.batch_bytes_max }
    }

    /// Returns how much fits into all segments that are ready, and into one of them.
    pub(crate) fn reserve(&self) -> (u64, u64) {
        let state = self.lock();
        let free = state.free.saturating_sub(state.bytes_pending);
        (free + self.keeper.ready().reserve, self.batch_bytes_max)
    }

    /// Returns the oldest record of the log, and what its files take.
    pub(crate) fn held(&self) -> (Seq, u64) {
        (self.keeper.first(), self.keeper.bytes())
    }

    /// Returns how much fits into the next batch, when segments have been made ready. A disk that is not known to be
    /// full is asked here, should the upkeep be late.
    pub(crate) fn room_when_kept(&self, wanted: u64) -> Room {
        let mut state = self.lock();
        while !state.is_kept && !state.done && state.fatal.is_none() {
            state = self.advanced.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        let room = self.room();
        if room.bytes >= wanted || self.keeper.ready().is_full {
            return room;
        }
        // A failure poisons the log, and the next append says so.
        drop(self.keeper.keep());
        self.room()
    }

    /// Says that segments have been made ready, as far as there is room.
    pub(crate) fn kept(&self) {
        self.lock().is_kept = true;
        self.advanced.notify_all();
    }

    /// Tells whether the disk is full.
    pub(crate) fn is_full(&self) -> bool {
        self.keeper.ready().is_full && self.room().bytes < FULL_BYTES
    }

    /// Returns an empty batch.
    pub(crate) fn batch(&self) -> Batch {
        self.lock().spares.pop().unwrap_or_else(|| Batch::with_capacity(BATCH_BYTES))
    }

    /// Ends the thread, after what it has.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.pushed.notify_one();
    }

    /// Returns a handle that tells when more is durable.
    pub(crate) fn watch(&self) -> watch::Receiver<Seq> {
        self.durable.subscribe()
    }

    pub(crate) fn durable(&self) -> Seq {
        self.lock().durable
    }

    /// Waits for parcels and takes all that wait, with the right to write to the log. Nothing after the outbox was
    /// closed and emptied, or after a failure.
    fn next(&self) -> Option<(Vec<Parcel>, Busy<'_>)> {
        let mut state = self.lock();
        while state.fatal.is_none() && (state.is_busy || (state.parcels.is_empty() && !state.closed)) {
            state = self.pushed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.fatal.is_some() || state.parcels.is_empty() {
            return None;
        }
        state.is_busy = true;
        state.bytes_waiting = 0;
        self.taken.notify_all();
        Some((std::mem::take(&mut state.parcels), Busy { outbox: self }))
    }

    /// Notes a failure, and returns the first. Nothing is made durable or released after it.
    pub(crate) fn fail(&self, fatal: &Fatal) -> Fatal {
        let mut state = self.lock();
        let first = state.fatal.get_or_insert_with(|| fatal.clone()).clone();
        let parcels = std::mem::take(&mut state.parcels);
        self.pushed.notify_all();
        self.taken.notify_all();
        self.advanced.notify_all();
        drop(state);
        // Outside of the lock: dropping may run code of callers, who learn that the node has stopped.
        drop(parcels);
        first
    }

    /// Returns why nothing can be made durable any more, if that is so.
    pub(crate) fn failure(&self) -> Option<Fatal> {
        self.lock().fatal.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to write to the log. Dropping it, also by an early return or a panic, lets the next one write.
pub(crate) struct Busy<'o> {
    outbox: &'o Outbox,
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let mut state = self.outbox.lock();
        state.is_busy = false;
        if !state.parcels.is_empty() || state.closed {
            self.outbox.pushed.notify_one();
        }
    }
}

/// Whoever makes parcels durable.
pub(crate) struct Releaser {
    log: SegmentLog<RealDisk>,
    syncer: LogSyncer<RealDisk>,
    outbox: Arc<Outbox>,
    clock: Arc<dyn Clock>,
    looked_for_room: Option<Duration>,
    counters: Arc<Counters>,
}

impl Releaser {
    pub(crate) fn new(
        log: SegmentLog<RealDisk>,
        outbox: Arc<Outbox>,
        clock: Arc<dyn Clock>,
        counters: Arc<Counters>,
    ) -> Self {
        let syncer = log.syncer();
        Releaser { log, syncer, outbox, clock, looked_for_room: None, counters }
    }

    /// Makes parcels durable until the outbox is closed or something fails.
    pub(crate) fn run(releaser: &Mutex<Self>, outbox: &Outbox) -> Result<(), Fatal> {
        let lock = || releaser.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((parcels, busy)) = outbox.next() {
            lock().send(parcels)?;
            drop(busy);
        }
        outbox.failure().map_or(Ok(()), Err)?;
        lock().finish();
        Ok(())
    }

    /// Marks the end, so that later damage to the end of the log is told from a torn tail; if that fails, it is merely
    /// not told.
    fn finish(&mut self) {
        if self.log.mark().is_ok()
            && let Ok(durable) = self.syncer.sync()
        {
            self.outbox.lock().durable = durable;
        }
        self.outbox.finish();
    }

    /// Makes parcels durable and lets go what waited for them.
    pub(crate) fn send(&mut self, parcels: Vec<Parcel>) -> Result<(), Fatal> {
        self.try_send(parcels).inspect_err(|fatal| drop(self.outbox.fail(fatal)))
    }

    fn try_send(&mut self, parcels: Vec<Parcel>) -> Result<(), Fatal> {
        let (mut bytes, mut needs) = (0, Seq(0));
        let (mut spares, mut releases) =
            (Vec::with_capacity(parcels.len()), Vec::with_capacity(parcels.len()));
        for Parcel { mut batch, releases: waiting, upto, needs: of_parcel } in parcels {
            bytes += batch.bytes();
            needs = needs.max(of_parcel);
            if !batch.is_empty() {
                let expected = Seq(upto.0 - batch.count());
                let appended = self.log.append(expected, &mut batch, Class::Reserve);
                appended.map_err(|error| Fatal::Append(describe(&error).into()))?;
            }
            batch.clear();
            spares.push(batch);
            releases.push(waiting);
        }
        let is_durable = self.syncer.durable() >= needs;
        let durable = if is_durable { self.syncer.durable() } else { self.sync()? };
        debug_assert!(durable >= needs, "everything that was handed over was appended");
        self.look_for_room();
        let free = free(&self.log);
        let mut state = self.outbox.lock();
        state.bytes_pending = state.bytes_pending.saturating_sub(bytes);
        let has_advanced = durable > state.durable;
        (state.durable, state.free) = (durable, free);
        state.spares.append(&mut spares);
        state.spares.truncate(SPARES_MAX);
        drop(state);
        if has_advanced {
            self.outbox.advanced.notify_all();
            self.outbox.durable.send_replace(durable);
        }
        for release in releases.into_iter().flatten() {
            release();
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<Seq, Fatal> {
        let begun = self.clock.steady();
        let durable = self.syncer.sync()?;
        let took = self.clock.steady().saturating_sub(begun);
        self.counters.sync.add(took);
        self.outbox.lock().is_slow = took > SLOW;
        Ok(durable)
    }

    /// Looks for room where there is little, should the upkeep be late, but not again and again.
    fn look_for_room(&mut self) {
        let room = self.log.room();
        let now = self.clock.steady();
        let is_time = self.looked_for_room.is_none_or(|looked| now.saturating_sub(looked) > ROOM_PAUSE);
        if room.normal >= ROOM_BYTES.min(room.batch_bytes_max) || !is_time {
            return;
        }
        self.looked_for_room = Some(now);
        // A failure poisons the log, and the next append says so.
        drop(self.log.keeper().keep());
    }
}

/// Returns what is left in the segment that is written to.
fn free(log: &SegmentLog<RealDisk>) -> u64 {
    log.room().reserve.saturating_sub(log.keeper().ready().reserve)
}
