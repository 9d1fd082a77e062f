//! Runs without planted faults keep every promise, and a seed always tells the same story.

use crate::fleet::{Order, run_all};
use crate::plan::plan;
use crate::run::run;
use crate::trace::Trace;

/// Steps of a run in tests.
pub(super) const STEPS: usize = 400;

/// Seeds that must be clean in the gate; many more are run by hand.
const SEEDS: u64 = 200;

/// Runs at the same time in tests.
pub(super) const JOBS: usize = 2;

#[test]
fn nothing_is_found_where_nothing_is_planted() {
    let order = Order { seeds: 0..SEEDS, steps: STEPS, jobs: JOBS, plant: None, stop: true };
    let summary = run_all(&order, |_| {});
    if let Some((seed, failure)) = summary.failures.first_key_value() {
        panic!("seed {seed}, step {}: {}", failure.step, failure.violation);
    }
    let stats = summary.stats;
    println!("{stats:?}");
    assert_eq!(stats.steps, SEEDS * STEPS as u64);
    assert!(stats.messages > 20 * SEEDS, "too little was said: {stats:?}");
    assert!(stats.deliveries > 12 * SEEDS, "too little was handed out: {stats:?}");
    assert!(stats.crashes > SEEDS, "too little went wrong: {stats:?}");
}

#[test]
fn the_same_seeds_give_the_same_trace() {
    let order = |jobs| Order { seeds: 1_000..1_020, steps: STEPS, jobs, plant: None, stop: true };
    let one = run_all(&order(1), |_| {});
    let other = run_all(&order(3), |_| {});
    assert_eq!(one.hash, other.hash);
    let different = Order { seeds: 1_001..1_021, ..order(1) };
    assert_ne!(one.hash, run_all(&different, |_| {}).hash);
}

#[test]
fn keeping_the_lines_changes_nothing() {
    let plan = plan(7, STEPS);
    let hashed = run(&plan, None, Trace::hashed());
    let kept = run(&plan, None, Trace::kept());
    assert_eq!(hashed.hash, kept.hash);
    assert!(hashed.lines.is_empty());
    assert!(kept.lines.len() > STEPS);
}
