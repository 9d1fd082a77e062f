//! A channel root: the folder in which agents of a Multi-Agent OS talk to each other by files.
//!
//! [`Root`] knows its layout (`channels/`, `signals/presence/`, `logs/`), writes messages so that nobody ever sees half
//! of one or loses one to another writer, and reads presence and registry. [`Follower`] finds what is new in a channel.
//!
//! Plain blocking I/O; no server, no clock of its own: whoever calls says what time it is. Nothing outside the root is
//! ever opened: every step below it is taken from an open folder and follows no link.
#![deny(missing_docs)]

mod draft;
mod error;
mod folder;
mod follower;
mod naming;
mod presence;
mod registry;
mod root;

#[cfg(test)]
mod tests;

pub use draft::Draft;
pub use error::RootError;
pub use folder::Problem;
pub use follower::{Follower, Found, Limits, Polled, Unreadable};
pub use naming::fresh_id;
pub use presence::{Heartbeat, Seen};
pub use registry::Registered;
pub use root::{Posted, Put, Root};

/// Bytes of a message's file that are read if nobody says otherwise.
pub const MESSAGE_BYTES_MAX: u64 = 1 << 20;
