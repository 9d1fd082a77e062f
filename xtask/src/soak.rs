//! `cargo xtask soak`: the long checks, run by hand before a release.

use std::time::Duration;

use anyhow::bail;

use crate::command::{Command, Outcome, UsageError, positive_number, unknown_argument};
use crate::fuzz::{self, Report, Request, SECONDS_PER_TARGET};
use crate::shell::{self, cargo};

pub(crate) const COMMAND: Command = Command {
    name: "soak",
    summary: "run the slow tests, simulate, break and fuzz for long",
    help: HELP,
    run,
};

const HELP: &str = "\
usage: cargo xtask soak [--seconds N] [--part NAME]

Runs all tests with SLOW_TESTS=1 and 20000 cases a property, then 100000 seeds of the simulation, then
the node's threads in 50000 schedules of each scenario, then the real server under load, killed and treated badly, then every fuzz target. Each part runs even if one
before it failed, since a soak is left alone overnight.

options:
  --seconds N  how long each fuzz target runs (default 600)
  --part NAME  run this part alone: tests, simulation, interleavings, rounds or fuzzing

examples:
  cargo xtask soak
  cargo xtask soak --seconds 3600
  cargo xtask soak --part rounds
";

/// A few minutes of simulation.
const SEEDS: &str = "0..100000";

/// Orders of the node's threads that are tried of each scenario: some minutes.
const SCHEDULES: &str = "50000";

/// One part of the soak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Tests,
    Simulation,
    Interleavings,
    Rounds,
    Fuzzing,
}

/// What the caller wants.
struct Wishes {
    seconds: u64,
    part: Option<Part>,
}

impl Part {
    const ALL: [Self; 5] = [Self::Tests, Self::Simulation, Self::Interleavings, Self::Rounds, Self::Fuzzing];

    fn name(self) -> &'static str {
        match self {
            Self::Tests => "tests",
            Self::Simulation => "simulation",
            Self::Interleavings => "interleavings",
            Self::Rounds => "rounds",
            Self::Fuzzing => "fuzzing",
        }
    }

    fn run(self, seconds: u64) -> anyhow::Result<bool> {
        println!("\n== {}", self.name());
        match self {
            Self::Tests => run_tests(),
            Self::Simulation => run_simulation(),
            Self::Interleavings => run_interleavings(),
            Self::Rounds => run_rounds(),
            Self::Fuzzing => run_fuzzing(seconds),
        }
    }
}

fn run(args: &[String]) -> anyhow::Result<Outcome> {
    let wishes = parse(args)?;
    let parts = Part::ALL.into_iter().filter(|part| wishes.part.is_none_or(|wanted| wanted == *part));
    let ended: Vec<_> = parts.map(|part| (part, shell::timed(|| part.run(wishes.seconds)))).collect();
    println!("\nsoak:");
    let mut all_passed = true;
    for (part, (result, elapsed)) in ended {
        all_passed &= conclude(part.name(), &result, elapsed);
    }
    Ok(Outcome::from_success(all_passed))
}

/// Prints how one part ended and says whether it ended well.
fn conclude(part: &str, result: &anyhow::Result<bool>, elapsed: Duration) -> bool {
    let word = match result {
        Ok(true) => "passed".to_owned(),
        Ok(false) => "failed".to_owned(),
        Err(error) => format!("could not run: {error:#}"),
    };
    println!("  {part:<13} {:>8.0} s  {word}", elapsed.as_secs_f64());
    matches!(result, Ok(true))
}

fn run_tests() -> anyhow::Result<bool> {
    let (runner, mut command) = shell::test_run();
    println!("test runner: {runner}");
    // One failure must not hide the others until the next night.
    shell::run(command.arg("--no-fail-fast").env("SLOW_TESTS", "1").env("PROPTEST_CASES", "20000"))
}

fn run_simulation() -> anyhow::Result<bool> {
    shell::run(&mut cargo(&["run", "--release", "--locked", "--quiet", "-p", "sim", "--", "--seeds", SEEDS]))
}

fn run_interleavings() -> anyhow::Result<bool> {
    let mut command = cargo(&["test", "--release", "--locked", "-p", "node", "--lib", "interleavings"]);
    shell::run(command.env("SCHEDULES", SCHEDULES))
}

/// Both programs come from one build, so that the one finds the other beside it.
fn run_rounds() -> anyhow::Result<bool> {
    if !shell::run(&mut cargo(&["build", "--release", "--locked", "-p", "convoke", "-p", "rounds"]))? {
        return Ok(false);
    }
    shell::run(&mut cargo(&[
        "run",
        "--release",
        "--locked",
        "--quiet",
        "-p",
        "rounds",
        "--",
        "--size",
        "long",
    ]))
}

fn run_fuzzing(seconds: u64) -> anyhow::Result<bool> {
    let reports = fuzz::run_targets(&Request { target: None, seconds })?;
    print!("\n{}", fuzz::table(&reports));
    Ok(reports.iter().all(Report::is_clean))
}

fn parse(args: &[String]) -> anyhow::Result<Wishes> {
    let mut wishes = Wishes { seconds: SECONDS_PER_TARGET, part: None };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--seconds" => wishes.seconds = positive_number("--seconds", args.next())?,
            "--part" => {
                let name = args.next().map_or("", String::as_str);
                let Some(part) = Part::ALL.into_iter().find(|part| part.name() == name) else {
                    let names = Part::ALL.map(Part::name).join(", ");
                    bail!(UsageError(format!("--part wants one of {names}")));
                };
                wishes.part = Some(part);
            }
            other => bail!(unknown_argument("soak", other)),
        }
    }
    Ok(wishes)
}
