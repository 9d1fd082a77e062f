//! The report of the area: tables for people, or JSON lines.

use std::time::Duration;

use serde_json::{Value, json};

use super::corpus::DIALECTS;
use super::task::Work;
use super::{AREA, Rounds};
use crate::area::{Form, Options};
use crate::figures::{Series, Timing};
use crate::machine::Machine;
use crate::parts::{clock, noise, series, side};
use crate::table::{table, thousands};

/// What the figures are worth: where and how they came about.
pub(crate) struct Run<'r> {
    pub(crate) machine: Machine,
    pub(crate) options: &'r Options,
    /// How long each task took in each round.
    pub(crate) slot: Duration,
}

/// Renders a whole run.
pub(crate) fn render(run: &Run<'_>, rounds: &[Rounds<'_>]) -> String {
    match run.options.form {
        Form::Json => {
            let lines = std::iter::once(run_line(run)).chain(rounds.iter().map(task_line));
            lines.map(|line| format!("{line}\n")).collect()
        }
        Form::Text => {
            let mut text = heading(run, rounds);
            for work in [Work::Parse, Work::Validate, Work::Receive] {
                text.push_str(&format!("\n{}", table(&rows(work, rounds))));
            }
            for (name, title) in [("translate", "from / to"), ("restore", "back to / from")] {
                text.push_str(&format!("\n{}", matrix(name, title, rounds)));
            }
            text.push_str(&format!("\n{}", noise(timings(rounds))));
            text
        }
    }
}

/// Renders a smoke run, whose figures mean nothing.
pub(crate) fn render_smoke(timings: &[(String, Timing)], form: Form) -> String {
    match form {
        Form::Json => {
            let line = |(name, timing): &(String, Timing)| json!({ "area": AREA.name, "kind": "smoke", "task": name, "records": timing.records });
            timings.iter().map(line).map(|line| format!("{line}\n")).collect()
        }
        Form::Text => format!("smoke: {} tasks ran, and every translation came back\n", timings.len()),
    }
}

/// Renders instructions for each document.
pub(crate) fn render_instructions(counts: &[(String, f64)], form: Form) -> String {
    match form {
        Form::Json => counts
            .iter()
            .map(|(name, count)| {
                let line = json!({
                    "area": AREA.name, "kind": "instructions", "task": name,
                    "per_record": count.round() as u64,
                });
                format!("{line}\n")
            })
            .collect(),
        Form::Text => {
            let mut rows = vec![vec!["task".to_owned(), "instructions a document".to_owned()]];
            rows.extend(counts.iter().map(|(name, count)| vec![name.clone(), thousands(*count)]));
            table(&rows)
        }
    }
}

fn heading(run: &Run<'_>, rounds: &[Rounds<'_>]) -> String {
    let Run { machine, options, slot } = run;
    format!(
        "{}: {}\n\
         machine    {}, {} cores, {}\n\
         versions   rustc {}\n\
         method     {} rounds of {} ms for each task, sides in turn, warmed up; medians of {} time\n",
        AREA.name,
        AREA.summary,
        machine.processor,
        machine.cores,
        machine.kernel,
        machine.rustc,
        options.rounds,
        slot.as_millis(),
        clock(timings(rounds)),
    )
}

fn timings<'r>(rounds: &'r [Rounds<'_>]) -> impl Iterator<Item = &'r Timing> + Clone {
    rounds.iter().flat_map(|rounds| rounds.ours.iter().chain(&rounds.yardstick))
}

fn rows(work: Work, rounds: &[Rounds<'_>]) -> Vec<Vec<String>> {
    let first = format!("{}, ns", work.name());
    let heads = [&first, "bytes", "serde_json", "ours", "ratio", "over rounds", "aim", "reached"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for rounds in rounds.iter().filter(|rounds| rounds.task.plan.work == work) {
        let ratio = rounds.ratio();
        let mut row = vec![
            rounds.task.plan.document.to_string(),
            rounds.task.input.len().to_string(),
            thousands(Series::by(&rounds.yardstick, Timing::ns_per_record).median),
            thousands(Series::by(&rounds.ours, Timing::ns_per_record).median),
            format!("{:.2}", ratio.median),
            format!("{:.2} to {:.2}", ratio.min, ratio.max),
        ];
        if let Some((aim, is_reached)) = work.aim().zip(rounds.is_reached()) {
            row.push(format!("{aim} or less"));
            row.push(if is_reached { "yes" } else { "no" }.to_owned());
        }
        rows.push(row);
    }
    rows
}

/// The ratios of all pairs, and how many of them are as low as they should be.
fn matrix(name: &str, title: &str, rounds: &[Rounds<'_>]) -> String {
    let pairs: Vec<&Rounds<'_>> =
        rounds.iter().filter(|rounds| rounds.task.plan.work.name() == name).collect();
    let mut rows = vec![vec![format!("{name}, {title}")]];
    rows[0].extend(DIALECTS.iter().map(ToString::to_string));
    for document in DIALECTS {
        let mut row = vec![document.to_string()];
        for other in DIALECTS {
            let is_it = |pair: &&&Rounds<'_>| {
                pair.task.plan.document == document && pair.task.plan.work.other() == Some(other)
            };
            let cell = pairs.iter().find(is_it).map(|pair| format!("{:.2}", pair.ratio().median));
            row.push(cell.unwrap_or_else(|| "–".to_owned()));
        }
        rows.push(row);
    }
    let mut text = table(&rows);
    let reached = pairs.iter().filter(|pair| pair.is_reached() == Some(true)).count();
    let worst = pairs.iter().max_by(|a, b| a.ratio().median.total_cmp(&b.ratio().median));
    if let Some((worst, aim)) = worst.and_then(|worst| Some((worst, worst.task.plan.work.aim()?))) {
        let ratio = worst.ratio();
        text.push_str(&format!(
            "aim {aim} or less: reached by {reached} of {}; the worst is {}: {:.2} ({:.2} to {:.2})\n",
            pairs.len(),
            worst.task.plan.name(),
            ratio.median,
            ratio.min,
            ratio.max,
        ));
    }
    text
}

fn run_line(run: &Run<'_>) -> Value {
    json!({
        "area": AREA.name,
        "kind": "run",
        "machine": {
            "processor": run.machine.processor, "cores": run.machine.cores, "kernel": run.machine.kernel,
        },
        "versions": { "rustc": run.machine.rustc },
        "rounds": run.options.rounds,
        "milliseconds": u64::try_from(run.slot.as_millis()).unwrap_or(u64::MAX),
    })
}

fn task_line(rounds: &Rounds<'_>) -> Value {
    let plan = rounds.task.plan;
    json!({
        "area": AREA.name,
        "kind": "task",
        "task": plan.name(),
        "measure": plan.work.name(),
        "document": plan.document.name(),
        "other": plan.work.other().map(dialect::Name::name),
        "bytes": rounds.task.input.len(),
        "ours": side(&rounds.ours),
        "serde_json": side(&rounds.yardstick),
        "ours_by_serde_json": series(rounds.ratio(), 3),
        "aim": plan.work.aim(),
        "reached": rounds.is_reached(),
    })
}
