//! The Rust client of the native door: calls, the socket, and events that resume.
//!
//! A [`Client`] makes one call after the other on a connection that it keeps. A [`Socket`] is for those who send or
//! get much: what is sent is pipelined, and receipts come back in their own time. [`Events`] follows everything that
//! happens and goes on where it was when the server comes back.
//!
//! It knows nothing of the server's parts; documents go through it as they are, in any dialect. It never shows a
//! token, neither in `Debug` nor in an error.
//!
//! ```no_run
//! use client::{Client, SendOptions};
//! use message::Dialect;
//!
//! # async fn example() -> Result<(), client::ClientError> {
//! let ann = Client::new("http://127.0.0.1:7700", Some("…"))?;
//! let note = r#"{"convoke":1,"kind":"note","from":"ann","to":["bob"],"text":"hello"}"#;
//! let sent = ann.send(note, &SendOptions::new(Dialect::Convoke)).await?;
//! println!("{} is {}", sent.receipt().id, sent.receipt().stage());
//! # Ok(())
//! # }
//! ```
#![deny(missing_docs)]

mod address;
mod agents;
mod bus;
mod channels;
mod client;
mod connection;
mod dead;
mod deliveries;
mod error;
mod events;
mod history;
mod http;
mod inbox;
mod lexicons;
mod messages;
mod query;
mod read;
mod secret;
mod socket;
mod tls;
mod trim;

#[cfg(test)]
mod tests;

pub use agents::{Agent, AgentPresence, AgentSettings, Registered, TokenLabel};
pub use bus::{BusCounts, Me, Readiness};
pub use channels::{Channel, ChannelProblem};
pub use client::{Client, ClientOptions};
pub use dead::DeadLetter;
pub use deliveries::Nack;
pub use error::{ClientError, Problem};
pub use events::{Event, EventFilter, Events, EventsItem};
pub use history::{HistoryEntry, HistoryPage, HistoryQuery};
pub use inbox::{Delivery, Inbox, Look, Take, Taken, Waiting};
pub use lexicons::{Lexicon, LexiconAdded};
pub use messages::{Document, Reply, SendOptions, Sent};
pub use secret::Token;
pub use socket::{
    Receipts, Socket, SocketDelivery, SocketItem, SocketOptions, SocketProblem, SocketReader, SocketReceipt,
    SocketReply, SocketSend, SocketWriter,
};
pub use trim::{Trim, TrimOptions};
