//! Simulation of the bus: the broker driven on a log whose disk fails, in small worlds made from seeds.
//!
//! A seed makes a world and a plan of steps. The driver does with broker and log what a node does; agents ask and
//! answer with what they were told, and nothing else; a reference model, written apart from the broker and as plainly
//! as possible, is told what was asked and answered and checks every promise after every step. Planted faults show
//! that it would notice.

mod args;
mod blocks;
mod client;
mod driver;
mod fleet;
mod model;
mod plan;
mod plant;
mod random;
mod request;
mod rules;
mod run;
mod said;
mod shrink;
mod step;
mod trace;
mod violation;
mod world;

#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::process::ExitCode;
use std::thread;

use anyhow::Context;
use clap::Parser;

use args::{Args, Command, PlantArgs};
use blocks::Blocks;
use fleet::{Order, Summary};
use plant::Plant;
use trace::Trace;

fn main() -> ExitCode {
    let args = Args::parse();
    match simulate(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Does what was asked for, and says whether all promises held.
fn simulate(args: &Args) -> anyhow::Result<bool> {
    let mut out = io::stdout().lock();
    // A panic of what is under test is a finding like any other, and is reported with its run.
    std::panic::set_hook(Box::new(|_| {}));
    if let Some(Command::Plants(plants)) = &args.command {
        return look_at_plants(plants, &mut out);
    }
    if args.trace {
        return trace_one(args, &mut out);
    }
    let order = Order {
        seeds: args.seeds.clone(),
        steps: args.steps,
        jobs: jobs_of(args.jobs)?,
        plant: args.plant,
        stop: !args.keep_going,
    };
    let total = order.seeds.end - order.seeds.start;
    let summary = fleet::run_all(&order, |done| eprintln!("{done} of {total} seeds"));
    report(args, &summary, &mut out)?;
    Ok(summary.failures.is_empty())
}

/// Lists the planted faults, or measures how surely they are found and says whether that is enough.
fn look_at_plants(args: &PlantArgs, out: &mut impl Write) -> anyhow::Result<bool> {
    let asked = |plant: &Plant| args.plant.is_none_or(|only| only == *plant);
    let plants: Vec<Plant> = Plant::all().filter(asked).collect();
    let Some(blocks) = args.blocks else {
        for plant in plants {
            writeln!(out, "{:<28}{}", plant.name(), plant.summary())?;
        }
        return Ok(true);
    };
    let blocks = Blocks {
        blocks,
        seeds: args.seeds,
        first: args.first,
        steps: args.steps,
        jobs: jobs_of(args.jobs)?,
        missed_percent_max: args.missed_max,
    };
    Ok(blocks::measure(&plants, &blocks, out)?)
}

fn jobs_of(asked: Option<usize>) -> anyhow::Result<usize> {
    match asked {
        Some(jobs) => Ok(jobs),
        None => Ok(thread::available_parallelism().context("counting the processors")?.get()),
    }
}

fn report(args: &Args, summary: &Summary, out: &mut impl Write) -> io::Result<()> {
    for (seed, failure) in &summary.failures {
        if args.keep_going {
            writeln!(out, "seed {seed}, step {}: {}", failure.step, failure.violation)?;
        }
    }
    if let Some((seed, failure)) = summary.failures.first_key_value().filter(|_| !args.keep_going) {
        eprintln!("seed {seed} failed at step {}, looking for the shortest run that fails", failure.step);
        let plan = plan::plan(*seed, args.steps);
        let shrunk = shrink::shrink(&plan, failure, args.plant);
        writeln!(out, "seed {seed} fails with the first {} of {} steps", shrunk.prefix, args.steps)?;
        writeln!(out, "of which these {} are needed:", shrunk.plan.steps.len())?;
        for line in &shrunk.lines {
            writeln!(out, "  {line}")?;
        }
        writeln!(out, "{}", shrunk.failure.violation)?;
        writeln!(out, "hint: sim --seeds {seed}..{} --steps {} --trace", seed + 1, shrunk.prefix)?;
    }
    let stats = &summary.stats;
    writeln!(
        out,
        "seeds {} steps {} messages {} deliveries {} crashes {} failures {} trace {:016x}",
        summary.seeds,
        stats.steps,
        stats.messages,
        stats.deliveries,
        stats.crashes,
        summary.failures.len(),
        summary.hash,
    )
}

fn trace_one(args: &Args, out: &mut impl Write) -> anyhow::Result<bool> {
    let plan = plan::plan(args.seeds.start, args.steps);
    writeln!(out, "{:?}", plan.world.focus)?;
    let outcome = run::run(&plan, args.plant, Trace::kept());
    for line in &outcome.lines {
        writeln!(out, "{line}")?;
    }
    if let Some(failure) = &outcome.failure {
        writeln!(out, "step {}: {}", failure.step, failure.violation)?;
    }
    Ok(outcome.failure.is_none())
}
