//! Tests that drive the real binary, as a user or a script would.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod bus;
mod card;
mod channel;
mod clients;
mod crossing;
mod demo;
mod docs;
mod doctor;
mod hostile;
mod keeping;
mod lexicon_check;
mod lexicon_validate;
mod limits;
mod log;
mod mirror;
mod redact;
mod rounds;
mod schema;
mod server;
mod session;
mod settings;
mod shell;
mod socket;
mod stories;
mod tail;
mod talk;
mod tls;
mod translate;
mod trim;
mod up;
mod validate;
mod watch;
mod wire;
