//! Strict JSON for protocols: what was read can be written again, and nothing that was sent can hurt.
//!
//! A [`Value`] borrows from its text, keeps the order of members and the lexeme of every number, and refuses
//! duplicate keys. Size, depth and number length are limited by the caller's [`Limits`], so time and memory
//! are bounded for any input. [`Path`] names a place inside a document, [`Finding`] says what is wrong there.
//!
//! This crate knows nothing of any protocol, does no I/O and never panics on input. It does not read
//! JavaScript, comments, trailing commas or any other relative of JSON.
//!
//! ```
//! let value = json::parse(br#"{"id": 7, "ratio": 1.50}"#, json::Limits::DOCUMENT)?;
//! assert_eq!(value.get("id").and_then(|id| id.as_integer()), Some(7));
//! assert_eq!(value.to_string(), r#"{"id":7,"ratio":1.50}"#);
//! # Ok::<(), json::ParseError>(())
//! ```
#![deny(missing_docs)]

mod compact;
mod finding;
mod number;
mod parse;
mod path;
mod scan;
mod shallow;
mod value;
mod write;

#[cfg(test)]
mod tests;

pub use compact::compact;
pub use finding::{Finding, Findings, Source, excerpt};
pub use number::Number;
pub use parse::{Limits, ParseError, ParseErrorKind, parse, parse_str};
pub use path::Path;
pub use scan::{Scan, Written};
pub use shallow::{NotAnObject, Shallow};
pub use value::{Object, Value, split_pointer};
pub use write::{write_string, write_value};
