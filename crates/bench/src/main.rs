//! `bench`: how fast we are beside others, on the same data, in one run.
//!
//! Each area is one module with an [`Area`]; this file only picks it. It reports: a ratio below its aim is no
//! failure, but two implementations that disagree about what is right are.
//! Exit codes: 0 measured, 1 a disagreement or another failure, 2 wrong use or something to install.

#![allow(clippy::print_stdout, reason = "a command-line tool answers on stdout")]

mod area;
mod args;
mod channels;
mod child;
mod dialects;
mod engine;
mod fanout;
mod figures;
mod findings;
mod lexicon;
mod log;
mod machine;
mod parts;
mod peers;
mod progress;
mod raw;
mod ring;
mod scratch;
mod table;
#[cfg(test)]
mod tests;
mod valgrind;

use std::process::ExitCode;

use area::{Area, Options, Outcome};
use args::{Command, Mode, UsageError};
use setup::SetupError;

/// Every area, in the order in which they run.
static AREAS: [Area; 7] =
    [lexicon::AREA, dialects::AREA, fanout::AREA, log::AREA, engine::AREA, channels::AREA, peers::AREA];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args::parse(&args).map_err(anyhow::Error::from).and_then(run) {
        Ok(Outcome::Agreed) => ExitCode::SUCCESS,
        Ok(Outcome::Disagreed) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            if let Some(setup) = error.downcast_ref::<SetupError>() {
                eprintln!("hint: {}", setup.hint);
            }
            let is_callers = error.is::<UsageError>() || error.is::<SetupError>();
            ExitCode::from(if is_callers { 2 } else { 1 })
        }
    }
}

fn run(command: Command) -> anyhow::Result<Outcome> {
    match command {
        Command::Help => {
            print!("{}", args::help());
            Ok(Outcome::Agreed)
        }
        Command::List { form } => {
            for area in &AREAS {
                println!("{}", area.line(form));
            }
            Ok(Outcome::Agreed)
        }
        Command::Run { areas, mode, options } => run_areas(&areas, mode, &options),
        Command::Work { area, what, passes } => {
            (area.work)(&what, passes)?;
            Ok(Outcome::Agreed)
        }
    }
}

fn run_areas(areas: &[&Area], mode: Mode, options: &Options) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::Agreed;
    for area in areas {
        let result = match mode {
            Mode::Measure => (area.measure)(options)?,
            Mode::Smoke => (area.smoke)(options)?,
            Mode::Callgrind => (area.callgrind)(options)?,
        };
        outcome = outcome.and(result);
    }
    Ok(outcome)
}
