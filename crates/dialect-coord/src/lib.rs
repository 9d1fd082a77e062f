//! The dialect `coord`: the Agent Communication Protocols, with ten types of messages and a shared state.
//!
//! [`Coord`] checks, reads and writes its documents: `AgentMessage` with a payload for each type, and, without a
//! message around them, `StateUpdate` and `SharedState`. Beside it stand what the specification says about
//! delivery: [`implied_priority`] and [`guarantee`], the [`order_key`], and the pauses of a [`RetryConfig`].
//!
//! This crate is pure: no I/O, no clock, no randomness. It keeps no shared state and applies no update to any;
//! that is the broker's.
#![deny(missing_docs)]

mod bag;
pub mod codes;
mod constraints;
mod decode;
mod encode;
mod envelope;
mod ids;
mod interfaces;
mod lenses;
mod message_type;
mod nearest;
mod order;
mod retry;
mod rules;
mod states;
mod validate;

#[cfg(test)]
mod tests;

use dialect::{Decoded, Dialect, Encoded, Name, Names, Verdict};
use json::{Findings, Object, Value};
use message::Message;

pub use message_type::{MESSAGE_TYPES, MessageType, guarantee, implied_priority};
pub use order::{OrderKey, order_key};
pub use retry::{RetryConfig, backoff, backoff_with_jitter, effective_retries};

/// The dialect `coord`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Coord;

impl Dialect for Coord {
    fn name(&self) -> Name {
        Name::Coord
    }

    fn recognizes(&self, document: &Object<'_>) -> bool {
        let has = |key| document.contains_key(key);
        let known_type = document.get("type").and_then(Value::as_str).is_some_and(|word| {
            MessageType::from_name(word).is_some() && (has("payload") || has("metadata") || has("from"))
        });
        known_type
            || (has("type") && has("payload") && has("metadata"))
            || (has("operation") && has("entity_type"))
            || has("task_registry")
    }

    fn validate(&self, document: &Value<'_>) -> Verdict {
        validate::validate(document)
    }

    fn decode(&self, document: &Value<'_>, names: &Names) -> Result<Decoded, Findings> {
        decode::decode(document, names)
    }

    fn encode(&self, message: &Message, names: &Names) -> Encoded {
        encode::encode(message, names)
    }

    fn origin_place(&self) -> &'static str {
        "/metadata/x_origin"
    }
}
