//! The threads of a node: each waits, and runs steps of the driver.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::time::Duration;

use broker::{Command, Living, LivingBodies, LookFrom, Random};
use log::Log;
use message::Seq;
use tokio::sync::{oneshot, watch};

use super::commit_queue::{CommitQueue, LogStep};
use super::maintenance_signal::MaintenanceSignal;
use super::queue::JobQueue;
use super::sync::{Builder, JoinHandle, Mutex, MutexGuard, PoisonError, wait_for};
use crate::clock::{BusTime, Clock};
use crate::counters::Counters;
use crate::driver::{
    Appended, Ask, Committer, Decider, Executed, InFlight, Job, Maintenance, PendingBatch, QueryJob, ReplyTo,
    Tick,
};
use crate::failure::Fatal;

/// How much later than planned the writer must wake for the machine to count as having slept.
const GAP: Duration = Duration::from_secs(30);
/// Bytes of a batch that the writer makes durable itself if the log's thread is idle, which saves waking it.
const ALONE_BYTES_MAX: u64 = 64 << 10;
/// Room that is prepared before a batch is decided.
const CAPACITY_BYTES: u64 = 256 << 10;

/// Whether the node has stopped, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    Not,
    /// As it was asked to.
    Asked,
    /// Because of this.
    Failed(String),
}

/// What the threads share.
pub(crate) struct Shared<L: Log> {
    pub(crate) queue: JobQueue,
    pub(crate) commits: CommitQueue<L>,
    pub(crate) signal: MaintenanceSignal,
    pub(crate) committer: Mutex<Committer<L>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) time: BusTime,
    pub(crate) counters: Arc<Counters>,
    pub(crate) stopped: watch::Sender<Stopped>,
}

impl<L: Log + Send + 'static> Shared<L> {
    fn tick(&self) -> Tick {
        Tick { now: self.time.now(&*self.clock), wall: self.clock.wall() }
    }

    /// Makes a batch durable and lets out what waits for it.
    fn commit(&self, batch: PendingBatch) -> Result<(), Fatal> {
        let settled = self.append(vec![batch]).and_then(|appended| self.settle(appended));
        settled.map_err(|fatal| self.commits.fail(&fatal))
    }

    /// Hands batches to the log.
    fn append(&self, batches: Vec<PendingBatch>) -> Result<Appended, Fatal> {
        Ok(self.lock_committer().append(batches)?)
    }

    /// Waits for the outcome of an append, and lets out what waits for it.
    fn settle(&self, appended: Appended) -> Result<(), Fatal> {
        let mut committer = self.lock_committer();
        let needs_sync = committer.needs_sync(&appended);
        let begun = self.clock.steady();
        let committed = committer.sync(appended);
        drop(committer);
        let mut committed = committed?;
        if needs_sync {
            self.counters.sync.add(self.clock.steady().saturating_sub(begun));
        }
        self.commits.advance(&mut committed);
        self.queue.push_returns(committed.release());
        // Not before: the other thread would let out what was decided later first.
        self.commits.end_commit();
        Ok(())
    }

    /// Lets out what was appended before an append failed, as far as it still becomes durable.
    fn finish_those_before(&self, in_flight: &mut InFlight) {
        while let Some(before) = in_flight.pop() {
            if self.settle(before).is_err() {
                return;
            }
        }
    }

    fn lock_committer(&self) -> MutexGuard<'_, Committer<L>> {
        self.committer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a thread. When it ends, for whatever reason, the others end too, and every caller is answered.
    pub(crate) fn spawn(
        self: &Arc<Self>,
        name: &str,
        work: impl FnOnce(&Self) -> Result<(), Fatal> + Send + 'static,
    ) -> JoinHandle<()> {
        let shared = Arc::clone(self);
        let spawned = Builder::new().name(name.to_owned()).spawn(move || {
            let ended = panic::catch_unwind(AssertUnwindSafe(|| work(&shared)));
            shared.end(ended.unwrap_or(Err(Fatal::Panicked)).err());
        });
        spawned.expect("a machine that cannot start a thread cannot run a node")
    }

    /// Ends the node: nothing more is accepted, and callers that still wait learn that it has stopped.
    fn end(&self, fatal: Option<Fatal>) {
        let stopped = match fatal {
            None => Stopped::Asked,
            // What failed first is the reason; the other threads merely found it.
            Some(fatal) => Stopped::Failed(self.commits.fail(&fatal).to_string()),
        };
        self.stopped.send_if_modified(|known| {
            let is_new =
                !matches!((&*known, &stopped), (Stopped::Failed(_), _) | (Stopped::Asked, Stopped::Asked));
            if let (true, Stopped::Failed(reason)) = (is_new, &stopped) {
                tracing::error!("the node stops: {reason}");
            }
            if is_new {
                *known = stopped;
            }
            is_new
        });
        self.queue.close();
        drop(self.queue.drain());
        self.commits.close();
        self.signal.close();
    }
}

/// Decides batches until the queue is closed and empty, or something fails.
pub(crate) fn write<L: Log + Send + 'static>(
    shared: &Shared<L>,
    mut decider: Decider,
    mut random: impl Random,
) -> Result<(), Fatal> {
    let mut planned: Option<Duration> = None;
    loop {
        let wait = decider.wait(shared.tick());
        let mut found = shared.queue.take(wait);
        shared.commits.wait_for_room()?;
        let is_over = found.closed && found.work.jobs.is_empty() && found.work.returns.is_empty();
        let now = shared.clock.steady();
        found.work.slept = planned.is_some_and(|planned| now > planned + wait + GAP);
        let wanted = CAPACITY_BYTES.max(found.work.jobs.front().map_or(0, Job::growth));
        let room = shared.commits.prepare_room(wanted);
        let tick = shared.tick();
        let decided = decider.step(&mut found.work, tick, &mut random, room, || shared.commits.batch());
        shared.queue.put_back(found.work);
        if let Some(pending) = decided {
            shared.signal.appended(pending.batch.bytes());
            let is_small = pending.batch.bytes() <= ALONE_BYTES_MAX;
            if is_small && shared.commits.begin_alone(&pending) {
                shared.commit(pending)?;
            } else {
                shared.commits.push(pending);
            }
        }
        planned = Some(shared.clock.steady());
        if is_over {
            return shared.commits.wait_until_durable(decider.needs());
        }
    }
}

/// Makes batches durable until there are no more, or something fails.
pub(crate) fn make_durable<L: Log + Send + 'static>(shared: &Shared<L>) -> Result<(), Fatal> {
    let mut in_flight = InFlight::default();
    loop {
        let done = match shared.commits.next(in_flight.len()) {
            LogStep::Append(batches) => {
                let appended = shared.append(batches).map(|appended| in_flight.push(appended));
                appended.inspect_err(|_| shared.finish_those_before(&mut in_flight))
            }
            LogStep::Settle => in_flight.pop().map_or(Ok(()), |oldest| shared.settle(oldest)),
            LogStep::End => break,
        };
        // What is in flight behind a failed append is given up with it.
        done.map_err(|fatal| shared.commits.fail(&fatal))?;
    }
    if let Some(fatal) = shared.commits.failure() {
        return Err(fatal);
    }
    // If the end cannot be marked, later damage to it is merely taken for a torn tail.
    let durable = shared.lock_committer().finish();
    shared.commits.end(durable.ok());
    Ok(())
}

/// Prepares segments, takes snapshots and trims until the writer has ended.
pub(crate) fn maintain<L: Log + Send + 'static>(
    shared: &Shared<L>,
    mut maintenance: Maintenance<L>,
) -> Result<(), Fatal> {
    maintenance.prepare()?;
    loop {
        let wakeup = shared.signal.wait(maintenance.wait(shared.clock.steady()));
        if wakeup.closed {
            break;
        }
        maintenance.prepare()?;
        maintenance.appended(wakeup.appended, shared.commits.durable(), shared.clock.steady());
        if let Some(followed) = wakeup.followed {
            maintenance.follow(followed);
        }
        for request in wakeup.requests {
            let trim = maintenance.trim(shared, &request.keep, request.is_trial, shared.tick().now);
            (request.answer)(trim);
        }
        maintenance.trim_in_time(shared, shared.tick(), || shared.clock.steady());
    }
    if shared.commits.failure().is_none() {
        // Everything that was decided is durable by the time that the writer has ended: the next start has nothing to
        // replay.
        maintenance.take_snapshot(shared.commits.durable());
    }
    Ok(())
}

impl<L: Log + Send + 'static> Ask for Shared<L> {
    fn execute_all(&self, commands: Vec<Command>) -> Option<Vec<Executed>> {
        let (reply, replied) = oneshot::channel();
        let reply = ReplyTo::Caller { reply, permit: None };
        self.queue.push(Job::Execute { commands, reply }).ok()?;
        wait_for(replied)
    }

    fn living_bodies(&self, query: LivingBodies) -> Option<(Vec<Living>, Option<LookFrom>)> {
        let (reply, replied) = oneshot::channel();
        let job = QueryJob { query, reply, permit: None };
        self.queue.push(Job::Query(Box::new(job))).ok()?;
        wait_for(replied)
    }

    fn durable(&self) -> Seq {
        self.commits.durable()
    }

    fn free(&self) -> u64 {
        self.commits.free()
    }

    fn batch_bytes_max(&self) -> u64 {
        self.commits.batch_bytes_max()
    }
}
