//! WebSocket frames as a server reads and writes them, [RFC 6455](https://www.rfc-editor.org/rfc/rfc6455).
//!
//! Pure: bytes go in and frames come out, borrowed from one buffer that is used again and never cleared; frames are
//! written behind each other into one buffer. No I/O, no clock, no extensions, and nothing of what is said in a frame.

#![deny(missing_docs)]

mod frame;
mod handshake;
mod reader;
mod writer;

#[cfg(test)]
mod tests;

pub use frame::{Close, Frame, Wrong};
pub use handshake::accept_key;
pub use reader::Reader;
pub use writer::{close, ping, pong, text};
