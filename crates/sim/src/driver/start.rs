//! Starting, and loading again: the newest snapshot, the tail of the log, and what the process says before anything
//! else.

use std::collections::BTreeMap;
use std::sync::Arc;

use broker::{Broker, Command};
use log::{Batch, Log, OpenError, SegmentLog};
use message::Seq;
use node::driver::{
    CommitError, Committer, Decider, InFlight, Loaded, Maintenance, Pipeline, RecentBodies, Work,
    load_prepared,
};
use node::{Counters, StartError};

use super::fickle_log::FickleLog;
use super::observer::Records;
use super::process::Process;
use super::{Driver, Seen, Stop};
use crate::plant::Plant;
use crate::violation::{Promise, Violation, broken, ensure};

/// How often a start may fail because of the disk before it must succeed.
const TRIES_MAX: u32 = 4;
/// Bytes of recent bodies that are kept in memory: few, so that others are read from the log.
const RECENT_BYTES_MAX: usize = 600;

impl Driver {
    /// Starts a process; stays down while the disk is too full for one.
    pub(super) fn start(&mut self) -> Result<(), Violation> {
        for _ in 0..TRIES_MAX {
            match self.try_start() {
                Ok(()) => return Ok(()),
                Err(Stop::Violation(violation)) => return Err(violation),
                Err(Stop::Disk) => {
                    let power = Some(self.dice.draw());
                    self.die(power);
                }
            }
        }
        let what = format_args!("it does not start, on a disk with room");
        ensure(self.is_crowded, Promise::Recovery, what)
    }

    fn try_start(&mut self) -> Result<(), Stop> {
        let process = self.open()?;
        let (last, now) = (process.broker().last(), process.now(self.clock));
        // Without room for spare segments it runs as long as it can.
        process.keep()?;
        self.process = Some(process);
        self.seen.push(Seen::Started { last, now });
        self.begin()?;
        self.read_records()
    }

    /// Says what a process says before anything else.
    fn begin(&mut self) -> Result<(), Stop> {
        let forgets = self.driver_plant() == Some(node::driver::Plant::ForgetRestart);
        let Some(process) = &mut self.process else { return Ok(()) };
        let mut commands = vec![Command::Restart, Command::Tune(self.retention)];
        if forgets {
            commands.remove(0);
        }
        drop(process.push_own(commands));
        self.decide()?;
        self.commit_all()
    }

    fn open(&mut self) -> Result<Process, Stop> {
        let (inner, _opened) = match SegmentLog::open(self.disk.clone(), self.options.clone()) {
            Ok(opened) => opened,
            Err(OpenError::Storage(_) | OpenError::NoRoom { .. } | OpenError::ReadOnly(_)) => {
                return Err(Stop::Disk);
            }
            Err(error) => {
                return Ok(broken(Promise::Recovery, format_args!("the log does not open: {error}"))?);
            }
        };
        let log = FickleLog::new(inner, self.in_flight_max);
        let loaded = self.load(&log)?;
        let broker = loaded.broker;
        let anchor = (broker.time().max(self.clock.wall()), self.clock.real);
        let (last, state) = (broker.last(), bytes_of(&broker));
        if let Some(past) = self.past.get(&last) {
            let what = format_args!("the state after the restart is not the one before it, at {last}");
            ensure(*past == state, Promise::Recovery, what)?;
        }
        self.marks.retain(|(end, _)| *end <= last);
        let plant = self.driver_plant();
        let (moved, recent) = (Arc::default(), Arc::new(RecentBodies::new(RECENT_BYTES_MAX)));
        let settings = (self.settings.clone(), self.retention);
        let at = loaded.snapshot.unwrap_or(Seq(0));
        let maintenance =
            Maintenance::of(&log, at, settings, Arc::clone(&moved), plant, Box::new(self.preparation()));
        let reader = log.reader();
        let mut committer = Committer::new(log);
        committer.plant = plant;
        let in_flight_max = committer.log().in_flight_max();
        let mut pipeline = Pipeline::new(committer.log().last(), committer.free(), in_flight_max);
        pipeline.plant = plant;
        let mut in_flight = InFlight::default();
        in_flight.plant = plant;
        let records = Records::default();
        let counters = Arc::<Counters>::default();
        let mut decider = Decider::new(broker, Batch::new(), counters, Arc::clone(&recent));
        decider.plant = plant;
        decider.observer = Some(Box::new(records.clone()));
        Ok(Process {
            decider,
            committer,
            pipeline,
            maintenance: Some(maintenance),
            reader,
            recent,
            moved,
            records,
            work: Work::default(),
            in_flight,
            steps: 0,
            queued: Default::default(),
            callers: Vec::new(),
            subscribers: Vec::new(),
            awaiting: Vec::new(),
            takes: Default::default(),
            states: BTreeMap::from([(last, state)]),
            anchor,
        })
    }

    /// Makes a state take part in the planted fault, if it is one of the broker's.
    fn preparation(&self) -> impl Fn(&mut Broker) + Send + use<> {
        let plant = Plant::of_broker(self.plant);
        move |broker| broker.plant(plant)
    }

    /// Loads the state from a snapshot and the tail of the log.
    fn load(&self, log: &FickleLog) -> Result<Loaded, Stop> {
        let loaded =
            load_prepared(&log.snapshots(), &log.reader(), &self.settings, log.last(), &self.preparation());
        match loaded {
            Ok(loaded) => Ok(loaded),
            Err(
                StartError::Folder(_)
                | StartError::Snapshots(_)
                | StartError::Read(log::ReadError::Storage(_)),
            ) => Err(Stop::Disk),
            Err(error) => Ok(broken(Promise::Recovery, format_args!("the log does not load: {error}"))?),
        }
    }

    /// Loads the state of a process whose log refused an append, when nothing is on its way to the log any more.
    fn load_again(&self, process: &mut Process) -> Result<Loaded, Stop> {
        let is_told = process.callers.is_empty();
        ensure(is_told, Promise::Stops, format_args!("after a refusal a caller is never answered"))?;
        // A part of a batch that was refused may still be on its way.
        match process.committer.settle() {
            Ok(_) | Err(CommitError::Refused(_)) => {}
            Err(CommitError::Unknown(_)) if process.committer.log().has_lost_an_answer() => {}
            Err(CommitError::Unknown(_)) => return Err(Stop::Disk),
        }
        self.load(process.committer.log())
    }

    /// The log refused an append or did not say what became of it: what was decided and is not in the log never
    /// happened. The state is loaded again, and the process goes on; its callers learn that they have to ask again.
    pub(super) fn reload(&mut self) -> Result<(), Stop> {
        // What was told before counts, and everybody else knows by now that nothing comes.
        self.release()?;
        let Some(mut process) = self.process.take() else { return Ok(()) };
        let loaded = match self.load_again(&mut process) {
            Ok(loaded) => loaded,
            Err(stop) => {
                // It dies with what it knew, which the next one is compared with.
                self.process = Some(process);
                return Err(stop);
            }
        };
        let (durable, free) = (process.committer.durable(), process.committer.free());
        process.pipeline.reloaded(durable, free);
        process.decider.reload(loaded.broker);
        process.work = Work::default();
        process.queued.clear();
        process.subscribers.clear();
        process.awaiting.clear();
        process.takes.clear();
        drop(process.records.take());
        let last = process.broker().last();
        let (held, what) = (process.committer.log().last(), "the state holds what the log refused");
        ensure(last == held, Promise::Recovery, format_args!("{what}: {last} instead of {held}"))?;
        process.states.retain(|seq, _| *seq <= last);
        self.marks.retain(|(end, _)| *end <= last);
        let now = process.now(self.clock);
        self.process = Some(process);
        self.inbox.clear();
        self.seen.push(Seen::Crashed);
        self.seen.push(Seen::Started { last, now });
        self.begin()
    }
}

/// Returns a state as bytes.
pub(super) fn bytes_of(broker: &Broker) -> Vec<u8> {
    let mut bytes = Vec::new();
    broker.snapshot(&mut bytes);
    bytes
}
