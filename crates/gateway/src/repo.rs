//! Repositories: records on their way from a peer to the broker, by whatever door.
//!
//! Everything that does not need the state is done here: checking, hashing, finding out whether a record is a message.
//! A record and the message that it is become one command of the broker, which does the rest.

mod commit;
mod write;

pub use commit::{Commit, Committed, Head, Written};
pub use write::{Blob, Wanted, Write};
