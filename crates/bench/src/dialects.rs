//! The area `dialects`: documents checked, read and translated, beside the parser that everybody uses.
//!
//! The yardstick is `serde_json` reading the same bytes into its `Value`, measured right before or after ours:
//! whoever handles JSON at all pays that much. A ratio of 1 means that our step costs nothing on top of it.

pub(crate) mod corpus;
mod report;
pub(crate) mod task;

use anyhow::Context;
use dialect::Name;

use crate::area::{Area, Options, Outcome};
use crate::figures::{self, Pace, Series, Timing};
use crate::machine::Machine;
use crate::progress::progress;
use crate::valgrind;

use task::{Plan, Task, Work};

pub(crate) const AREA: Area = Area {
    name: "dialects",
    summary: "check, read and translate documents of 1 KiB, beside serde_json parsing them",
    measure,
    smoke,
    callgrind,
    work,
};

/// Passes of a smoke run: enough to run every line, too few to mean anything.
const SMOKE_PASSES: u64 = 3;
/// There are many tasks, so each takes this part of the time that a measure may take.
const SHARE_OF_MEASURE: u32 = 10;
/// The translations whose instructions are counted: small to large, large to small, and to ours.
const COUNTED: [(Name, Name); 3] =
    [(Name::Bus, Name::Wire), (Name::Comms, Name::Coord), (Name::Channel, Name::Convoke)];

/// The timings of one task, by rounds.
pub(crate) struct Rounds<'t> {
    pub(crate) task: &'t Task,
    pub(crate) ours: Vec<Timing>,
    /// The yardstick on the same bytes, as many as ours.
    pub(crate) yardstick: Vec<Timing>,
}

impl Rounds<'_> {
    /// How many times longer than the yardstick we take.
    pub(crate) fn ratio(&self) -> Series {
        Series::ratio_by(&self.yardstick, &self.ours, Timing::ns_per_record)
    }

    /// Whether the ratio is as low as it should be, where something is aimed at.
    pub(crate) fn is_reached(&self) -> Option<bool> {
        self.task.plan.work.aim().map(|aim| self.ratio().median <= aim)
    }
}

fn measure(options: &Options) -> anyhow::Result<Outcome> {
    let plans = Plan::all().into_iter().filter(|plan| plan.work != Work::SerdeJson);
    let tasks = plans.map(Plan::prepare).collect::<anyhow::Result<Vec<Task>>>()?;
    let slot = options.duration / SHARE_OF_MEASURE;
    let pace = Pace::For(slot);
    progress("warming up");
    for task in &tasks {
        task.run(pace);
    }
    let empty = |task| Rounds { task, ours: Vec::new(), yardstick: Vec::new() };
    let mut all: Vec<Rounds<'_>> = tasks.iter().map(empty).collect();
    for round in 1..=options.rounds {
        progress(format_args!("round {round} of {}", options.rounds));
        for rounds in &mut all {
            one_round(rounds, pace, round)?;
        }
    }
    let run = report::Run { machine: Machine::look(), options, slot };
    print!("{}", report::render(&run, &all));
    Ok(Outcome::Agreed)
}

/// Measures the sides in turn; who starts changes from round to round.
fn one_round(rounds: &mut Rounds<'_>, pace: Pace, round: usize) -> anyhow::Result<()> {
    let task = rounds.task;
    let yardstick_first = round.is_multiple_of(2);
    if yardstick_first {
        rounds.yardstick.push(figures::quietest(|| Ok(task.run_yardstick(pace)))?);
    }
    rounds.ours.push(figures::quietest(|| Ok(task.run(pace)))?);
    if !yardstick_first {
        rounds.yardstick.push(figures::quietest(|| Ok(task.run_yardstick(pace)))?);
    }
    Ok(())
}

fn smoke(options: &Options) -> anyhow::Result<Outcome> {
    let mut timings = Vec::new();
    for plan in Plan::all() {
        timings.push((plan.name(), plan.prepare()?.run(Pace::Passes(SMOKE_PASSES))));
    }
    print!("{}", report::render_smoke(&timings, options.form));
    Ok(Outcome::Agreed)
}

fn callgrind(options: &Options) -> anyhow::Result<Outcome> {
    if !valgrind::is_installed() {
        progress("skipped: valgrind is not installed, so no instructions are counted");
        return Ok(Outcome::Agreed);
    }
    let folder = setup::tools_folder().join("callgrind");
    let mut counts = Vec::new();
    for plan in Plan::all().into_iter().filter(is_counted) {
        let name = plan.name();
        progress(format_args!("counting the instructions of {name}"));
        let count = valgrind::instructions_per_pass(AREA.name, &name, &folder)?;
        counts.push((name, count));
    }
    print!("{}", report::render_instructions(&counts, options.form));
    progress(format_args!("the profiles are in {}; see callgrind_annotate", folder.display()));
    Ok(Outcome::Agreed)
}

fn is_counted(plan: &Plan) -> bool {
    plan.work.other().is_none_or(|other| COUNTED.contains(&(plan.document, other)))
}

/// Prepares one task only, so that a profile shows it and little else.
fn work(what: &str, passes: u64) -> anyhow::Result<()> {
    let plan = Plan::all().into_iter().find(|plan| plan.name() == what);
    plan.with_context(|| format!("there is no task {what:?}"))?.prepare()?.run(Pace::Passes(passes));
    Ok(())
}
