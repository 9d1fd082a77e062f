//! The real bus under load, killed and started again, and the one checker of what came of it.
//!
//! Clients send, take, acknowledge, refuse and forget over real sockets while faults happen to a real process. What
//! they did and saw is a [`Record`](history::Record); the checker reads it and says which promises were broken.
//! Everything that is tried comes from a seed, which every run prints.
//!
//! It must not look into the server: it knows the documented calls and nothing else.

pub mod atproto;
pub mod checker;
pub mod clock;
pub mod doors;
pub mod faults;
mod folders;
pub mod history;
pub mod hostile;
pub mod http;
mod load;
pub mod python;
mod random;
mod run;
pub mod server;
pub mod socket;
mod strace;
pub mod typescript;

#[cfg(test)]
mod tests;

pub use load::Cast;
pub use random::Dice;
pub use run::{Plan, Plant, Summary, run};
