//! The messages of a channel root on a NATS server too, with JetStream.
//!
//! The file comes first and is what counts; NATS has a copy of the same bytes. [`Mirror`] keeps it: it publishes what
//! the server does not have yet, in order, waits when the server is away, and goes on when it is back. [`write_through`]
//! does the same for one message that was just posted, with an outbox for what cannot be published now. [`read_back`]
//! writes what NATS has into a root, and [`compare`] tells in what the two differ.
//!
//! This is the only crate that knows NATS. It never changes a file that is there, and never shows the credentials of a
//! server.
#![deny(missing_docs)]

mod back;
mod comparison;
mod copy;
mod error;
mod nats;
mod outbox;
mod presence;
mod present;
mod subject;
mod sync;

#[cfg(test)]
mod tests;

pub use back::{Back, Ending, read_back};
pub use comparison::{Difference, What, compare};
pub use copy::Copy;
pub use error::MirrorError;
pub use nats::{Ack, Nats, NatsSettings};
pub use outbox::{Through, leave, write_through};
pub use subject::{chat_subject, presence_subject};
pub use sync::{Mirror, Mirrored};
