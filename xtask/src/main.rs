//! `cargo xtask COMMAND`: the chores of this repository, in one place.
//!
//! Each command is one file, and this one only picks it.
//! Nothing here ships, and nothing here installs or commits anything.
//! Exit codes: 0 all is well, 1 the command found something wrong, 2 it was called wrongly.

#![allow(clippy::print_stdout, reason = "a command-line tool answers on stdout")]

mod bench;
mod ci;
mod command;
mod fuzz;
mod shell;
mod soak;
#[cfg(test)]
mod tests;
mod tidy;

use std::process::ExitCode;

use command::{Command, Outcome, UsageError};

const COMMANDS: [Command; 5] = [tidy::COMMAND, ci::COMMAND, fuzz::COMMAND, soak::COMMAND, bench::COMMAND];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(Outcome::Passed) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(if error.is::<UsageError>() { 2 } else { 1 })
        }
    }
}

fn dispatch(args: &[String]) -> anyhow::Result<Outcome> {
    let Some((name, rest)) = args.split_first() else {
        return Err(UsageError(format!("no command given\n\n{}", overview())).into());
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        print!("{}", overview());
        return Ok(Outcome::Passed);
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return Err(UsageError(format!("unknown command `{name}`\n\n{}", overview())).into());
    };
    if command::asks_for_help(rest) {
        print!("{}", command.help);
        return Ok(Outcome::Passed);
    }
    (command.run)(rest)
}

fn overview() -> String {
    let mut text = String::from("usage: cargo xtask COMMAND [OPTIONS]\n\ncommands:\n");
    for command in &COMMANDS {
        text.push_str(&format!("  {:<6} {}\n", command.name, command.summary));
    }
    text.push_str("\nexamples:\n  cargo xtask tidy\n  cargo xtask ci\n  cargo xtask fuzz --help\n");
    text
}
