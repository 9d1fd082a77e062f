//! Deciding: jobs are carried out on the broker, and their events become one batch.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use broker::{At, Broker, Command, Random, Time};
use bytes::Bytes;
use log::Batch;
use message::Seq;

use super::dispatch::Dispatcher;
use super::job::{ReplyTo, Take, Taken};
use super::transaction::Transaction;
use super::transaction::{OVERHEAD_BYTES, growth};
use super::{Completion, Executed, Job, PendingBatch, RecentBodies, Returns, Room};
use crate::clock::Clock;
use crate::counters::Counters;
use crate::failure::CallError;

/// Bytes of a batch after which a step ends; other jobs come into the next one, which is decided while this one is on
/// its way to the disk.
const BATCH_BYTES_MAX: u64 = 256 << 10;
/// How long nothing is due at most, because the wall clock may be set.
const IDLE: Duration = Duration::from_secs(10);

/// What there is to do in one step.
#[derive(Default)]
pub struct Work {
    /// Jobs, in order. Those that did not fit into the batch are left in it.
    pub jobs: VecDeque<Job>,
    /// Deliveries that reached nobody.
    pub returns: Returns,
    /// Whether the machine slept, so that leases get a grace.
    pub slept: bool,
}

/// What the clocks show.
#[derive(Clone, Copy, Debug)]
pub struct Tick {
    /// The bus's time.
    pub now: Time,
    /// The wall clock's time.
    pub wall: Time,
}

/// The state, and what belongs to it.
pub struct Decider {
    broker: Broker,
    dispatcher: Dispatcher,
    batch: Batch,
    /// The last event that must be durable before a completion leaves.
    needs: Seq,
    counters: Arc<Counters>,
    recent: Arc<RecentBodies>,
    bodies: Vec<(Seq, Bytes)>,
    /// By which queries are timed; nothing is decided by it.
    stopwatch: Option<Arc<dyn Clock>>,
    #[cfg(feature = "plants")]
    pub plant: Option<super::Plant>,
    #[cfg(feature = "simulation")]
    pub observer: Option<Box<dyn Observer>>,
}

/// Who executed a command.
#[cfg(feature = "simulation")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A job, counted from 0 within its step.
    Job(usize),
    /// The dispatcher, for a subscriber.
    Subscriber(super::SubscriberId),
    /// The driver itself: deliveries that reached nobody, a machine that slept.
    Driver,
    /// The clock.
    Due,
}

/// Something that happened in a step.
#[cfg(feature = "simulation")]
pub enum Observed<'o> {
    /// A command was executed.
    Executed {
        source: Source,
        command: &'o Command,
        outcome: &'o Result<broker::Reply, broker::Refusal>,
        effects: &'o [broker::Effect],
        now: Time,
        wall: Time,
        last: Seq,
        needs: Seq,
    },
    /// A command was refused because the log has no room for it.
    NoRoom { source: Source, command: &'o Command },
    /// Everything was done that the clock had made due.
    Elapsed { now: Time, wall: Time, effects: &'o [broker::Effect], last: Seq },
}

/// Sees what the driver does.
#[cfg(feature = "simulation")]
pub trait Observer: Send {
    /// Sees an event that is appended.
    fn event(&mut self, seq: Seq, at: Time, event: &broker::Event<'_>);

    /// Sees what happened.
    fn observe(&mut self, observed: Observed<'_>);
}

impl Decider {
    /// Takes a state over that is durable up to its last event.
    pub fn new(broker: Broker, batch: Batch, counters: Arc<Counters>, recent: Arc<RecentBodies>) -> Self {
        Decider {
            needs: broker.last(),
            broker,
            dispatcher: Dispatcher::default(),
            batch,
            counters,
            recent,
            bodies: Vec::new(),
            stopwatch: None,
            #[cfg(feature = "plants")]
            plant: None,
            #[cfg(feature = "simulation")]
            observer: None,
        }
    }

    /// Lets the time that queries take be measured.
    #[must_use]
    pub fn timed(self, clock: Arc<dyn Clock>) -> Self {
        Decider { stopwatch: Some(clock), ..self }
    }

    /// Lends the state.
    pub fn broker(&self) -> &Broker {
        &self.broker
    }

    /// Returns the last event that must be durable before a completion leaves.
    pub fn needs(&self) -> Seq {
        self.needs
    }

    /// Lends the dispatcher.
    #[cfg(feature = "simulation")]
    pub fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    /// Puts another state in the place of this one, as it was loaded from the log after an append was refused or its
    /// outcome was unknown. Subscribers and those who wait for replies are forgotten: they learn that by their closed
    /// channels, and ask again.
    pub fn reload(&mut self, broker: Broker) {
        #[cfg(feature = "plants")]
        if self.plant == Some(super::Plant::KeepAfterRefusal) {
            return;
        }
        self.needs = broker.last();
        self.broker = broker;
        self.dispatcher = Dispatcher::default();
        self.batch.clear();
        self.bodies.clear();
        self.recent.clear();
    }

    /// Returns how long nothing is due.
    pub fn wait(&self, tick: Tick) -> Duration {
        let (bus, wall) = self.broker.next_due();
        let until = |due: Option<Time>, now: Time| due.map(|due| Duration::from_millis(due.ms_since(now)));
        let by_bus = until(bus, tick.now);
        let by_wall = until(wall, tick.wall);
        by_bus.into_iter().chain(by_wall).min().unwrap_or(IDLE).min(IDLE)
    }

    /// Carries out jobs, hands out what became ready, and does what is due: one batch, with what waits for it. Jobs
    /// that did not fit stay in `work`. Nothing if nothing came of it. The next batch is written into `spare`.
    pub fn step(
        &mut self,
        work: &mut Work,
        tick: Tick,
        random: &mut dyn Random,
        room: Room,
        spare: impl FnOnce() -> Batch,
    ) -> Option<PendingBatch> {
        let last_before = self.broker.last();
        let early = self.transact(work, tick, random, room);
        let completions = std::mem::take(&mut self.dispatcher.completions);
        #[cfg(feature = "plants")]
        let completions = self.leave_early(early, completions, last_before, work);
        #[cfg(not(feature = "plants"))]
        drop(early);
        self.recent.add(&mut self.bodies);
        let last = self.broker.last();
        if last == last_before && completions.is_empty() {
            return None;
        }
        let batch =
            if last == last_before { Batch::new() } else { std::mem::replace(&mut self.batch, spare()) };
        if !batch.is_empty() {
            self.counters.batches.fetch_add(1, Ordering::Relaxed);
            self.counters.events.fetch_add(batch.count(), Ordering::Relaxed);
            self.counters.bytes.fetch_add(batch.bytes(), Ordering::Relaxed);
        }
        Some(PendingBatch { batch, completions, last, needs: self.needs })
    }

    /// Executes what there is to do, as far as it fits into one batch. Returns what leaves at once by a planted fault.
    fn transact(
        &mut self,
        work: &mut Work,
        tick: Tick,
        random: &mut dyn Random,
        room: Room,
    ) -> Vec<Completion> {
        let bytes_max = BATCH_BYTES_MAX.min(room.batch_bytes_max / 2);
        let mut early = Vec::new();
        let mut transaction = Transaction {
            broker: &mut self.broker,
            batch: &mut self.batch,
            dispatcher: &mut self.dispatcher,
            random,
            effects: Vec::new(),
            now: tick.now,
            wall: tick.wall,
            needs: &mut self.needs,
            counters: &self.counters,
            room: room.bytes,
            bodies: &mut self.bodies,
            stopwatch: self.stopwatch.as_deref(),
            #[cfg(feature = "plants")]
            plant: self.plant,
            #[cfg(feature = "simulation")]
            observer: &mut self.observer,
            #[cfg(feature = "simulation")]
            source: Source::Driver,
        };
        if work.slept {
            log_refusal("wake", transaction.execute(&Command::Wake));
        }
        for (agent, delivery) in std::mem::take(&mut work.returns) {
            // It may have ended meanwhile; then there is nothing to return.
            drop(transaction.execute(&Command::Return { agent, delivery }));
        }
        let mut done = 0;
        while transaction.batch.bytes() < bytes_max {
            let is_large = |job: &Job| done > 0 && !room.is_full && !job.fits(transaction.batch, room);
            if work.jobs.front().is_some_and(is_large) {
                // It comes into the next batch, when there is room again.
                break;
            }
            let Some(job) = work.jobs.pop_front() else { break };
            #[cfg(feature = "simulation")]
            {
                transaction.source = Source::Job(done);
            }
            let leaves_early = job.leaves_early(&transaction);
            let completion = transaction.carry_out(job);
            let waits = if leaves_early { &mut early } else { &mut transaction.dispatcher.completions };
            waits.extend(completion);
            done += 1;
        }
        self.counters.calls.fetch_add(done as u64, Ordering::Relaxed);
        #[cfg(feature = "simulation")]
        {
            transaction.source = Source::Driver;
        }
        transaction.settle(bytes_max);
        early
    }

    /// Lets completions leave before they may, by planted faults.
    #[cfg(feature = "plants")]
    fn leave_early(
        &mut self,
        mut early: Vec<Completion>,
        mut completions: Vec<Completion>,
        last_before: Seq,
        work: &mut Work,
    ) -> Vec<Completion> {
        let is_unchanged = self.broker.last() == last_before;
        if self.plant == Some(super::Plant::DuplicateBeforeDurable) && is_unchanged {
            early.append(&mut completions);
        }
        if self.plant == Some(super::Plant::StaleRecentBody) {
            self.bodies.iter_mut().for_each(|(seq, _)| seq.0 -= 1);
        }
        early.into_iter().for_each(|early| early.complete(&mut work.returns));
        completions
    }
}

impl Job {
    /// Returns how much new work it brings to the log, roughly.
    pub(crate) fn growth(&self) -> u64 {
        let Job::Execute { commands, .. } = self else { return 0 };
        commands.iter().filter_map(growth).map(|bytes| bytes + OVERHEAD_BYTES).sum()
    }

    /// Tells whether what it brings fits into the room of a batch.
    fn fits(&self, batch: &Batch, room: Room) -> bool {
        batch.bytes() + self.growth() <= room.bytes
    }

    /// Tells whether its completion leaves at once, by a planted fault.
    #[cfg(not(feature = "plants"))]
    fn leaves_early(&self, _: &Transaction<'_>) -> bool {
        false
    }

    /// Tells whether its completion leaves at once, by a planted fault.
    #[cfg(feature = "plants")]
    fn leaves_early(&self, transaction: &Transaction<'_>) -> bool {
        if transaction.plant != Some(super::Plant::ClaimBeforeDurable) {
            return false;
        }
        let Job::Execute { commands, .. } = self else { return false };
        let is_claim = |command: &Command| {
            matches!(command, Command::Accept(accept) if accept.kind == message::Kind::TaskClaim)
                || matches!(command, Command::Claim(_))
        };
        commands.iter().any(is_claim)
    }
}

impl Transaction<'_> {
    /// Carries a job out, and returns what leaves when that is durable.
    fn carry_out(&mut self, job: Job) -> Option<Completion> {
        match job {
            Job::Execute { commands, reply } => {
                let outcomes: Vec<Executed> =
                    commands.iter().map(|command| self.execute_and_await(command)).collect();
                (!matches!(reply, ReplyTo::Nobody)).then_some(Completion::Executed {
                    outcomes,
                    commands,
                    to: reply,
                })
            }
            Job::Note(command) => {
                // Nobody relies on it, so nobody is told.
                drop(self.execute(&command));
                None
            }
            Job::Query(query) => {
                let at = At { now: self.now, wall: self.wall };
                let (name, begun) = (query.name(), self.stopwatch.map(Clock::steady));
                let completion = query.run(self.broker, at);
                if let (Some(stopwatch), Some(begun)) = (self.stopwatch, begun) {
                    self.counters.queries.add(name, stopwatch.steady().saturating_sub(begun));
                }
                Some(completion)
            }
            Job::Take(Take { wishes, waits, reply, letters, permit }) => {
                let taken = self.take(&wishes.take()).map(|now| match now.is_empty() && waits {
                    true => Taken::Waiting(self.dispatcher.wait_once(wishes, letters)),
                    false => Taken::Letters(now),
                });
                Some(Completion::Taken { taken, reply, permit })
            }
            Job::Subscribe { wishes, letters, reply } => {
                let subscriber = self.dispatcher.wait_on(wishes, letters);
                Some(Completion::Subscribed { subscriber, reply })
            }
            Job::Credit { subscriber, more } => {
                self.dispatcher.add_credit(subscriber, more);
                self.serve(subscriber);
                None
            }
            Job::Unsubscribe { subscriber, unread } => {
                self.dispatcher.leave(subscriber);
                for (agent, delivery) in unread {
                    // It may have ended meanwhile; then there is nothing to return.
                    drop(self.execute(&Command::Return { agent, delivery }));
                }
                None
            }
        }
    }
}

/// Says that a command of the driver itself was refused, which only a full disk can cause.
pub(crate) fn log_refusal<R>(what: &str, outcome: Result<R, CallError>) {
    if let Err(error) = outcome {
        tracing::warn!("{what} was not noted: {error}");
    }
}
