//! The writer: the thread that owns the state.

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
use crate::release::{Outbox, Parcel, Release};
use crate::turn::Turn;

/// Bytes of a batch after which a turn ends; what was asked meanwhile comes into the next one.
const TURN_BYTES: u64 = 4 << 20;
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
}

/// What the writer finds when it looks.
pub(crate) struct Asked {
    pub(crate) jobs: VecDeque<Job>,
    pub(crate) returns: Vec<(AgentKey, DeliveryId)>,
    pub(crate) closed: bool,
}

impl Queue {
    pub(crate) fn push(&self, job: Job) -> Result<(), CallError> {
        let mut state = self.lock();
        if state.closed {
            return Err(CallError::Stopped);
        }
        state.jobs.push_back(job);
        self.asked.notify_one();
        Ok(())
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

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Takes everything that was asked; waits for something for so long.
    fn take(&self, wait: Duration) -> Asked {
        let mut state = self.lock();
        if state.jobs.is_empty() && state.returns.is_empty() && !state.closed && !wait.is_zero() {
            let waited = self.asked.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
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

/// The thread's own.
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
    /// Rings the upkeep.
    pub(crate) bell: Arc<Bell>,
    /// The last event that must be durable before an answer leaves.
    pub(crate) needs: Seq,
}

impl Writer {
    /// Works until the queue is closed and empty, or the disk fails.
    pub(crate) fn run(&mut self) -> Result<(), Fatal> {
        let mut planned = self.clock.steady();
        loop {
            self.outbox.wait_until_taken()?;
            let wait = self.wait();
            let asked = self.queue.take(wait);
            let slept = self.clock.steady().saturating_sub(planned) > GAP + wait;
            let is_over = asked.closed && asked.is_empty();
            self.turn(asked, slept);
            planned = self.clock.steady();
            if is_over {
                return self.outbox.wait_until_durable(self.needs);
            }
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

    fn turn(&mut self, asked: Asked, slept: bool) {
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
        self.commit();
    }

    /// Hands over the events of the turn, and what waits for them.
    fn commit(&mut self) {
        let upto = self.broker.last();
        let releases = std::mem::take(&mut self.mailman.releases);
        if self.batch.is_empty() && releases.is_empty() {
            return;
        }
        let batch = std::mem::replace(&mut self.batch, self.outbox.batch());
        if !batch.is_empty() {
            self.counters.batches.fetch_add(1, Ordering::Relaxed);
            self.counters.events.fetch_add(batch.count(), Ordering::Relaxed);
            self.counters.bytes.fetch_add(batch.bytes(), Ordering::Relaxed);
            self.bell.ring(batch.bytes());
        }
        self.outbox.push(Parcel { batch, releases, upto, needs: self.needs });
    }
}
