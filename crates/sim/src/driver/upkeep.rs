//! Upkeep: snapshots folded in the background, trimming, and what a rotten disk must lead to.

use broker::{Command, Context, Effects, Holder, Living, LookFrom, RecordName};
use log::{AppendError, Class, Log, MemDisk, OpenError, SegmentLog, SnapshotError, Snapshots};
use message::Seq;

use super::node::{Held, body};
use super::start::bytes_of;
use super::{Driver, Kept, Seen, Stop};
use crate::plant::DriverPlant;
use crate::violation::{Promise, Violation, broken, ensure};

/// Places of the state that are looked at in one turn.
const LOOK_MAX: u32 = 16;

impl Driver {
    /// Folds the log up to what is durable with a broker of its own, and stores the outcome.
    pub(crate) fn snapshot(&mut self) -> Result<(), Violation> {
        let stored = self.fold();
        self.survive(stored)
    }

    /// Carries living bodies to the end of the log, and gives up what is before them.
    pub(crate) fn trim(&mut self) -> Result<(), Violation> {
        let trimmed = self.trim_log();
        self.survive(trimmed)
    }

    /// Flips a bit of a copy of the disk: opening it must lead to an error, or to the log as it was but for a tail
    /// that could not be told from a torn write.
    pub(crate) fn rot(&mut self, pick: u64) -> Result<(), Violation> {
        let Some(node) = &self.node else { return Ok(()) };
        let (durable, last) = (node.durable, node.log.last());
        // Each batch says what was durable when it was written; what came after looks like a torn write.
        let surely =
            self.marks.iter().rev().find(|(end, _)| *end <= last).map_or(Seq(0), |(_, durable)| *durable);
        let disk = self.disk.copy();
        flip_one(&disk, pick);
        match SegmentLog::open(disk, self.options.clone()) {
            Err(OpenError::Damaged(_)) => Ok(()),
            Err(error) => broken(Promise::Recovery, format_args!("a flipped bit looks like: {error}")),
            Ok((_, opened)) => {
                let whole = opened.last >= durable && opened.last <= last;
                let cut = opened.cut.is_some() && opened.last >= surely;
                let what = format_args!("a flipped bit leaves {opened:?} of {durable} durable ones");
                ensure(whole || cut, Promise::Durable, what)
            }
        }
    }

    /// Notes in the log, when nothing is under way, that what it holds is durable; and makes segments ready.
    pub(super) fn mark(&mut self) -> Result<(), Stop> {
        let is_time = self.dice.percent(10);
        let Some(node) = self.node.as_mut().filter(|node| is_time && node.durable == node.log.last()) else {
            return Ok(());
        };
        match node.log.mark() {
            Ok(()) => self.marks.push((node.durable, node.durable)),
            Err(AppendError::NoRoom { .. }) => {}
            Err(_) => return Err(Stop::Disk),
        }
        node.keep()?;
        self.sync_log()
    }

    fn fold(&mut self) -> Result<(), Stop> {
        let plant = self.driver_plant();
        let Some(mut node) = self.node.take() else { return Ok(()) };
        let folded = self.fold_node(&mut node, plant);
        self.node = Some(node);
        folded
    }

    fn fold_node(&mut self, node: &mut super::Node, plant: Option<DriverPlant>) -> Result<(), Stop> {
        let to = node.durable;
        if node.log.last() > to {
            let ahead = node.snapshots.store(node.log.last(), |file| file.write_all(b"ahead"));
            let what = format_args!("a snapshot ahead of what is durable is stored: {ahead:?}");
            ensure(ahead.is_err(), Promise::Snapshots, what)?;
        }
        if to <= node.folded.last() {
            return Ok(());
        }
        if plant == Some(DriverPlant::SnapshotUnsynced) {
            let bytes = bytes_of(&node.broker);
            return stored(node.snapshots.store(to, |file| file.write_all(&bytes)));
        }
        let end = match plant {
            Some(DriverPlant::SnapshotForgets) => Seq(to.0 - 1),
            Some(_) | None => to,
        };
        let from = node.folded.last();
        self.replay(&mut node.folded, &node.reader, from, end)?;
        let bytes = bytes_of(&node.folded);
        if let Some(living) = node.states.get(&to) {
            let what = format_args!("the state folded from the log is not the living one at {to}");
            ensure(*living == bytes, Promise::Snapshots, what)?;
        }
        stored(node.snapshots.store(to, |file| file.write_all(&bytes)))
    }

    fn trim_log(&mut self) -> Result<(), Stop> {
        // What is on its way out is read from where it was; so it leaves first.
        self.work()?;
        self.append()?;
        self.sync_log()?;
        self.release()?;
        let Some(node) = &self.node else { return Ok(()) };
        // Anywhere: the log itself holds on to what its snapshots do not cover.
        let durable = node.durable.0;
        let before =
            Seq(if self.dice.percent(85) { durable } else { durable - self.dice.below(durable + 1) });
        if self.dice.percent(80) {
            self.fold()?;
        }
        if self.driver_plant() != Some(DriverPlant::TrimWithoutCarry) {
            self.carry(before)?;
            if self.dice.percent(10) {
                // The process may be killed before it goes on.
                return Ok(());
            }
            self.sync_log()?;
            self.release()?;
        }
        if self.dice.percent(85) {
            self.fold()?;
        }
        let Some(node) = &mut self.node else { return Ok(()) };
        node.log.truncate_before(before).map_err(|_| Stop::Disk)?;
        self.read_records()
    }

    /// Reads every record and what asks for every open task, if all of them are durable.
    pub(super) fn read_records(&mut self) -> Result<(), Stop> {
        let Some(node) = self.node.as_ref().filter(|node| node.durable == node.broker.last()) else {
            return Ok(());
        };
        let (mut kept, mut from) = (Vec::new(), Some(LookFrom::Records(None)));
        let mut asked = Vec::new();
        while let Some(here) = from {
            let (bodies, next) = node.broker.bodies_before(Seq(u64::MAX), here, LOOK_MAX);
            for Living { of, place, .. } in bodies {
                let document = body(&node.reader, place)?;
                match of {
                    Holder::Record(RecordName { repo, collection, key }) => {
                        kept.push(Kept { repo, collection, key, document });
                    }
                    Holder::Task(key) => {
                        let request = node.broker.task_at(key).and_then(|task| task.request);
                        asked.extend(request.map(|request| (request, document)));
                    }
                    Holder::Message(_) => {}
                }
            }
            from = next;
        }
        self.seen.push(Seen::Kept { records: kept, asked });
        Ok(())
    }

    fn carry(&mut self, before: Seq) -> Result<(), Stop> {
        let clock = self.clock;
        let plant = self.driver_plant();
        let mut from = Some(LookFrom::START);
        while let Some(here) = from {
            let Some(node) = &mut self.node else { return Ok(()) };
            let (mut bodies, next) = node.broker.bodies_before(before, here, LOOK_MAX);
            bodies.retain(|living| match living.of {
                Holder::Record(_) => plant != Some(DriverPlant::TrimRecords),
                Holder::Task(_) => plant != Some(DriverPlant::TrimTasks),
                Holder::Message(_) => true,
            });
            from = next;
            if bodies.is_empty() {
                continue;
            }
            node.class = Class::Reserve;
            for Living { of, place, .. } in bodies {
                let body = body(&node.reader, place)?;
                let mut effects = Effects::new();
                let mut cx = Context { now: node.now(clock), wall: clock.wall(), random: &mut self.dice };
                let carry = Command::Carry { of, place, body: body.into() };
                let carried = node.execute(&carry, &mut cx, &mut effects);
                if let Err(refusal) = carried {
                    return Ok(broken(
                        Promise::Bodies,
                        format_args!("a living body is not carried: {refusal}"),
                    )?);
                }
                node.held.push_back((node.broker.last(), Held::Effects(effects)));
            }
            self.end_turn();
            self.append()?;
        }
        Ok(())
    }
}

/// Flips a bit of one byte, mostly one that means something.
fn flip_one(disk: &MemDisk, pick: u64) {
    let files = disk.files();
    let total: u64 = files.iter().map(|(_, bytes)| bytes).sum();
    let mut offset = pick % total.max(1);
    for (name, bytes) in files {
        if offset < bytes {
            let contents = disk.contents(&name).unwrap_or_default();
            let from = offset as usize;
            let used = contents[from..].iter().position(|byte| *byte != 0).or_else(|| {
                contents[..from].iter().rposition(|byte| *byte != 0).map(|at| at.wrapping_sub(from))
            });
            let at = from.wrapping_add(used.unwrap_or(0));
            disk.flip(&name, at as u64, 1 << (pick >> 61));
            return;
        }
        offset -= bytes;
    }
}

fn stored(outcome: Result<(), SnapshotError>) -> Result<(), Stop> {
    match outcome {
        Ok(()) | Err(SnapshotError::NotNewer { .. }) => Ok(()),
        Err(SnapshotError::Storage(_)) => Ok(()),
        Err(error) => Ok(broken(Promise::Snapshots, format_args!("a snapshot is not stored: {error}"))?),
    }
}
