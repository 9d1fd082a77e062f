//! What a node has done, for those who watch it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper ends of the steps in which durations are counted, in microseconds; each is about the double of the one
/// before it.
pub const STEPS_US: [u64; 16] = [
    50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 102_400, 204_800, 409_600,
    1_000_000, 5_000_000,
];

/// What a node has done since it started.
#[derive(Debug, Default)]
pub struct Counters {
    /// Batches that were appended.
    pub batches: AtomicU64,
    /// Events in them.
    pub events: AtomicU64,
    /// Their bytes.
    pub bytes: AtomicU64,
    /// Calls that were carried out.
    pub calls: AtomicU64,
    /// How long syncs took.
    pub sync: Durations,
}

/// How long something took, counted in steps.
#[derive(Debug, Default)]
pub struct Durations {
    steps: [AtomicU64; STEPS_US.len() + 1],
    sum_us: AtomicU64,
}

impl Durations {
    /// Counts one.
    pub fn add(&self, took: Duration) {
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let step = STEPS_US.partition_point(|end| *end < us);
        self.steps[step].fetch_add(1, Ordering::Relaxed);
        self.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    /// Returns how many fell into each step, the last being everything longer, and their sum.
    pub fn read(&self) -> ([u64; STEPS_US.len() + 1], Duration) {
        let steps = std::array::from_fn(|step| self.steps[step].load(Ordering::Relaxed));
        (steps, Duration::from_micros(self.sum_us.load(Ordering::Relaxed)))
    }
}
