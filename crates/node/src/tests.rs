//! Tests of the node, each with a folder of its own on a real disk.

mod bus;
mod leading;
mod restarts;
mod trims;
mod waiting;
