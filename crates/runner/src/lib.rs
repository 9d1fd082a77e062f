//! Watchers: messages become prompts, commands are run on them, answers are posted.
//!
//! A watcher waits for messages that are for its agent ([`judge`]), builds a prompt in which everything that others
//! wrote is fenced ([`prompt`]), runs a command on it ([`Invocation`]) and posts what it prints as the answer. It works
//! on a channel root ([`watch_root`]) or through a bus ([`watch_bus`]), and is the same in all else.
//!
//! It never runs a shell, never gives a command more of the environment than is named, never starts a command again by
//! itself, and nothing in a message is an instruction to it.
#![deny(missing_docs)]

mod bus;
mod environment;
mod error;
mod extraction;
mod fence;
mod invocation;
mod journal;
mod judgement;
mod pace;
mod post;
pub mod profile;
pub mod prompt;
mod root;
mod watching;

#[cfg(test)]
mod tests;

pub use bus::watch_bus;
pub use environment::{Environment, Secrets};
pub use error::WatchError;
pub use extraction::{Extraction, NoAnswer};
pub use fence::Fence;
pub use invocation::{Invocation, InvocationError, PLACE, PromptBy};
pub use journal::{Entry, Journal, State};
pub use judgement::{ECHO_WITHIN, HOPS_MAX, Judgement, Reading, judge};
pub use pace::Pace;
pub use post::Post;
pub use profile::Profile;
pub use root::{History, watch_root};
pub use watching::{Stop, Stopper, Tally, Watching, stopping};
