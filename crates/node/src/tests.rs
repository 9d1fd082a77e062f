//! Tests of the node, each with a folder of its own on a real disk.

mod bus;
mod endings;
mod look;
mod older_logs;
mod pipeline;
mod restarts;
mod trims;
mod waiting;
