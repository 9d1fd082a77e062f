//! What the doors share: how a document becomes something that the broker accepts, how what it hands out becomes a
//! document again, by which token somebody speaks, and what a peer is told when something goes wrong.
//!
//! Nothing here listens or answers by itself; doors do, each in its own crate. Nothing here trusts a document: who sends it comes
//! from the token, and what it says about itself is data.

mod answer;
mod caller;
pub mod card;
mod chance;
pub mod channels;
mod code;
mod command_channel;
mod directory;
mod doorway;
mod fingerprint;
mod guard;
mod hub;
mod intake;
pub mod letters;
pub mod lexicons;
mod outgoing;
pub mod plain;
mod pollers;
mod posting;
mod principal;
mod problem;
mod profile;
mod rate;
mod receipt;
mod registration;
pub mod repo;
mod request;
mod seal;
pub mod socket;
mod source_cache;
pub mod state;
mod submission;
pub mod tasks;
mod token;
mod translation_cache;
mod vitals;
pub mod waiting;
pub mod websocket;
mod work;

#[cfg(test)]
mod tests;

pub use answer::Answer;
pub use caller::{At, Caller, Named};
pub use chance::{random, uuid};
pub use code::{Code, Retry};
pub use command_channel::{CommandSender, OutcomeReceiver, command_channel};
pub use directory::{Directory, Listed};
pub use doorway::{Doorway, Shapes, shaped};
pub use guard::{has_much, refusal};
pub use hub::{AGENTS_MAX, Authority, Hub, HubLimits};
pub use intake::{Asking, IntakeError, Reading, receive};
pub use outgoing::{Outgoing, OutgoingError, Stored, head, said, write};
pub use posting::{TRACE, asking, changed, idempotency_key, post};
pub use principal::{Denied, Principal, Speaker};
pub use problem::Problem;
pub use profile::{Profile, SessionNote, TokenNote};
pub use rate::{Connections, OpenConnection, RateLimits, Rates, RetryAfter, TooManyConnections, Who};
pub use receipt::{past_receipt, stored_receipt};
pub use registration::{Known, Registration, boxed, change_profile, known, register, written};
pub use request::{
    API_KEY, Body, Fields, Query, Shown, answer, body, dialect_of, fields, header_text, json_text, shown,
    token,
};
pub use seal::{SealKey, SealKeyError};
pub use submission::{ReceiptHead, Submission};
pub use token::{Token, TokenError, TokenHash};
pub use translation_cache::TranslationCache;
