//! What the doors share: how a document becomes something that the broker accepts, how what it hands out becomes a
//! document again, and by which token somebody speaks.
//!
//! Nothing here opens a socket; doors do, each in its own crate. Nothing here trusts a document: who sends it comes
//! from the token, and what it says about itself is data.

mod intake;
mod outgoing;
mod principal;
mod profile;
mod token;

#[cfg(test)]
mod tests;

pub use intake::{Incoming, IntakeError, receive};
pub use outgoing::{Outgoing, OutgoingError, write};
pub use principal::{Authority, Denied, Principal};
pub use profile::Profile;
pub use token::{Token, TokenError, TokenHash};
