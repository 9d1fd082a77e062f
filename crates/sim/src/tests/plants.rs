//! Every planted fault is found, or the simulation would prove nothing.

use crate::fleet::{Order, run_all};
use crate::plant::Plant;
use crate::tests::runs::{JOBS, STEPS};
use node::driver::Plant as DriverPlant;

/// Within so many seeds every planted fault is found.
const SEEDS_MAX: u64 = 300;

#[test]
fn every_planted_fault_is_found() {
    let mut missed = Vec::new();
    for plant in Plant::all() {
        let order = Order { seeds: 0..SEEDS_MAX, steps: STEPS, jobs: JOBS, plant: Some(plant), stop: true };
        let summary = run_all(&order, |_| {});
        match summary.failures.first_key_value() {
            Some((seed, failure)) => {
                println!("{}: seed {seed}, {:?}", plant.name(), failure.violation.promise)
            }
            None => missed.push(plant.name()),
        }
    }
    assert!(missed.is_empty(), "not found within {SEEDS_MAX} seeds: {missed:?}");
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
