//! The binary `convoke`: command line, settings, start-up. Thin; what it does lives in the other crates.

mod answers;
mod cli;
mod commands;
mod data;
mod documents;
mod failure;
mod inputs;
mod lexicons;
mod output;
mod settings;

#[cfg(test)]
mod tests;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::Cli;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match commands::run(cli.command) {
        Ok(answer) => answer.exit_code(),
        Err(failure) => failure.report(),
    }
}
