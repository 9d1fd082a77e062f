//! Starting: the newest snapshot, the tail of the log, and what the process must say before anything else.

use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::ops::ControlFlow;

use broker::{Broker, Effects, Event};
use log::{
    Batch, Class, Entry, Log, LogReader, MemDisk, OpenError, ReadError, Reader, SegmentLog, Snapshots,
};
use message::Seq;

use super::node::Node;
use super::{Driver, Seen, Stop};
use crate::client::Asker;
use crate::plant::{DriverPlant, Plant};
use crate::request::Request;
use crate::violation::{Promise, Violation, broken, ensure};

/// How often a start may fail because of the disk before it must succeed.
const TRIES_MAX: u32 = 4;

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
        let node = self.open()?;
        let (last, now) = (node.broker.last(), node.now(self.clock));
        self.node = Some(node);
        self.seen.push(Seen::Started { last, now });
        if let Some(node) = &mut self.node {
            // Without room for spare segments it runs as long as it can.
            if node.keep().is_err() {
                return Err(Stop::Disk);
            }
        }
        if last == Seq(0) {
            self.carry_out(Asker::Operator, Request::Tune(self.retention))?;
        } else if self.driver_plant() != Some(DriverPlant::ForgetRestart) {
            self.carry_out(Asker::Operator, Request::Restart)?;
        }
        self.work()?;
        self.append()?;
        self.sync_log()?;
        self.release()?;
        self.read_records()
    }

    fn open(&mut self) -> Result<Node, Stop> {
        let (log, _opened) = match SegmentLog::open(self.disk.clone(), self.options.clone()) {
            Ok(opened) => opened,
            Err(OpenError::Storage(_) | OpenError::NoRoom { .. } | OpenError::ReadOnly(_)) => {
                return Err(Stop::Disk);
            }
            Err(error) => {
                return Ok(broken(Promise::Recovery, format_args!("the log does not open: {error}"))?);
            }
        };
        let reader = log.reader();
        let mut broker = self.restored(&log)?;
        let folded_bytes = bytes_of(&broker);
        let from = match self.driver_plant() {
            Some(DriverPlant::SnapshotTwice) => Seq(broker.last().0.saturating_sub(1)),
            Some(_) | None => broker.last(),
        };
        self.replay(&mut broker, &reader, from, log.last())?;
        let folded = self.broker_from(&folded_bytes)?;
        let anchor = (broker.time().max(self.clock.wall()), self.clock.real);
        let (last, state) = (broker.last(), bytes_of(&broker));
        if let Some(past) = self.past.get(&last) {
            let what = format_args!("the state after the restart is not the one before it, at {last}");
            ensure(*past == state, Promise::Recovery, what)?;
        }
        let states = BTreeMap::from([(last, state)]);
        self.marks.retain(|(end, _)| *end <= last);
        Ok(Node {
            syncer: log.syncer(),
            snapshots: log.snapshots(),
            keeper: log.keeper(),
            durable: log.last(),
            log,
            reader,
            broker,
            batch: Batch::new(),
            class: Class::Reserve,
            written: Vec::new(),
            waiting: Vec::new(),
            held: VecDeque::new(),
            folded,
            states,
            anchor,
        })
    }

    fn restored(&self, log: &SegmentLog<MemDisk>) -> Result<Broker, Stop> {
        let snapshot = match log.snapshots().load() {
            Ok(snapshot) => snapshot,
            Err(_) => return Err(Stop::Disk),
        };
        let Some(mut snapshot) = snapshot else {
            let mut broker = Broker::new(self.settings.clone());
            broker.plant(Plant::of_broker(self.plant));
            return Ok(broker);
        };
        let mut bytes = Vec::new();
        if snapshot.bytes.read_to_end(&mut bytes).is_err() {
            return Err(Stop::Disk);
        }
        self.broker_from(&bytes)
    }

    pub(super) fn broker_from(&self, bytes: &[u8]) -> Result<Broker, Stop> {
        match Broker::restore(self.settings.clone(), bytes) {
            Ok(mut broker) => {
                broker.plant(Plant::of_broker(self.plant));
                Ok(broker)
            }
            Err(error) => {
                Ok(broken(Promise::Snapshots, format_args!("a snapshot is not restored: {error}"))?)
            }
        }
    }

    /// Applies what the log has after a place.
    pub(super) fn replay(
        &self,
        broker: &mut Broker,
        reader: &LogReader<MemDisk>,
        after: Seq,
        to: Seq,
    ) -> Result<(), Stop> {
        if after >= to {
            return Ok(());
        }
        let mut wrong: Option<String> = None;
        let mut effects = Effects::new();
        let scanned = reader.scan(Seq(after.0 + 1), to, &mut |entry| {
            let applied = match entry {
                Entry::Record { seq, bytes, .. } => Event::decode(bytes)
                    .map_err(|error| format!("event {seq}: {error}"))
                    .and_then(|(at, event)| {
                        broker.apply(seq, at, &event, &mut effects).map_err(|misfit| misfit.to_string())
                    }),
                Entry::Gap { first, last } => Err(format!("{first} to {last} are missing")),
            };
            match applied {
                Ok(()) => ControlFlow::Continue(()),
                Err(what) => {
                    wrong = Some(what);
                    ControlFlow::Break(())
                }
            }
        });
        if let Some(what) = wrong {
            return Ok(broken(Promise::Recovery, format_args!("replay: {what}"))?);
        }
        if let Err(ReadError::Storage(_)) = scanned {
            return Err(Stop::Disk);
        }
        if let Err(error) = scanned {
            return Ok(broken(Promise::Recovery, format_args!("reading the log: {error}"))?);
        }
        Ok(())
    }
}

/// Returns a state as bytes.
pub(super) fn bytes_of(broker: &Broker) -> Vec<u8> {
    let mut bytes = Vec::new();
    broker.snapshot(&mut bytes);
    bytes
}
