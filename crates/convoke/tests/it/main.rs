//! Tests that drive the real binary, as a user or a script would.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod bus;
mod card;
mod demo;
mod docs;
mod keeping;
mod lexicon_check;
mod lexicon_validate;
mod log;
mod redact;
mod schema;
mod session;
mod shell;
mod socket;
mod tail;
mod talk;
mod translate;
mod up;
mod validate;
