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

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::cli::Cli;

/// What one thread reads, another lets go: the system's own allocator is slow at that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    // Called like a script that it stands in for, it does what that does.
    if let Some(script) = commands::channel::script(words.first()) {
        words.splice(..1, ["convoke", "channel", script].map(OsString::from));
    }
    let cli = Cli::parse_from(words);
    match commands::run(cli.command) {
        Ok(answer) => answer.exit_code(),
        Err(failure) => failure.report(),
    }
}
