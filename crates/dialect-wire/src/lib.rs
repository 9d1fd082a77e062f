//! The dialect `wire`: Agent Wire, the typed messages between the agents of a platform, and the Agent Card.
//!
//! A wire is an envelope with one of a few types of payload; version 1.1 adds ids. [`Wire`] checks, reads and
//! writes them. [`lint`] checks the identity document of an agent, [`prompt`] makes a system prompt of it, and
//! the other functions are what a runner decides by.
//!
//! What a wire has no field for travels in fields of its payload that start with `x_`; readers may ignore them.
//!
//! This crate does no I/O, reads no clock and draws no random numbers. It knows no other dialect.
#![deny(missing_docs)]

mod blockers;
mod card;
mod check;
pub mod codes;
mod completion;
mod decimal;
mod decode;
mod encode;
mod extensions;
mod form;
pub mod interfaces;
mod lenses;
pub mod prompt;
mod prose;
mod registry;
mod rules;
mod speech;
mod stand_in;
mod syntax;
mod view;

#[cfg(test)]
mod tests;

use dialect::{Decoded, Dialect, Encoded, Name, Names, Strictness, Verdict};
use json::{Findings, Object, Value};
use message::Message;

pub use blockers::{blocker_of_error, error_of_blocker};
pub use card::{CONSTRAINTS_MIN, VOICE_SENTENCES_MAX, WORKING_STYLE_SENTENCES_MAX, lint};
pub use completion::{check_completion, worker};
pub use form::is_posted;
pub use registry::Registry;
pub use rules::{CONTEXT_WORDS_MAX, ROLE_TOPIC_BYTES, SUMMARY_WORDS_MAX, fits_role_topic};
pub use stand_in::{stand_in_number, task_id, wire_id};

/// The dialect `wire`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wire;

impl Dialect for Wire {
    fn name(&self) -> Name {
        Name::Wire
    }

    fn recognizes(&self, document: &Object<'_>) -> bool {
        let has = |key: &str| document.contains_key(key);
        let is_envelope = has("wire") || (has("sender") && has("ts") && has("payload"));
        is_envelope || form::is_card(document) || (document.len() == 1 && form::is_pointer(document))
    }

    fn validate(&self, document: &Value<'_>) -> Verdict {
        check::check(document, Strictness::Strict)
    }

    fn decode(&self, document: &Value<'_>, names: &Names) -> Result<Decoded, Findings> {
        decode::decode(document, names)
    }

    fn encode(&self, message: &Message, names: &Names) -> Encoded {
        encode::encode(message, names)
    }

    fn origin_place(&self) -> &'static str {
        "/payload/x_origin"
    }

    fn version(&self, document: &Object<'_>) -> Option<String> {
        document.get("wire").and_then(Value::as_str).map(str::to_owned)
    }
}
