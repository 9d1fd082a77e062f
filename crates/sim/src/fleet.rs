//! Many seeds, on several threads, with one outcome that does not depend on how many.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::thread;

use crate::plan::plan;
use crate::plant::Plant;
use crate::run::{Failure, Outcome, Stats, run};
use crate::trace::{Trace, combine};

/// After how many seeds a line tells how far it is.
const PROGRESS: u64 = 250;

/// What is run.
pub(crate) struct Order {
    pub(crate) seeds: Range<u64>,
    pub(crate) steps: usize,
    pub(crate) jobs: usize,
    pub(crate) plant: Option<Plant>,
    /// Whether the first failure ends it.
    pub(crate) stop: bool,
}

/// What came of all runs together.
pub(crate) struct Summary {
    pub(crate) seeds: u64,
    pub(crate) stats: Stats,
    pub(crate) hash: u64,
    /// The failures by their seeds.
    pub(crate) failures: BTreeMap<u64, Failure>,
}

/// Runs all seeds, or until the first failure.
pub(crate) fn run_all(order: &Order, progress: impl Fn(u64) + Sync) -> Summary {
    let shared = Mutex::new(Shared { next: order.seeds.start, ..Shared::default() });
    thread::scope(|scope| {
        for _ in 0..order.jobs.max(1) {
            scope.spawn(|| work(order, &shared, &progress));
        }
    });
    let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut stats = Stats::default();
    for outcome in shared.outcomes.values() {
        stats.add(&outcome.stats);
    }
    Summary {
        seeds: shared.outcomes.len() as u64,
        stats,
        hash: combine(shared.outcomes.values().map(|outcome| outcome.hash)),
        failures: shared
            .outcomes
            .into_iter()
            .filter_map(|(seed, outcome)| Some((seed, outcome.failure?)))
            .collect(),
    }
}

#[derive(Default)]
struct Shared {
    next: u64,
    stopped: bool,
    outcomes: BTreeMap<u64, Outcome>,
}

fn work(order: &Order, shared: &Mutex<Shared>, progress: &(impl Fn(u64) + Sync)) {
    loop {
        let seed = {
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            if shared.stopped || shared.next >= order.seeds.end {
                return;
            }
            shared.next += 1;
            shared.next - 1
        };
        let outcome = run(&plan(seed, order.steps), order.plant, Trace::hashed());
        let done = {
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            shared.stopped |= order.stop && outcome.failure.is_some();
            shared.outcomes.insert(seed, outcome);
            shared.outcomes.len() as u64
        };
        if done.is_multiple_of(PROGRESS) {
            progress(done);
        }
    }
}
