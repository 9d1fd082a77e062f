//! Maintenance: snapshots folded in the background, trimming, and what a rotten disk must lead to.

use std::cell::RefCell;

use broker::{Command, Holder, Living, LivingBodies, LookFrom, RecordName};
use log::{Log, MemDisk, OpenError, SegmentLog, Snapshots};
use message::Seq;
use node::driver::{Ask, Executed, Keep};

use super::process::Process;
use super::{Driver, Kept, Seen, Stop};
use crate::violation::{Promise, Violation, broken, ensure};

/// Places of the state that are looked at at once.
const LOOK_MAX: u32 = 16;

/// The driver, as maintenance asks things of it. Each is carried out, made durable and answered at once.
struct Asked<'d> {
    driver: RefCell<&'d mut Driver>,
    stop: RefCell<Option<Stop>>,
}

impl Asked<'_> {
    fn with_process<R>(&self, look: impl FnOnce(&Process) -> R) -> Option<R> {
        self.driver.borrow().process.as_ref().map(look)
    }
}

impl Ask for Asked<'_> {
    fn execute_all(&self, commands: Vec<Command>) -> Option<Vec<Executed>> {
        let mut driver = self.driver.borrow_mut();
        let mut executed = driver.process.as_mut()?.push_own(commands);
        let done = driver.step().and_then(|()| driver.commit_all());
        if let Err(stop) = done {
            *self.stop.borrow_mut() = Some(stop);
            return None;
        }
        executed.try_recv().ok()
    }

    fn living_bodies(&self, query: LivingBodies) -> Option<(Vec<Living>, Option<LookFrom>)> {
        let LivingBodies { before, from, .. } = query;
        self.with_process(|process| process.broker().bodies_before(before, from, LOOK_MAX))
    }

    fn durable(&self) -> Seq {
        self.with_process(|process| process.pipeline.durable()).unwrap_or(Seq(0))
    }

    fn free(&self) -> u64 {
        self.with_process(|process| process.pipeline.free()).unwrap_or(0)
    }

    fn batch_bytes_max(&self) -> u64 {
        self.with_process(|process| process.committer.log().room().batch_bytes_max).unwrap_or(0)
    }
}

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
        let Some(process) = &self.process else { return Ok(()) };
        let (durable, last) = (process.pipeline.durable(), process.committer.log().written());
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
        let is_quiet = |process: &Process| process.pipeline.durable() == process.committer.log().last();
        let Some(process) = self.process.as_mut().filter(|process| is_time && is_quiet(process)) else {
            return Ok(());
        };
        if !process.in_flight.is_empty() {
            return Ok(());
        }
        let durable = process.pipeline.durable();
        match process.committer.finish() {
            Ok(_) => self.marks.push((durable, durable)),
            Err(node::driver::CommitError::Refused(_)) => {}
            Err(node::driver::CommitError::Unknown(_)) => return Err(Stop::Disk),
        }
        let Some(process) = &self.process else { return Ok(()) };
        process.keep()
    }

    fn fold(&mut self) -> Result<(), Stop> {
        let Some(process) = &mut self.process else { return Ok(()) };
        let Some(mut maintenance) = process.maintenance.take() else { return Ok(()) };
        let durable = process.pipeline.durable();
        let (mut snapshots, last) = (process.committer.log().snapshots(), process.committer.log().last());
        if last > durable {
            let ahead = snapshots.store(last, |file| file.write_all(b"ahead"));
            let what = format_args!("a snapshot ahead of what is durable is stored: {ahead:?}");
            ensure(ahead.is_err(), Promise::Snapshots, what)?;
        }
        let stored = maintenance.take_snapshot(durable);
        process.maintenance = Some(maintenance);
        if stored.is_none() {
            return Ok(());
        }
        let Ok(Some(mut snapshot)) = snapshots.load() else { return Ok(()) };
        let mut bytes = Vec::new();
        if snapshot.at != durable || snapshot.bytes.read_to_end(&mut bytes).is_err() {
            return Ok(());
        }
        if let Some(living) = process.states.get(&durable) {
            let what = format_args!("the state folded from the log is not the living one at {durable}");
            ensure(*living == bytes, Promise::Snapshots, what)?;
        }
        Ok(())
    }

    fn trim_log(&mut self) -> Result<(), Stop> {
        // What is on its way out is read from where it was; so it leaves first.
        self.decide()?;
        self.commit_all()?;
        if self.dice.percent(80) {
            self.fold()?;
        }
        let Some(process) = &mut self.process else { return Ok(()) };
        let Some(mut maintenance) = process.maintenance.take() else { return Ok(()) };
        let (now, keep) = (process.now(self.clock), Keep { bytes: Some(1), time: None });
        let stops_early = self.dice.percent(10);
        let asked = Asked { driver: RefCell::new(self), stop: RefCell::new(None) };
        if stops_early {
            // The process may be killed before it goes on.
            let plan = maintenance.plan(&asked, &keep, now);
            // A hindrance leaves everything as it is.
            maintenance.carry(&asked, &plan).unwrap_or_default();
        } else {
            maintenance.trim(&asked, &keep, false, now);
        }
        let stop = asked.stop.into_inner();
        if let Some(process) = &mut self.process {
            process.maintenance = Some(maintenance);
        }
        stop.map_or(Ok(()), Err)?;
        self.read_records()
    }

    /// Reads every record and what asks for every open task, if all of them are durable.
    pub(super) fn read_records(&mut self) -> Result<(), Stop> {
        let is_durable = |process: &&Process| process.pipeline.durable() == process.broker().last();
        let Some(process) = self.process.as_ref().filter(is_durable) else {
            return Ok(());
        };
        let (mut kept, mut from) = (Vec::new(), Some(LookFrom::Records(None)));
        let mut asked = Vec::new();
        while let Some(here) = from {
            let (bodies, next) = process.broker().bodies_before(Seq(u64::MAX), here, LOOK_MAX);
            for Living { of, place, .. } in bodies {
                let document = process.body(place)?;
                match of {
                    Holder::Record(RecordName { repo, collection, key }) => {
                        let record = process.broker().record(repo, &collection, &key);
                        let stamp = record.map(|record| (record.cid, record.tick, record.message));
                        let stamp = stamp.unwrap_or_default();
                        kept.push(Kept { repo, collection, key, document, stamp });
                    }
                    Holder::Task(key) => {
                        let request = process.broker().task_at(key).and_then(|task| task.request);
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
