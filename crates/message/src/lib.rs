//! The canonical message and its vocabulary: what every dialect translates to and every part of the bus speaks.
//!
//! A [`Message`] is plain owned data. Names, ids, times and durations are types of their own, checked once where
//! they come in. [`decode`] reads the `convoke` dialect and reports everything that is wrong with a document;
//! [`Message::encode`] writes it; [`skim`] looks only for what a message is routed by. Fields that we do not know are
//! kept in `extra` and written again.
//!
//! This crate does no I/O, reads no clock and draws no random numbers: time and random bits are arguments. It
//! knows the names of the other dialects and nothing else of them. No type of another library is in its interface.
#![deny(missing_docs)]

#[macro_use]
mod checked;
#[macro_use]
mod words;

mod address;
mod attachment;
mod brief;
pub mod codes;
mod decode;
mod delivery;
mod digest;
mod duration;
mod encode;
mod envelope;
mod failure;
mod gate;
mod handoff;
mod id;
mod kind;
mod level;
pub mod limits;
mod members;
mod message;
mod metrics;
mod name;
mod origin;
mod presence;
mod read;
mod receipt;
mod skim;
mod stage;
mod task_number;
mod task_status;
mod timestamp;
mod uuid;
mod written;

#[cfg(test)]
mod tests;

pub use address::{Address, AgentRef, Alias};
pub use attachment::Attachment;
pub use brief::Brief;
pub use checked::TextError;
pub use decode::{Decoded, decode, from_value};
pub use delivery::{Backoff, DeliveryWishes, Guarantee, Mode};
pub use digest::{DigestError, Sha256};
pub use duration::{DurationError, WrittenDuration, format_duration, parse_duration};
pub use envelope::Envelope;
pub use failure::Failure;
pub use gate::{Gate, GateDecision};
pub use handoff::Handoff;
pub use id::{DeliveryId, MessageId, NativeId, Reference, Seq, TaskId, ThreadId, Uri};
pub use kind::Kind;
pub use level::{Priority, Severity};
pub use message::Message;
pub use metrics::Metrics;
pub use name::{AddressError, AgentName, ChannelName, RoleName, TopicName};
pub use origin::{Dialect, Origin};
pub use presence::{Presence, PresenceState};
pub use receipt::{Receipt, RecipientReceipt, StageEntry, Warning};
pub use skim::{Skimmed, skim, skim_value};
pub use stage::{Reachability, Stage};
pub use task_number::{TASK_NUMBERS, task_number};
pub use task_status::TaskStatus;
pub use timestamp::{Timestamp, TimestampError, WrittenTimestamp};
pub use uuid::UuidError;
