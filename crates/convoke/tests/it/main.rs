//! Tests that drive the real binary, as a user or a script would.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod card;
mod docs;
mod lexicon_check;
mod lexicon_validate;
mod log;
mod schema;
mod session;
mod translate;
mod up;
mod validate;
