//! The area `engine`: broker and log together in one process, without network and without parsing.
//!
//! A message is accepted, handed out and settled. Where a log takes part, nothing counts before it is durable, and
//! wall time counts; without a log, processor time does.

pub(crate) mod bus;
mod durable;
mod growth;
pub(crate) mod load;
pub(crate) mod memory;
mod restart;
pub(crate) mod second;
mod tasks;

use std::path::Path;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::area::{Area, Options, Outcome};
use crate::child::{self, Place, number};
use crate::figures::{self, Pace, Series, Timing};
use crate::findings::{Aim, Finding, Sheet};
use crate::log::append;
use crate::progress::progress;
use crate::raw::Raw;
use crate::ring::Scale;
use crate::scratch::{self, Scratch, load_average};
use crate::valgrind;

use bus::Bus;
use durable::{CREDIT, CROWD, Durable, Split, TASKS};
use memory::Case;

pub(crate) const AREA: Area = Area {
    name: "engine",
    summary: "accept, hand out and settle messages of 1 KiB: durable, in memory, after a restart",
    measure,
    smoke,
    callgrind,
    work,
};

/// Messages of one durable batch, as many as a busy server has waiting.
const BATCH: usize = 256;
/// Batches, and how their making is divided among threads. With one message there is nothing to decide meanwhile.
const DURABLE_RUNS: [(usize, Split); 3] = [(BATCH, Split::Sync), (BATCH, Split::Append), (1, Split::None)];
const WAITING: u64 = 1_000_000;
const WAITING_SMOKE: u64 = 600;
/// Messages until every sender's ids are forgotten as fast as they come.
const WARM_UP: u64 = 400_000;
const SMOKE_PASSES: u64 = 3;
/// The work of a restart is named after its folder.
const RESTART: &str = "restart=";

const DURABLE: &[Aim] = &[Aim::AtLeast(250_000.0), Aim::AtLeast(400_000.0)];
const DURABLE_1: &[Aim] = &[Aim::AtLeast(0.85), Aim::AtLeast(0.95)];
const IN_MEMORY: &[Aim] = &[Aim::AtLeast(300_000.0)];
const BYTES: &[Aim] = &[Aim::AtMost(300.0)];
const COLD: &[Aim] = &[Aim::AtMost(5.0), Aim::AtMost(3.0)];
const WITH_SNAPSHOT: &[Aim] = &[Aim::AtMost(1.0), Aim::AtMost(0.3)];

/// How much is done, and where.
struct Run<'r> {
    scratch: &'r Scratch,
    rounds: usize,
    pace: Pace,
    scale: Scale,
    place: Place,
    waiting: u64,
}

fn measure(options: &Options) -> anyhow::Result<Outcome> {
    let scratch = Scratch::on_disk()?;
    let run = Run {
        scratch: &scratch,
        rounds: options.rounds,
        pace: Pace::For(options.duration),
        scale: Scale::Full,
        place: Place::Child,
        waiting: WAITING,
    };
    let sheet = run.find(options)?;
    print!("{}", sheet.render(&AREA, options));
    Ok(Outcome::Agreed)
}

fn smoke(options: &Options) -> anyhow::Result<Outcome> {
    let scratch = Scratch::make()?;
    let run = Run {
        scratch: &scratch,
        rounds: 1,
        pace: Pace::Passes(SMOKE_PASSES),
        scale: Scale::Tiny,
        place: Place::Here,
        waiting: WAITING_SMOKE,
    };
    print!("{}", run.find(options)?.render_smoke(&AREA, options.form));
    Ok(Outcome::Agreed)
}

impl Run<'_> {
    fn find(&self, options: &Options) -> anyhow::Result<Sheet> {
        let mut sheet = Sheet::new(vec![
            format!(
                "{} rounds of {} ms for each measure, in turn, warmed up; medians; {}",
                self.rounds,
                options.duration.as_millis(),
                self.scratch.file_system
            ),
            format!(
                "{} senders, {} recipients; takes of up to {CREDIT}; four priorities, distinct ids, a task in \
                 every other message; fingerprints of documents come with them",
                CROWD.senders, CROWD.recipients
            ),
        ]);
        let load_before = load_average();
        self.durable(&mut sheet)?;
        self.in_memory(&mut sheet)?;
        self.growth(&mut sheet)?;
        self.tasks(&mut sheet)?;
        self.memory(&mut sheet)?;
        self.restart(&mut sheet)?;
        if let (Some(before), Some(after)) = (load_before, load_average()) {
            sheet.note(format!("load of the machine {before} before and {after} after"));
        }
        Ok(sheet)
    }

    /// Publish and ack through broker and log, beside the bare file with batches of as many KiB.
    fn durable(&self, sheet: &mut Sheet) -> anyhow::Result<()> {
        let warm_up = match self.scale {
            Scale::Full => WARM_UP,
            Scale::Tiny => 1,
        };
        let mut raw = Raw::make(&self.scratch.folder("bare")?, self.scale)?;
        let records = append::records();
        for (batch, split) in DURABLE_RUNS {
            let folder = self.scratch.folder(&format!("log-{batch}-{split:?}"))?;
            let mut ours = Durable::make(&folder, split, self.scale)?;
            progress(format_args!("durable batches of {batch}, {}", split.title()));
            ours.run(BATCH, Pace::Passes(warm_up.div_ceil(BATCH as u64)))?;
            let bytes = &records[..batch * append::RECORD_BYTES];
            let (mut our_times, mut raw_times) = (Vec::new(), Vec::new());
            for round in 1..=self.rounds {
                let mut raw_turn = || figures::try_run(self.pace, batch, || raw.write(bytes));
                if round.is_multiple_of(2) {
                    raw_times.push(raw_turn()?);
                    our_times.push(ours.run(batch, self.pace)?);
                } else {
                    our_times.push(ours.run(batch, self.pace)?);
                    raw_times.push(raw_turn()?);
                }
            }
            sheet.add(split.title(), durable_findings(batch, &our_times, &raw_times));
        }
        Ok(())
    }

    /// Accept, take and ack by one thread, without a log.
    fn in_memory(&self, sheet: &mut Sheet) -> anyhow::Result<()> {
        let mut findings = Vec::new();
        for credit in [CREDIT as u32, 1] {
            let mut bus = Bus::new(CROWD, TASKS, &mut |_, _, _| {})?;
            if self.scale == Scale::Full {
                bus.time_cycles(credit, Pace::Passes(WARM_UP / u64::from(credit)))?;
            }
            let mut timings = Vec::new();
            for round in 1..=self.rounds {
                progress(format_args!("in memory, takes of {credit}, round {round} of {}", self.rounds));
                timings.push(figures::quietest(|| bus.time_cycles(credit, self.pace))?);
            }
            let rate = Series::of(timings.iter().map(|timing| 1e9 / timing.ns_per_record()));
            let title = format!("accept, take and ack, takes of {credit}");
            findings.push(Finding::new(title, "messages/s", rate).aiming(IN_MEMORY));
            sheet.watch(timings);
        }
        sheet.add("in memory, one thread", findings);
        Ok(())
    }

    fn growth(&self, sheet: &mut Sheet) -> anyhow::Result<()> {
        let pace = match self.pace {
            Pace::For(duration) => Pace::For(duration / 4),
            Pace::Passes(count) => Pace::Passes(count),
        };
        let (findings, timings) = growth::measure(self.rounds, pace, self.scale)?;
        sheet.add("as it grows", findings);
        sheet.watch(timings);
        Ok(())
    }

    /// What work costs as more of it is open.
    fn tasks(&self, sheet: &mut Sheet) -> anyhow::Result<()> {
        let (mut findings, timings) = tasks::measure(self.rounds, self.pace, self.scale)?;
        let answer = match self.place {
            Place::Child => child::ask(AREA.name, tasks::MEMORY, self.waiting)?,
            Place::Here => tasks::look(self.waiting)?,
        };
        let bytes = (number(&answer, "loaded")? - number(&answer, "idle")?) / self.waiting as f64;
        findings.push(Finding::single("an open task and its request", "bytes/task", bytes));
        sheet.add("tasks", findings);
        sheet.watch(timings);
        Ok(())
    }

    fn memory(&self, sheet: &mut Sheet) -> anyhow::Result<()> {
        let mut findings = Vec::new();
        for case in Case::ALL {
            progress(format_args!("memory of {} messages with {}", self.waiting, case.title));
            let answer = match self.place {
                Place::Child => child::ask(AREA.name, case.name, self.waiting)?,
                Place::Here => memory::look(case, self.waiting)?,
            };
            let bytes = (number(&answer, "loaded")? - number(&answer, "idle")?) / self.waiting as f64;
            findings.push(Finding::single(case.title, "bytes/message", bytes).aiming(BYTES));
        }
        sheet.add("memory of messages that wait", findings);
        Ok(())
    }

    fn restart(&self, sheet: &mut Sheet) -> anyhow::Result<()> {
        let folder = self.scratch.folder("restart")?;
        progress(format_args!("writing a log in which {} messages wait", self.waiting));
        let prepared = restart::prepare(&folder, self.waiting, self.scale)?;
        let mut findings = Vec::new();
        let cache = scratch::empty_cache(self.scale);
        let answers = self.restarts(&folder)?;
        findings.extend(restart_findings("without a snapshot", &answers, COLD)?);
        let written = restart::store(&folder, &prepared, self.scale)?;
        drop(prepared);
        let answers = self.restarts(&folder)?;
        findings.extend(restart_findings("with a snapshot", &answers, WITH_SNAPSHOT)?);
        let seconds = |name, took: std::time::Duration| Finding::single(name, "s", took.as_secs_f64());
        findings.push(seconds("writing a snapshot: encode", written.encode));
        findings.push(seconds("writing a snapshot: store and sync", written.store));
        findings.push(Finding::single("size of the snapshot", "bytes", written.bytes as f64));
        sheet.add("restart", findings);
        sheet.note(format!("{} messages wait when it restarts, {}", self.waiting, cache.name()));
        Ok(())
    }

    fn restarts(&self, folder: &Path) -> anyhow::Result<Vec<Value>> {
        let restart = |round| {
            progress(format_args!("restart, round {round} of {}", self.rounds));
            scratch::empty_cache(self.scale);
            match self.place {
                Place::Child => {
                    child::ask(AREA.name, &format!("{RESTART}{}", folder.display()), self.waiting)
                }
                Place::Here => restart::restart(folder, self.waiting, self.scale),
            }
        };
        (1..=self.rounds).map(restart).collect()
    }
}

fn durable_findings(batch: usize, ours: &[Timing], raw: &[Timing]) -> Vec<Finding> {
    let title = |what: &str| format!("{what}, batches of {batch}");
    let rate = Finding::new(title("durable publish and ack"), "messages/s", Series::by(ours, Timing::rate));
    let ratio = Series::ratio_by(ours, raw, Timing::wall_ns_per_record);
    let ratio = Finding::new(title("ours / bare file"), "", ratio);
    let deciding = Series::by(ours, Timing::ns_per_record);
    let (rate, ratio) =
        if batch == 1 { (rate, ratio.aiming(DURABLE_1)) } else { (rate.aiming(DURABLE), ratio) };
    vec![
        rate,
        Finding::new(title("bare file"), "KiB/s", Series::by(raw, Timing::rate)),
        ratio,
        Finding::new(title("processor of the deciding thread"), "ns/message", deciding),
    ]
}

fn restart_findings(title: &str, answers: &[Value], aims: &'static [Aim]) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for step in ["total", "processor", "open", "load", "restore", "replay"] {
        let seconds =
            answers.iter().map(|answer| number(answer, step)).collect::<anyhow::Result<Vec<_>>>()?;
        let finding = Finding::new(format!("{title}: {step}"), "s", Series::of(seconds));
        findings.push(if step == "total" { finding.aiming(aims) } else { finding });
    }
    Ok(findings)
}

fn callgrind(options: &Options) -> anyhow::Result<Outcome> {
    if !valgrind::is_installed() {
        progress("skipped: valgrind is not installed, so no instructions are counted");
        return Ok(Outcome::Agreed);
    }
    let folder = setup::tools_folder().join("callgrind");
    let mut findings = Vec::new();
    for (name, credit) in CYCLES {
        progress(format_args!("counting the instructions of {name}"));
        let count = valgrind::instructions_per_pass(AREA.name, name, &folder)? / f64::from(credit);
        let title = format!("accept, take and ack, takes of {credit}");
        findings.push(Finding::single(title, "instructions/message", count));
    }
    let mut sheet = Sheet::new(vec!["callgrind; making the messages is part of it".to_owned()]);
    sheet.add("in memory", findings);
    print!("{}", sheet.render(&AREA, options));
    progress(format_args!("the profiles are in {}; see callgrind_annotate", folder.display()));
    Ok(Outcome::Agreed)
}

/// The works whose instructions are counted, and how many messages each pass has.
const CYCLES: [(&str, u32); 2] = [("cycle-16", CREDIT as u32), ("cycle-1", 1)];

/// Does one work, and answers in one line where somebody waits for figures.
fn work(what: &str, passes: u64) -> anyhow::Result<()> {
    if let Some(folder) = what.strip_prefix(RESTART) {
        println!("{}", restart::restart(Path::new(folder), passes, Scale::Full)?);
        return Ok(());
    }
    if what == tasks::MEMORY {
        println!("{}", tasks::look(passes)?);
        return Ok(());
    }
    if let Some(case) = Case::ALL.into_iter().find(|case| case.name == what) {
        println!("{}", memory::look(case, passes)?);
        return Ok(());
    }
    if let Some((_, credit)) = CYCLES.into_iter().find(|(name, _)| *name == what) {
        return cycles(credit, passes);
    }
    let split = match what {
        "durable-sync" => Split::Sync,
        "durable-append" => Split::Append,
        other => bail!("there is no work {other:?}"),
    };
    let scratch = Scratch::on_disk()?;
    let mut durable = Durable::make(&scratch.folder("log")?, split, Scale::Full)?;
    durable.run(BATCH, Pace::Passes(passes)).map(|_| ()).context("a durable batch")
}

/// Cycles in the state in which as much is forgotten as comes.
fn cycles(credit: u32, passes: u64) -> anyhow::Result<()> {
    let mut bus = Bus::new(CROWD, TASKS, &mut |_, _, _| {})?;
    bus.forget_soon()?;
    bus.time_cycles(CREDIT as u32, Pace::Passes(100))?;
    bus.time_cycles(credit, Pace::Passes(passes)).map(|_| ())
}
