//! The tests of the log: on the faulty disk in memory, and on the real one.

mod basics;
mod damage;
mod disk;
mod faults;
mod model;
mod power;
mod real;
mod stale;
mod threads;
mod window;
