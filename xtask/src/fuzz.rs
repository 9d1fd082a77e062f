//! `cargo xtask fuzz`: runs the fuzz targets for a while and says what they did.

mod report;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use anyhow::{Context, bail, ensure};

use crate::command::{Command, Outcome, positive_number, unknown_argument};
use crate::shell::{self, cargo};

pub(crate) use report::{Report, table};

pub(crate) const COMMAND: Command =
    Command { name: "fuzz", summary: "run the fuzz targets for a while", help: HELP, run };

/// How long one target runs unless the caller says otherwise.
pub(crate) const SECONDS_PER_TARGET: u64 = 600;

const HELP: &str = "\
usage: cargo xtask fuzz [TARGET] [--seconds N]

Runs one fuzz target, or all of them one after the other, and prints a table of what they did.
Fails when a target crashes, runs out of memory or hangs; the input that did it is kept in fuzz/artifacts.
Needs cargo-fuzz and a nightly toolchain, and installs neither.

options:
  --seconds N  how long each target runs (default 600)

examples:
  cargo xtask fuzz
  cargo xtask fuzz json --seconds 60
";

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) target: Option<String>,
    pub(crate) seconds: u64,
}

impl Request {
    pub(crate) fn parse(args: &[String]) -> anyhow::Result<Self> {
        let mut request = Self { target: None, seconds: SECONDS_PER_TARGET };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--seconds" => request.seconds = positive_number("--seconds", args.next())?,
                name if !name.starts_with('-') && request.target.is_none() => {
                    request.target = Some(name.to_owned());
                }
                other => bail!(unknown_argument("fuzz", other)),
            }
        }
        Ok(request)
    }
}

fn run(args: &[String]) -> anyhow::Result<Outcome> {
    let request = Request::parse(args)?;
    let reports = run_targets(&request)?;
    print!("\n{}", table(&reports));
    Ok(Outcome::from_success(reports.iter().all(Report::is_clean)))
}

/// Runs the wanted targets one after the other; a crash of one does not stop the next.
pub(crate) fn run_targets(request: &Request) -> anyhow::Result<Vec<Report>> {
    check_tools()?;
    let listed = shell::output_of(&mut cargo(&["+nightly", "fuzz", "list"]))?;
    let mut targets: Vec<&str> = listed.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if let Some(wanted) = &request.target {
        let known = targets.join(", ");
        targets.retain(|target| target == wanted);
        ensure!(!targets.is_empty(), "there is no fuzz target `{wanted}`\nhint: the targets are {known}");
    }
    ensure!(!targets.is_empty(), "fuzz/ has no targets");
    targets.into_iter().map(|target| run_target(target, request.seconds)).collect()
}

fn check_tools() -> anyhow::Result<()> {
    ensure!(
        shell::root().join("fuzz/Cargo.toml").is_file(),
        "there is nothing to fuzz: the folder fuzz/ does not exist"
    );
    ensure!(
        shell::works(&mut cargo(&["fuzz", "--version"])),
        "cargo-fuzz is not installed\nhint: cargo install cargo-fuzz --locked"
    );
    let toolchains = shell::output_of(std::process::Command::new("rustup").args(["toolchain", "list"]))
        .context("looking for a nightly toolchain\nhint: fuzzing needs rustup")?;
    ensure!(
        toolchains.lines().any(|line| line.starts_with("nightly")),
        "there is no nightly toolchain, which fuzzing needs\nhint: rustup toolchain install nightly"
    );
    Ok(())
}

/// libFuzzer writes to stderr: every line is passed on as it comes and read on the way.
fn run_target(target: &str, seconds: u64) -> anyhow::Result<Report> {
    // What the fuzzer finds goes to the first folder; the seeds that are committed are only read.
    let (corpus, seeds) = (format!("fuzz/corpus/{target}"), format!("fuzz/seeds/{target}"));
    std::fs::create_dir_all(shell::root().join(&corpus)).with_context(|| format!("making {corpus}"))?;
    let mut command = cargo(&["+nightly", "fuzz", "run", target, &corpus, &seeds, "--"]);
    command.arg(format!("-max_total_time={seconds}"));
    command.args(["-print_final_stats=1", "-max_len=65536", "-rss_limit_mb=2048"]);
    println!("\n== fuzz {target}");
    eprintln!("$ {}", shell::show(&command));
    let mut child = command.stderr(Stdio::piped()).spawn().context("starting cargo fuzz")?;
    let stderr = child.stderr.take().expect("stderr was asked for as a pipe");
    let mut report = Report::new(target);
    for line in BufReader::new(stderr).split(b'\n') {
        let line = line.with_context(|| format!("reading the output of the fuzz target {target}"))?;
        // An input that libFuzzer prints need not be UTF-8.
        let line = String::from_utf8_lossy(&line);
        eprintln!("{line}");
        report.read_line(&line);
    }
    let status = child.wait().with_context(|| format!("waiting for the fuzz target {target}"))?;
    report.succeeded = status.success();
    Ok(report)
}
