//! How surely planted faults are found: blocks of seeds, each as large as the one that a gate runs.

use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::thread;

use crate::plan::plan;
use crate::plant::Plant;
use crate::run::run;
use crate::trace::Trace;

/// The columns: how far the names of plants reach, and how wide a figure is.
const NAME_WIDTH: usize = 28;
const FIGURE_WIDTH: usize = 10;

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks {
    pub(crate) blocks: u64,
    /// Seeds of each block.
    pub(crate) seeds: u64,
    /// The first seed of the first block; each block begins where the one before ends.
    pub(crate) first: u64,
    pub(crate) steps: usize,
    pub(crate) jobs: usize,
    /// Percent of its blocks that may miss a plant.
    pub(crate) missed_percent_max: f64,
}

/// How surely one plant is found.
#[derive(Clone, Debug)]
pub(crate) struct Odds {
    plant: Plant,
    /// The seeds that each block needed until the plant was found; `None` where it was not. Ascending, misses last.
    needed: Vec<Option<u64>>,
}

/// Measures the plants one after the other, prints a line for each, and says whether all are found surely enough.
pub(crate) fn measure(plants: &[Plant], blocks: &Blocks, out: &mut impl Write) -> io::Result<bool> {
    let Blocks { blocks: count, seeds, steps, missed_percent_max, .. } = *blocks;
    writeln!(
        out,
        "{count} blocks of {seeds} seeds, {steps} steps each; seeds needed: median and 99 % of the blocks"
    )?;
    writeln!(out, "{}", row("plant", "found", "median", "99 %", ""))?;
    let mut missed = Vec::new();
    for plant in plants {
        let odds = Odds::of(*plant, blocks);
        let is_missed = odds.missed_percent() > missed_percent_max;
        writeln!(out, "{}", odds.line(is_missed))?;
        if is_missed {
            missed.push(plant.name());
        }
    }
    let verdict = if missed.is_empty() { "none".to_owned() } else { missed.join(", ") };
    writeln!(out, "missed in more than {missed_percent_max} % of the blocks: {verdict}")?;
    Ok(missed.is_empty())
}

impl Odds {
    pub(crate) fn of(plant: Plant, blocks: &Blocks) -> Self {
        let (next, needed) = (Mutex::new(0), Mutex::new(Vec::new()));
        let work = || {
            while let Some(block) = take(&next, blocks.blocks) {
                let first = blocks.first + block * blocks.seeds;
                let seeds = seeds_needed(plant, first, blocks);
                needed.lock().unwrap_or_else(PoisonError::into_inner).push(seeds);
            }
        };
        thread::scope(|scope| {
            for _ in 0..blocks.jobs.max(1) {
                scope.spawn(work);
            }
        });
        let mut needed = needed.into_inner().unwrap_or_else(PoisonError::into_inner);
        needed.sort_unstable_by_key(|seeds| seeds.unwrap_or(u64::MAX));
        Odds { plant, needed }
    }

    pub(crate) fn found(&self) -> usize {
        self.needed.iter().flatten().count()
    }

    fn missed_percent(&self) -> f64 {
        let missed = self.needed.len() - self.found();
        100.0 * missed as f64 / self.needed.len().max(1) as f64
    }

    /// Returns the seeds with which so many percent of the blocks find it; `None` if they do not.
    pub(crate) fn quantile(&self, percent: usize) -> Option<u64> {
        let place = (self.needed.len() * percent).div_ceil(100).saturating_sub(1);
        self.needed.get(place).copied().flatten()
    }

    fn line(&self, is_missed: bool) -> String {
        let figure = |seeds: Option<u64>| seeds.map_or("missed".to_owned(), |seeds| seeds.to_string());
        let (median, most) = (figure(self.quantile(50)), figure(self.quantile(99)));
        let remark = if is_missed { "  too seldom" } else { "" };
        row(self.plant.name(), &self.found().to_string(), &median, &most, remark)
    }
}

/// Takes the next of so many blocks.
fn take(next: &Mutex<u64>, count: u64) -> Option<u64> {
    let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
    let block = *next;
    *next += 1;
    (block < count).then_some(block)
}

/// Runs a block until the plant is found.
fn seeds_needed(plant: Plant, first: u64, blocks: &Blocks) -> Option<u64> {
    let mut seeds = first..first + blocks.seeds;
    let is_found =
        |seed: &u64| run(&plan(*seed, blocks.steps), Some(plant), Trace::hashed()).failure.is_some();
    seeds.find(is_found).map(|seed| seed - first + 1)
}

fn row(name: &str, found: &str, median: &str, most: &str, remark: &str) -> String {
    format!("{name:<NAME_WIDTH$}{found:>FIGURE_WIDTH$}{median:>FIGURE_WIDTH$}{most:>FIGURE_WIDTH$}{remark}")
}
