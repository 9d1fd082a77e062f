//! Numbers that stand in for the names of tasks, where tasks have numbers.

use crate::Sha256;

/// The numbers start here, far above those that a ledger gives out, and stay exact in a double.
const NUMBER_MIN: u64 = 100_000_000_000_000;
const NUMBERS: u64 = 900_000_000_000_000;

/// Returns the number that stands in for the name of a task, the same every time.
pub fn task_number(task: &str) -> u64 {
    let digest = Sha256::of(task.as_bytes()).to_bytes();
    let head = digest.iter().take(8).fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
    NUMBER_MIN + head % NUMBERS
}
