//! `rounds`: kills the real bus under load, does other things to it, and says whether it kept its promises.

use std::process::ExitCode;

use clap::Parser;

mod args;

use args::Args;
fn main() -> ExitCode {
    let args = Args::parse();
    match args::run(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
