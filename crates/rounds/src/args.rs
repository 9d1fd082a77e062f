//! The command line.

use std::path::PathBuf;

use clap::Parser;
use rounds::{Plan, run as run_plan};

/// Kills the real bus under load.
#[derive(Clone, Debug, Parser)]
#[command(name = "rounds")]
pub(crate) struct Args {
    /// The program
    #[arg(long, env = "CONVOKE_BINARY")]
    pub(crate) binary: PathBuf,
    /// How often the server is killed
    #[arg(long, default_value_t = 5)]
    pub(crate) rounds: u64,
    /// From which everything follows
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<bool> {
    let summary = run_plan(&Plan { binary: args.binary.clone(), seed: args.seed, rounds: args.rounds, letters_max: 300 })?;
    for violation in summary.violations.iter().take(20) {
        eprintln!("{violation}");
    }
    eprintln!("{summary}");
    Ok(summary.violations.is_empty())
}
