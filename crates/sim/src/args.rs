//! The command line.

use std::ops::Range;

use clap::{Parser, Subcommand};

use crate::plant::Plant;

/// Steps of a run, if nobody says otherwise.
pub(crate) const STEPS: usize = 400;

/// Seeds within which the gate expects every planted fault to be found.
pub(crate) const BLOCK_SEEDS: u64 = 200;

const EXAMPLES: &str = "\
Examples:
  sim --seeds 0..1000                 a thousand worlds, one after the other
  sim --seeds 4711..4712 --trace      one world, with everything that happened in it
  sim --seeds 0..200 --plant ack-before-sync
                                      shows that a planted fault is found
  sim plants                          lists the planted faults
  sim plants --blocks 100             shows how surely each is found

Exit status: 0 all promises held, 1 one was broken or a planted fault is found too seldom, 2 wrong use.";

/// Simulates the broker on a faulty disk and checks every promise after every step.
///
/// One seed decides everything, so a failure is found again by its seed. The last line of a good run holds a hash of
/// everything that was seen; the same seeds give the same hash.
#[derive(Clone, Debug, Parser)]
#[command(name = "sim", after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Seeds to run: FIRST..END, the end not included
    #[arg(long, default_value = "0..100", value_parser = parse_seeds, value_name = "FIRST..END")]
    pub(crate) seeds: Range<u64>,
    /// Steps of each run
    #[arg(long, default_value_t = STEPS, value_name = "N")]
    pub(crate) steps: usize,
    /// Runs at the same time; all processors by default
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Switches a planted fault on
    #[arg(long, value_parser = parse_plant, value_name = "NAME")]
    pub(crate) plant: Option<Plant>,
    /// Prints what happens in the first seed, step by step
    #[arg(long)]
    pub(crate) trace: bool,
    /// Keeps going after a failure and counts the promises that were broken
    #[arg(long)]
    pub(crate) keep_going: bool,
}

/// What else can be asked for.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Command {
    /// Lists the planted faults, or measures how surely each is found
    Plants(PlantArgs),
}

/// Measures, for every planted fault, how many blocks of seeds find it.
///
/// A gate runs one block. A plant that is missed in one block of a hundred fails the gate that often after any change
/// that moves chance elsewhere.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PlantArgs {
    /// Blocks for each plant; without them the plants are listed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) blocks: Option<u64>,
    /// Seeds of each block
    #[arg(long, default_value_t = BLOCK_SEEDS, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) seeds: u64,
    /// First seed of the first block; each block begins where the one before ends
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    pub(crate) first: u64,
    /// Steps of each run
    #[arg(long, default_value_t = STEPS, value_name = "N")]
    pub(crate) steps: usize,
    /// Runs at the same time; all processors by default
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Measures one plant instead of all
    #[arg(long, value_parser = parse_plant, value_name = "NAME")]
    pub(crate) plant: Option<Plant>,
    /// Percent of its blocks that may miss a plant; with more the exit status is 1
    #[arg(long, default_value_t = 1.0, value_name = "PERCENT")]
    pub(crate) missed_max: f64,
}

fn parse_seeds(text: &str) -> Result<Range<u64>, String> {
    let (first, end) = text.split_once("..").ok_or("seeds are given as FIRST..END, such as 0..1000")?;
    let number = |text: &str| text.trim().parse::<u64>().map_err(|error| format!("`{text}`: {error}"));
    let range = number(first)?..number(end)?;
    if range.is_empty() { Err(format!("there is no seed in {text}")) } else { Ok(range) }
}

fn parse_plant(name: &str) -> Result<Plant, String> {
    Plant::all()
        .find(|plant| plant.name() == name)
        .ok_or_else(|| format!("no plant is called `{name}`; see `sim plants`"))
}
