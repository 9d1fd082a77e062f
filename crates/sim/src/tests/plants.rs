//! Every planted fault is found, or the simulation would prove nothing.

use crate::args::BLOCK_SEEDS;
use crate::blocks::{Blocks, Odds, measure};
use crate::fleet::{Order, run_all};
use crate::plant::Plant;
use crate::tests::runs::{JOBS, STEPS};
use node::driver::Plant as DriverPlant;

#[test]
fn every_planted_fault_is_found() {
    let mut missed = Vec::new();
    for plant in Plant::all() {
        let order = Order { seeds: 0..BLOCK_SEEDS, steps: STEPS, jobs: JOBS, plant: Some(plant), stop: true };
        let summary = run_all(&order, |_| {});
        match summary.failures.first_key_value() {
            Some((seed, failure)) => {
                println!("{}: seed {seed}, {:?}", plant.name(), failure.violation.promise)
            }
            None => missed.push(plant.name()),
        }
    }
    assert!(missed.is_empty(), "not found within {BLOCK_SEEDS} seeds: {missed:?}");
}

#[test]
fn there_are_enough_of_them_and_each_has_a_name() {
    let mut names: Vec<&str> = Plant::all().map(Plant::name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "two plants have one name");
    assert!(count >= 40, "there are only {count}");
    assert!(Plant::all().all(|plant| !plant.summary().is_empty()));
    assert_eq!(
        Plant::of_driver(Some(Plant::Driver(DriverPlant::AckBeforeSync))),
        Some(DriverPlant::AckBeforeSync)
    );
}

/// Ten runs, in two blocks of five.
const TWO_BLOCKS: Blocks =
    Blocks { blocks: 2, seeds: 5, first: 0, steps: STEPS, jobs: JOBS, missed_percent_max: 1.0 };

#[test]
fn blocks_that_find_a_plant_are_counted() {
    let plant = Plant::Driver(DriverPlant::SnapshotForgets);
    let odds = Odds::of(plant, &TWO_BLOCKS);
    assert_eq!((odds.found(), odds.quantile(50), odds.quantile(99)), (2, Some(1), Some(1)));
    let mut text = Vec::new();
    assert!(measure(&[plant], &TWO_BLOCKS, &mut text).unwrap());
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("snapshot-forgets                     2         1         1\n"), "{text}");
    assert!(text.ends_with("missed in more than 1 % of the blocks: none\n"), "{text}");
}

#[test]
fn a_plant_that_is_missed_fails_the_measurement() {
    // Nothing goes wrong in one step.
    let blocks = Blocks { steps: 1, ..TWO_BLOCKS };
    let plant = Plant::Driver(DriverPlant::SnapshotForgets);
    let mut text = Vec::new();
    assert!(!measure(&[plant], &blocks, &mut text).unwrap());
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("0    missed    missed  too seldom\n"), "{text}");
    assert!(text.ends_with("missed in more than 1 % of the blocks: snapshot-forgets\n"), "{text}");
}
