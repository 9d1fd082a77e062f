//! The area `log`: durable appends beside a bare file and beside SQLite, and how fast a log is opened and read.
//!
//! All sides write records of 1 KiB to the same file system, and every batch is durable before the next begins; our
//! log is measured a second time as a server uses it, with a thread that syncs while the next batch is made.
//! The disk sets the pace, so wall time counts here.

pub(crate) mod append;
pub(crate) mod read;
mod sqlite;

use anyhow::Context;

use crate::area::{Area, Options, Outcome};
use crate::figures::{Pace, Series, Timing};
use crate::findings::{Aim, Finding, Sheet};
use crate::progress::progress;
use crate::ring::Scale;
use crate::scratch::{Scratch, load_average};
use crate::valgrind;

use append::{Side, Sides};

pub(crate) const AREA: Area = Area {
    name: "log",
    summary: "append durable records of 1 KiB, beside a bare file and SQLite; open and read a log",
    measure,
    smoke,
    callgrind,
    work,
};

/// The records of one batch: as many as a busy server has waiting, and one.
pub(crate) const BATCHES: [usize; 2] = [256, 1];
/// How many records are read, 1 GiB of them.
const RECORDS: u64 = 1_000_000;
const RECORDS_SMOKE: u64 = 2_000;
const SMOKE_PASSES: u64 = 3;

/// What is aimed at beside the bare file and beside SQLite.
type Aims = (&'static [Aim], &'static [Aim]);
const AIMS_256: Aims = (&[Aim::AtLeast(0.8)], &[Aim::AtLeast(5.0)]);
/// With one record a batch everybody waits for the same disk, SQLite too.
const AIMS_1: Aims = (&[Aim::AtLeast(0.85), Aim::AtLeast(0.95)], &[]);

/// What all sides did with batches of one size.
struct Rounds {
    /// In the order of [`Side::ALL`].
    sides: [Vec<Timing>; 4],
    /// How long single batches took, in milliseconds.
    commits_ms: [Vec<f64>; 4],
}

fn measure(options: &Options) -> anyhow::Result<Outcome> {
    let scratch = Scratch::on_disk()?;
    let sheet = find(&scratch, options, Scale::Full)?;
    print!("{}", sheet.render(&AREA, options));
    Ok(Outcome::Agreed)
}

fn smoke(options: &Options) -> anyhow::Result<Outcome> {
    let scratch = Scratch::make()?;
    let sheet = find(&scratch, &Options { rounds: 1, ..options.clone() }, Scale::Tiny)?;
    print!("{}", sheet.render_smoke(&AREA, options.form));
    Ok(Outcome::Agreed)
}

fn find(scratch: &Scratch, options: &Options, scale: Scale) -> anyhow::Result<Sheet> {
    let mut sheet = Sheet::new(vec![
        format!(
            "{} rounds of {} ms for each side, in turn, warmed up; medians of wall time; {}",
            options.rounds,
            options.duration.as_millis(),
            scratch.file_system
        ),
        "our segments are recycled as in a running server; the snapshots that allow it are taken in the same \
         time, and empty"
            .to_owned(),
        format!("SQLite {}: WAL, synchronous=FULL, one transaction a batch", sqlite::version()),
    ]);
    let load_before = load_average();
    let mut sides = Sides::make(scratch, scale)?;
    let (pace, records) = match scale {
        Scale::Full => (Pace::For(options.duration), RECORDS),
        Scale::Tiny => (Pace::Passes(SMOKE_PASSES), RECORDS_SMOKE),
    };
    progress("warming up");
    sides.warm_up(scale)?;
    for batch in BATCHES {
        let rounds = append_rounds(&mut sides, batch, pace, options.rounds)?;
        let (title, aims) = if batch == 1 { ("batches of 1", AIMS_1) } else { ("batches of 256", AIMS_256) };
        sheet.add(title, rounds.findings(aims));
    }
    drop(sides);
    let (findings, cache) = read::measure(scratch, records, options.rounds, scale)?;
    sheet.add("reading", findings);
    sheet.note(format!("{records} records of 1 KiB are read, {}", cache.name()));
    if let (Some(before), Some(after)) = (load_before, load_average()) {
        sheet.note(format!("load of the machine {before} before and {after} after"));
    }
    Ok(sheet)
}

fn append_rounds(sides: &mut Sides, batch: usize, pace: Pace, count: usize) -> anyhow::Result<Rounds> {
    let mut rounds = Rounds { sides: Default::default(), commits_ms: Default::default() };
    for round in 0..count {
        progress(format_args!("batches of {batch}, round {} of {count}", round + 1));
        for turn in 0..Side::ALL.len() {
            // Who starts changes from round to round.
            let place = (round + turn) % Side::ALL.len();
            let timing = sides.run(Side::ALL[place], batch, pace, &mut rounds.commits_ms[place])?;
            rounds.sides[place].push(timing);
        }
    }
    Ok(rounds)
}

impl Rounds {
    fn timings(&self, side: Side) -> &[Timing] {
        &self.sides[side as usize]
    }

    fn findings(&self, (raw_aims, sqlite_aims): Aims) -> Vec<Finding> {
        let ratio =
            |side, peer| Series::ratio_by(self.timings(side), self.timings(peer), Timing::wall_ns_per_record);
        let mut findings = vec![
            Finding::new("ours / bare file", "", ratio(Side::Ours, Side::Raw)).aiming(raw_aims),
            Finding::new("ours / SQLite", "", ratio(Side::Ours, Side::Sqlite)).aiming(sqlite_aims),
            Finding::new("ours, two threads / bare file", "", ratio(Side::Pair, Side::Raw)).aiming(raw_aims),
            Finding::new("ours, two threads / SQLite", "", ratio(Side::Pair, Side::Sqlite))
                .aiming(sqlite_aims),
        ];
        for side in Side::ALL {
            let rate = Series::by(self.timings(side), Timing::rate);
            findings.push(Finding::new(side.title(), "records/s", rate));
        }
        for side in Side::ALL {
            let processor = Series::by(self.timings(side), Timing::ns_per_record);
            let name = format!("{}, processor", side.title());
            findings.push(Finding::new(name, "ns/record", processor));
        }
        for side in Side::ALL {
            let mut commits = self.commits_ms[side as usize].clone();
            commits.sort_by(f64::total_cmp);
            for (share, name) in [(0.5, "half of the commits"), (0.99, "99 % of the commits")] {
                let within = quantile(&commits, share);
                findings.push(Finding::single(format!("{}, {name} within", side.title()), "ms", within));
            }
        }
        findings
    }
}

/// The figure below which that share of them lies; they are sorted.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = (sorted.len() as f64 * share) as usize;
    sorted.get(place.min(sorted.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}

fn callgrind(options: &Options) -> anyhow::Result<Outcome> {
    if !valgrind::is_installed() {
        progress("skipped: valgrind is not installed, so no instructions are counted");
        return Ok(Outcome::Agreed);
    }
    let folder = setup::tools_folder().join("callgrind");
    let mut findings = Vec::new();
    for batch in BATCHES {
        let name = format!("append-{batch}");
        progress(format_args!("counting the instructions of {name}"));
        let count = valgrind::instructions_per_pass(AREA.name, &name, &folder)? / batch as f64;
        findings.push(Finding::single(name, "instructions/record", count));
    }
    let mut sheet = Sheet::new(vec!["callgrind; what the system does is not counted".to_owned()]);
    sheet.add("ours", findings);
    print!("{}", sheet.render(&AREA, options));
    progress(format_args!("the profiles are in {}; see callgrind_annotate", folder.display()));
    Ok(Outcome::Agreed)
}

/// Appends batches on our side only.
fn work(what: &str, passes: u64) -> anyhow::Result<()> {
    let batch = BATCHES.into_iter().find(|batch| what == format!("append-{batch}"));
    let batch = batch.with_context(|| format!("there is no work {what:?}"))?;
    let scratch = Scratch::make()?;
    append::work(&scratch, batch, passes)
}
