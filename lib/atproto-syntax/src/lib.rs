//! The string formats of the AT Protocol as checked types.
//!
//! Must not do I/O, read a clock, draw random numbers, depend on another crate, or know any application.
//!
#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

pub mod at_identifier;
pub mod at_uri;
pub mod cid;
pub mod datetime;
pub mod did;
pub mod handle;
pub mod language;
pub mod nsid;
pub mod record_key;
pub mod tid;
pub mod uri;

mod class;
mod error;
mod format;
mod label;
mod multibase;
#[cfg(test)]
mod tests;

pub use at_identifier::AtIdentifier;
pub use at_uri::AtUri;
pub use cid::{Cid, CidParts};
pub use datetime::{Datetime, Moment, Precision};
pub use did::Did;
pub use error::SyntaxError;
pub use format::Format;
pub use handle::Handle;
pub use language::Language;
pub use nsid::Nsid;
pub use record_key::RecordKey;
pub use tid::{Tid, TidClock};
pub use uri::Uri;
