//! The state as bytes, and back.
//!
//! What follows from the rest (what may leave, lanes, timers, counts) is not written but made again. The bytes are
//! in one order only, so two states are the same when their bytes are.

mod read;
mod write;

/// The version of the bytes.
const VERSION: u64 = 3;
/// The version of bytes without work, which are read as having none.
const WITHOUT_WORK: u64 = 2;
