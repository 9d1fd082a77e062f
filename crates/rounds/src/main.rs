//! `rounds`: kills the real bus under load, does other things to it, and says whether it kept its promises.

#![allow(clippy::print_stdout, reason = "a command-line tool answers on stdout")]

mod args;

use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Parser;
use rounds::faults::{PARTS, Part, Saw, Stage, part};
use rounds::{Cast, Plan, clock, run};

use args::Args;

/// Letters that each sender sends between two kills at most.
const LETTERS_MAX: u64 = 300;

fn main() -> ExitCode {
    match run_all(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Runs what was asked for, each part even if one before it failed, and says whether all went well.
fn run_all(args: &Args) -> anyhow::Result<bool> {
    if args.list {
        for part in PARTS {
            println!("{:<12} {}", part.name, part.summary);
        }
        return Ok(true);
    }
    let binary = match &args.binary {
        Some(binary) => binary.clone(),
        None => beside()?,
    };
    // Another seed every time: what no run has tried yet is worth most.
    let seed = args.seed.unwrap_or_else(|| RandomState::new().hash_one("rounds") >> 32);
    let stage = Stage { binary, seed, size: args.size.into() };
    println!("seed {seed}");
    let mut all_well = true;
    for part in chosen(args)? {
        all_well &= run_part(part, &stage, args.rounds);
    }
    Ok(all_well)
}

fn chosen(args: &Args) -> anyhow::Result<Vec<&'static Part>> {
    if args.parts.is_empty() {
        return Ok(PARTS.iter().collect());
    }
    let find = |name: &String| part(name).with_context(|| format!("no part `{name}`; see --list"));
    args.parts.iter().map(find).collect()
}

fn run_part(part: &Part, stage: &Stage, rounds: Option<u64>) -> bool {
    let began = clock::now();
    let cast = match part.name {
        "kills" => Some(Cast::Native),
        "doors" => Some(Cast::Everybody),
        _ => None,
    };
    let saw = match (rounds, cast) {
        (Some(rounds), Some(cast)) => kills(stage, cast, rounds),
        (Some(_) | None, _) => (part.run)(stage),
    };
    let (is_well, word, what) = match saw {
        Ok(Saw::This(what)) => (true, "passed", what),
        Ok(Saw::Skipped(why)) => (true, "skipped", why),
        Err(error) => (false, "FAILED", format!("{error:#}")),
    };
    println!("{:<12} {word:<8} {:>6.1} s  {what}", part.name, began.elapsed().as_secs_f64());
    is_well
}

fn kills(stage: &Stage, cast: Cast, rounds: u64) -> anyhow::Result<Saw> {
    let plan = Plan {
        binary: stage.binary.clone(),
        seed: stage.seed,
        cast,
        rounds,
        letters_max: LETTERS_MAX,
        plant: None,
    };
    let summary = run(&plan)?;
    for violation in &summary.violations {
        println!("{violation}");
    }
    if !summary.violations.is_empty() {
        bail!("{summary}");
    }
    Ok(Saw::This(summary.to_string()))
}

/// The program that was built with this one.
fn beside() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("finding this program")?;
    let binary = own.with_file_name("convoke");
    if !binary.is_file() {
        bail!("there is no {}: build it, or name one with --binary", binary.display());
    }
    Ok(binary)
}
