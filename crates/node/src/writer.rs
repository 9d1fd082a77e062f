//! The writer: whoever holds the state. Mostly a thread of its own; but while that sleeps, whoever asks for something
//! carries it out itself, as waking another thread takes longer than most of what is asked.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use broker::{AgentKey, Broker, Command, Time};
use log::Batch;
use message::{DeliveryId, Seq};

use crate::bell::Bell;
use crate::clock::{BusTime, Clock, SystemRandom};
use crate::counters::Counters;
use crate::failure::{CallError, Fatal};
use crate::mailman::Mailman;
use crate::release::{Outbox, Parcel, Release, Releaser};
use crate::turn::Turn;

/// Bytes of a batch after which a turn ends; what was asked meanwhile comes into the next one. While that is decided,
/// this one is on its way to the disk.
const TURN_BYTES: u64 = 256 << 10;
/// After how many turns in a row for one alone others are no longer let go first.
const ALONE_MIN: u32 = 8;
/// After how many they are, once, to see whether there are any.
const ALONE_MAX: u32 = 24;
/// How much later than planned the writer must wake for the machine to count as having slept.
const GAP: Duration = Duration::from_secs(30);
/// The longest wait of a writer that has nothing to do, because the wall clock may be set.
const IDLE: Duration = Duration::from_secs(10);

/// Something to be done with the state; it gives back what leaves when that is durable, if anybody waits for it.
pub(crate) type Job = Box<dyn FnOnce(&mut Turn<'_>) -> Option<Release> + Send>;

/// What was asked and not carried out yet.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    asked: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    returns: Vec<(AgentKey, DeliveryId)>,
    closed: bool,
    /// When the thread wakes by itself, if it sleeps.
    sleeps_until: Option<Duration>,
    /// Whether somebody works in its place.
    is_led: bool,
    /// How many turns in a row had no more than one thing to do; fewer after a look for others.
    alone: u32,
}

/// What the writer finds when it looks.
pub(crate) struct Asked {
    pub(crate) jobs: VecDeque<Job>,
    pub(crate) returns: Vec<(AgentKey, DeliveryId)>,
    pub(crate) closed: bool,
}

impl Queue {
    /// Asks for something, for the thread to carry out.
    pub(crate) fn push(&self, job: Job) -> Result<(), CallError> {
        drop(self.let_in(job)?);
        self.asked.notify_one();
        Ok(())
    }

    /// Asks for something. If the thread sleeps, whoever asked gets its place, and is to work.
    pub(crate) fn push_or_lead(&self, job: Job) -> Result<Option<Place<'_>>, CallError> {
        let mut state = self.let_in(job)?;
        let Some(until) = state.sleeps_until.filter(|_| !state.is_led) else { return Ok(None) };
        state.is_led = true;
        let is_alone = state.alone >= ALONE_MIN;
        Ok(Some(Place { queue: self, until, is_alone, due: None }))
    }

    fn let_in(&self, job: Job) -> Result<MutexGuard<'_, State>, CallError> {
        let mut state = self.lock();
        if state.closed {
            return Err(CallError::Stopped);
        }
        state.jobs.push_back(job);
        Ok(state)
    }

    /// Says that whoever worked in place of the thread is done, and when the next thing is due; wakes the thread if it
    /// has something to do.
    fn resume(&self, due: Option<Duration>) {
        let mut state = self.lock();
        state.is_led = false;
        let is_in_time = due.is_some_and(|due| state.sleeps_until.is_none_or(|until| until <= due));
        if state.has_work() || !is_in_time {
            self.asked.notify_one();
        }
    }

    /// Notes a delivery that could not be given to anybody.
    pub(crate) fn push_return(&self, agent: AgentKey, delivery: DeliveryId) {
        self.lock().returns.push((agent, delivery));
        self.asked.notify_one();
    }

    /// Lets nothing more in.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.asked.notify_one();
    }

    fn has_work(&self) -> bool {
        self.lock().has_work()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Sleeps until something is asked that nobody else carries out, or so long.
    fn sleep(&self, now: Duration, wait: Duration) {
        let mut state = self.lock();
        if state.has_work() || wait.is_zero() {
            return;
        }
        state.sleeps_until = Some(now + wait);
        let waited = self.asked.wait_timeout(state, wait);
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
        state.sleeps_until = None;
    }

    /// Takes everything that was asked.
    fn take(&self) -> Asked {
        let mut state = self.lock();
        state.alone = match state.alone {
            _ if state.jobs.len() > 1 => 0,
            // It is time to look.
            ALONE_MAX => ALONE_MIN - 1,
            alone => alone + 1,
        };
        Asked {
            jobs: std::mem::take(&mut state.jobs),
            returns: std::mem::take(&mut state.returns),
            closed: state.closed,
        }
    }

    /// Takes out what nobody will carry out.
    pub(crate) fn drain(&self) -> VecDeque<Job> {
        std::mem::take(&mut self.lock().jobs)
    }

    /// Puts back what did not fit into a turn, before what came after it.
    fn put_back(&self, mut jobs: VecDeque<Job>) {
        let mut state = self.lock();
        jobs.append(&mut state.jobs);
        state.jobs = jobs;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn has_work(&self) -> bool {
        !self.jobs.is_empty() || !self.returns.is_empty() || self.closed
    }
}

/// The place of the thread, which sleeps; whoever has it works instead, and gives it back, however that ends.
pub(crate) struct Place<'q> {
    queue: &'q Queue,
    /// When the thread wakes by itself.
    until: Duration,
    /// Whether most likely nobody else is about to ask for something.
    pub(crate) is_alone: bool,
    /// When the next thing is due, if the thread need not look for itself.
    due: Option<Duration>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.queue.resume(self.due);
    }
}

impl Place<'_> {
    /// Carries out what was asked, and tells whether more was asked meanwhile. Blocks for as long as a small batch
    /// takes to become durable.
    pub(crate) fn work(&mut self, seat: &Seat) -> bool {
        let worked = Writer::seated(seat, |writer| {
            // After the machine slept, the thread gives everybody a grace first.
            let is_overdue = writer.clock.steady() > self.until + GAP;
            if is_overdue || !writer.outbox.has_room() {
                return Ok(None);
            }
            writer.turn(self.queue.take(), false)?;
            Ok(writer.outbox.has_room().then(|| writer.clock.steady() + writer.wait()))
        });
        // The thread finds a failure by itself, once it is awake.
        self.due = worked.unwrap_or_default();
        self.due.is_some() && self.queue.has_work()
    }
}

/// Where the writer is, until it is over.
pub(crate) type Seat = Mutex<Option<Writer>>;

/// The state, and what belongs to it.
pub(crate) struct Writer {
    pub(crate) broker: Broker,
    pub(crate) queue: Arc<Queue>,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) time: BusTime,
    pub(crate) random: SystemRandom,
    pub(crate) mailman: Mailman,
    pub(crate) counters: Arc<Counters>,
    pub(crate) batch: Batch,
    /// Makes small batches durable on this thread.
    pub(crate) releaser: Arc<Mutex<Releaser>>,
    /// Rings the upkeep.
    pub(crate) bell: Arc<Bell>,
    /// The last event that must be durable before an answer leaves.
    pub(crate) needs: Seq,
}

impl Writer {
    /// Works until the queue is closed and empty, or the disk fails.
    pub(crate) fn run(seat: &Seat, queue: &Queue) -> Result<(), Fatal> {
        let mut planned = None;
        loop {
            let (wait, now) = Self::seated(seat, |this| Ok((this.wait(), this.clock.steady())))?;
            queue.sleep(now, wait);
            let is_over = Self::seated(seat, |this| {
                this.outbox.wait_for_room()?;
                let asked = queue.take();
                let is_over = asked.closed && asked.is_empty();
                let slept = this.clock.steady().saturating_sub(planned.unwrap_or(now)) > GAP + wait;
                this.turn(asked, slept)?;
                planned = Some(this.clock.steady());
                if is_over {
                    this.outbox.wait_until_durable(this.needs)?;
                }
                Ok(is_over)
            })?;
            if is_over {
                return Ok(());
            }
        }
    }

    fn seated<R>(seat: &Seat, work: impl FnOnce(&mut Self) -> Result<R, Fatal>) -> Result<R, Fatal> {
        match seat.lock() {
            Ok(mut seat) => seat.as_mut().map_or(Err(Fatal::Panicked), work),
            Err(_) => Err(Fatal::Panicked),
        }
    }

    /// Returns how long nothing is due.
    fn wait(&self) -> Duration {
        let (bus, wall) = self.broker.next_due();
        let until = |due: Option<Time>, now: Time| due.map(|due| Duration::from_millis(due.ms_since(now)));
        let by_bus = until(bus, self.time.now(&*self.clock));
        let by_wall = until(wall, self.clock.wall());
        by_bus.into_iter().chain(by_wall).min().unwrap_or(IDLE).min(IDLE)
    }

    fn turn(&mut self, asked: Asked, slept: bool) -> Result<(), Fatal> {
        let room = self.outbox.room();
        let bytes_max = TURN_BYTES.min(room.batch_bytes_max / 2);
        let mut turn = Turn {
            broker: &mut self.broker,
            batch: &mut self.batch,
            mailman: &mut self.mailman,
            random: &mut self.random,
            effects: Vec::new(),
            now: self.time.now(&*self.clock),
            wall: self.clock.wall(),
            needs: &mut self.needs,
            counters: &self.counters,
            room: room.bytes,
            outbox: &self.outbox,
        };
        if slept {
            drop(turn.execute(&Command::Wake));
        }
        for (agent, delivery) in asked.returns {
            drop(turn.execute(&Command::Return { agent, delivery }));
        }
        let mut jobs = asked.jobs;
        while turn.batch.bytes() < bytes_max {
            let Some(job) = jobs.pop_front() else { break };
            let release = job(&mut turn);
            turn.mailman.releases.extend(release);
            self.counters.calls.fetch_add(1, Ordering::Relaxed);
        }
        turn.settle(bytes_max);
        if !jobs.is_empty() {
            self.queue.put_back(jobs);
        }
        self.commit()
    }

    /// Hands over the events of the turn, and what waits for them.
    fn commit(&mut self) -> Result<(), Fatal> {
        let upto = self.broker.last();
        let releases = std::mem::take(&mut self.mailman.releases);
        if self.batch.is_empty() && releases.is_empty() {
            return Ok(());
        }
        let batch = std::mem::replace(&mut self.batch, self.outbox.batch());
        if !batch.is_empty() {
            self.counters.batches.fetch_add(1, Ordering::Relaxed);
            self.counters.events.fetch_add(batch.count(), Ordering::Relaxed);
            self.counters.bytes.fetch_add(batch.bytes(), Ordering::Relaxed);
            self.bell.ring(batch.bytes());
        }
        let parcel = Parcel { batch, releases, upto, needs: self.needs };
        match self.outbox.begin_alone(&parcel) {
            Some(_busy) => self.releaser.lock().unwrap_or_else(PoisonError::into_inner).send(vec![parcel]),
            None => {
                self.outbox.push(parcel);
                Ok(())
            }
        }
    }
}
