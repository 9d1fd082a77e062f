//! Numbers that stand in for the names of tasks, where tasks have numbers.

use std::ops::Range;

use crate::Sha256;

/// The numbers that stand in: far above those that a ledger gives out, and exact in a double.
pub const TASK_NUMBERS: Range<u64> = 100_000_000_000_000..1_000_000_000_000_000;

/// Returns the number that stands in for the name of a task, the same every time.
pub fn task_number(task: &str) -> u64 {
    let digest = Sha256::of(task.as_bytes()).to_bytes();
    let head = digest.iter().take(8).fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
    TASK_NUMBERS.start + head % (TASK_NUMBERS.end - TASK_NUMBERS.start)
}
