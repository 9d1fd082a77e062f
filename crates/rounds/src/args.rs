//! The command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use rounds::faults::Size;

const EXAMPLES: &str = "\
Examples:
  rounds --binary target/release/convoke kills --rounds 50     kills it fifty times under load
  rounds --binary target/release/convoke                       every part, short
  rounds --binary target/release/convoke --size long           every part, long
  rounds --binary target/release/convoke full herd --seed 7    two parts
  rounds --list                                                what there is

Exit status: 0 all promises held, 1 one was broken, 2 wrong use.";

/// Does things to the real bus and checks what came of it.
///
/// Everything that is left to chance follows from the seed, which is printed.
#[derive(Clone, Debug, Parser)]
#[command(name = "rounds", after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Parts to run; all of them by default
    #[arg(value_name = "PART")]
    pub(crate) parts: Vec<String>,
    /// The program; beside this one by default
    #[arg(long, env = "CONVOKE_BINARY", value_name = "FILE")]
    pub(crate) binary: Option<PathBuf>,
    /// How often the server is killed in the parts `kills` and `doors`, instead of what the size says
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<u64>,
    /// From which everything follows; by default another one every time
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// How much is done
    #[arg(long, default_value = "short")]
    pub(crate) size: SizeWord,
    /// Lists the parts
    #[arg(long)]
    pub(crate) list: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SizeWord {
    /// Seconds
    Short,
    /// Minutes
    Long,
}

impl From<SizeWord> for Size {
    fn from(word: SizeWord) -> Self {
        match word {
            SizeWord::Short => Size::Short,
            SizeWord::Long => Size::Long,
        }
    }
}
