//! `cargo xtask soak`: the long checks, run by hand before a release.

use std::time::Duration;

use anyhow::bail;

use crate::command::{Command, Outcome, positive_number, unknown_argument};
use crate::fuzz::{self, Report, Request, SECONDS_PER_TARGET};
use crate::shell::{self, cargo};

pub(crate) const COMMAND: Command =
    Command { name: "soak", summary: "run the slow tests, simulate and fuzz for long", help: HELP, run };

const HELP: &str = "\
usage: cargo xtask soak [--seconds N]

Runs all tests with SLOW_TESTS=1 and 20000 cases a property, then 100000 seeds of the simulation, then
every fuzz target. Each part runs even if one before it failed, since a soak is left alone overnight.

options:
  --seconds N  how long each fuzz target runs (default 600)

examples:
  cargo xtask soak
  cargo xtask soak --seconds 3600
";

/// A few minutes of simulation.
const SEEDS: &str = "0..100000";

fn run(args: &[String]) -> anyhow::Result<Outcome> {
    let seconds = parse(args)?;
    let (tests, tests_elapsed) = shell::timed(run_tests);
    let (simulation, simulation_elapsed) = shell::timed(run_simulation);
    let (reports, fuzzing_elapsed) = shell::timed(|| fuzz::run_targets(&Request { target: None, seconds }));
    let fuzzing = reports.map(|reports| {
        print!("\n{}", fuzz::table(&reports));
        reports.iter().all(Report::is_clean)
    });

    println!("\nsoak:");
    let tests_passed = conclude("slow tests", tests, tests_elapsed);
    let simulation_passed = conclude("simulation", simulation, simulation_elapsed);
    let fuzzing_passed = conclude("fuzzing", fuzzing, fuzzing_elapsed);
    Ok(Outcome::from_success(tests_passed && simulation_passed && fuzzing_passed))
}

/// Prints how one part ended and says whether it ended well.
fn conclude(part: &str, result: anyhow::Result<bool>, elapsed: Duration) -> bool {
    let word = match &result {
        Ok(true) => "passed".to_owned(),
        Ok(false) => "failed".to_owned(),
        Err(error) => format!("could not run: {error:#}"),
    };
    println!("  {part:<10} {:>8.0} s  {word}", elapsed.as_secs_f64());
    matches!(result, Ok(true))
}

fn run_simulation() -> anyhow::Result<bool> {
    shell::run(&mut cargo(&["run", "--release", "--locked", "--quiet", "-p", "sim", "--", "--seeds", SEEDS]))
}

fn parse(args: &[String]) -> anyhow::Result<u64> {
    let mut seconds = SECONDS_PER_TARGET;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--seconds" => seconds = positive_number("--seconds", args.next())?,
            other => bail!(unknown_argument("soak", other)),
        }
    }
    Ok(seconds)
}

fn run_tests() -> anyhow::Result<bool> {
    let (runner, mut command) = shell::test_run();
    println!("== slow tests\ntest runner: {runner}");
    // One failure must not hide the others until the next night.
    shell::run(command.arg("--no-fail-fast").env("SLOW_TESTS", "1").env("PROPTEST_CASES", "20000"))
}
