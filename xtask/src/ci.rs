//! `cargo xtask ci`: the whole gate, step by step, up to the first failure.

use std::time::Duration;

use crate::command::{Command, Outcome, UsageError, unknown_argument};
use crate::shell::{self, cargo};
use crate::tidy;

pub(crate) const COMMAND: Command =
    Command { name: "ci", summary: "run the whole gate: what must pass before a merge", help: HELP, run };

const HELP: &str = "\
usage: cargo xtask ci [--step NAME | --list]

Runs every step of the gate in order and stops at the first that fails.

options:
  --step NAME  run this step alone
  --list       list the steps and what they run

examples:
  cargo xtask ci
  cargo xtask ci --list
  cargo xtask ci --step clippy
";

/// One step of the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Format,
    Tidy,
    Clippy,
    Tests,
    Doctests,
    Docs,
    Deny,
}

/// How one step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Failed,
    Skipped(&'static str),
}

/// A line of the summary.
pub(crate) struct Record {
    pub(crate) step: Step,
    pub(crate) verdict: Verdict,
    pub(crate) elapsed: Duration,
}

impl Step {
    /// Every step, in the order in which the gate runs them: the quick ones first.
    pub(crate) const ALL: [Self; 7] =
        [Self::Format, Self::Tidy, Self::Clippy, Self::Tests, Self::Doctests, Self::Docs, Self::Deny];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Format => "fmt",
            Self::Tidy => "tidy",
            Self::Clippy => "clippy",
            Self::Tests => "test",
            Self::Doctests => "doctest",
            Self::Docs => "doc",
            Self::Deny => "deny",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.name() == name)
    }

    fn summary(self) -> &'static str {
        match self {
            Self::Format => "the code is formatted",
            Self::Tidy => "the rules of the repository hold",
            Self::Clippy => "no warnings from the compiler or clippy",
            Self::Tests => "all tests, by nextest where it is installed",
            Self::Doctests => "the examples in the documentation run",
            Self::Docs => "the documentation builds without warnings",
            Self::Deny => "licences, bans and sources of dependencies, where cargo-deny is installed",
        }
    }

    fn run(self) -> anyhow::Result<Verdict> {
        let passed = match self {
            Self::Format => shell::run(&mut cargo(&["fmt", "--all", "--check"]))?,
            Self::Tidy => tidy::check_repository()? == Outcome::Passed,
            Self::Clippy => shell::run(&mut cargo(&CLIPPY))?,
            Self::Tests => {
                let (runner, mut command) = shell::test_run();
                println!("test runner: {runner}");
                shell::run(&mut command)?
            }
            Self::Doctests => {
                let mut command = cargo(&["test", "--doc", "--workspace", "--locked"]);
                shell::run(command.env("INSTA_UPDATE", "no").env("CI", "1"))?
            }
            Self::Docs => {
                let mut command = cargo(&["doc", "--workspace", "--no-deps", "--locked"]);
                shell::run(command.env("RUSTDOCFLAGS", "-D warnings"))?
            }
            Self::Deny if !shell::works(&mut cargo(&["deny", "--version"])) => {
                println!("skipped: cargo-deny is not installed");
                return Ok(Verdict::Skipped("cargo-deny is not installed"));
            }
            // The fourth check of cargo-deny, advisories, needs the network and so has no place in a gate.
            Self::Deny => shell::run(&mut cargo(&["deny", "check", "bans", "licenses", "sources"]))?,
        };
        Ok(if passed { Verdict::Passed } else { Verdict::Failed })
    }
}

const CLIPPY: [&str; 7] = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];

fn run(args: &[String]) -> anyhow::Result<Outcome> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        [] => run_steps(&Step::ALL),
        ["--list"] => {
            for step in Step::ALL {
                println!("{:<8} {}", step.name(), step.summary());
            }
            Ok(Outcome::Passed)
        }
        ["--step", name] => match Step::named(name) {
            Some(step) => run_steps(&[step]),
            None => Err(UsageError(format!("no step `{name}`\nhint: the steps are {}", names())).into()),
        },
        ["--step"] => Err(UsageError(format!("--step wants one of {}", names())).into()),
        ["--step", _, rest, ..] | ["--list", rest, ..] | [rest, ..] => {
            Err(unknown_argument("ci", rest).into())
        }
    }
}

fn run_steps(steps: &[Step]) -> anyhow::Result<Outcome> {
    let mut records = Vec::new();
    for &step in steps {
        println!("\n== {}: {}", step.name(), step.summary());
        let (result, elapsed) = shell::timed(|| step.run());
        // A step that cannot even start has failed; the others' results are still worth showing.
        let verdict = result.unwrap_or_else(|error| {
            eprintln!("error: {error:#}");
            Verdict::Failed
        });
        println!("== {}: {} after {:.1} s", step.name(), word(verdict), elapsed.as_secs_f64());
        records.push(Record { step, verdict, elapsed });
        if verdict == Verdict::Failed {
            break;
        }
    }
    print!("\n{}", summary_table(steps, &records));
    let Some(failed) = records.iter().find(|record| record.verdict == Verdict::Failed) else {
        println!("\nci: passed");
        return Ok(Outcome::Passed);
    };
    let name = failed.step.name();
    eprintln!("\nci: step `{name}` failed\nhint: run it alone with `cargo xtask ci --step {name}`");
    Ok(Outcome::Failed)
}

/// The table at the end: every step, those that were not reached too.
pub(crate) fn summary_table(steps: &[Step], records: &[Record]) -> String {
    let mut table = format!("{:<8} {:<8} {:>8}\n", "step", "result", "seconds");
    for &step in steps {
        let Some(record) = records.iter().find(|record| record.step == step) else {
            table.push_str(&format!("{:<8} not run\n", step.name()));
            continue;
        };
        let seconds = record.elapsed.as_secs_f64();
        table.push_str(&format!("{:<8} {:<8} {seconds:>8.1}", step.name(), word(record.verdict)));
        if let Verdict::Skipped(reason) = record.verdict {
            table.push_str(&format!("  ({reason})"));
        }
        table.push('\n');
    }
    table
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "passed",
        Verdict::Failed => "failed",
        Verdict::Skipped(_) => "skipped",
    }
}

fn names() -> String {
    Step::ALL.map(Step::name).join(", ")
}
