//! The binary `convoke`: command line, settings, start-up. Thin; what it does lives in the other crates.

mod answers;
mod attachments;
mod cli;
mod clock;
mod commands;
mod data;
mod documents;
mod failure;
mod inputs;
mod lexicons;
mod logs;
mod output;
mod receipts;
mod refusal;
mod remote;
mod screen;
mod settings;
mod show;
mod source;
mod table;

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
