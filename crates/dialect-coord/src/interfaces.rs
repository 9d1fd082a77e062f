//! The interfaces of the specification as data: the message itself, and in the files beside this its payloads.
//!
//! What the specification demands but its users leave out has a default, which a tolerant reader takes.
//! Numbers for which the specification gives no range are not negative.

pub(crate) mod failure;
pub(crate) mod help;
pub(crate) mod state;
pub(crate) mod status;
pub(crate) mod task;

use dialect::{Field, Interface, Need, Shape};
use message::limits::{ID_BYTES_MAX, URI_BYTES_MAX};

use crate::message_type::MESSAGE_TYPES;

/// How urgent a message or a task is.
pub(crate) const PRIORITIES: &[&str] = &["low", "normal", "high", "critical"];
/// How urgent a call for help, or how bad an error is.
pub(crate) const LEVELS: &[&str] = &["low", "medium", "high", "critical"];

/// A number that is not negative.
pub(crate) const QUANTITY: Shape = Shape::Number(0.0, f64::INFINITY);
/// A whole number that is not negative.
pub(crate) const COUNT: Shape = Shape::Integer(0, i64::MAX);
/// A share between none and all.
pub(crate) const RATIO: Shape = Shape::Number(0.0, 1.0);
/// A share between none and all, in hundredths.
pub(crate) const PERCENT: Shape = Shape::Number(0.0, 100.0);
/// An id of a task or a message. The specification says only that it is a string; a bus must also be able to
/// file and log it.
pub(crate) const ID: Shape = Shape::Checked("an id: not empty, on one line, at most 512 bytes", is_id);
/// Where something is.
pub(crate) const PLACE: Shape = Shape::Checked("a URL or path: not empty, on one line", is_place);
pub(crate) const TEXTS: Shape = Shape::List(&Shape::Text);

/// The message that carries all others.
pub(crate) static AGENT_MESSAGE: Interface = Interface {
    name: "AgentMessage",
    fields: &[
        defaulted("id", "none", Shape::Uuid),
        defaulted("timestamp", "the time of its arrival", Shape::Timestamp),
        required("from", Shape::NonEmpty),
        required("to", Shape::NonEmpty),
        required("type", Shape::Words(MESSAGE_TYPES)),
        required("payload", Shape::Map),
        defaulted("metadata", "what its type implies", Shape::Object(&MESSAGE_METADATA)),
    ],
};

pub(crate) static MESSAGE_METADATA: Interface = Interface {
    name: "MessageMetadata",
    fields: &[
        optional("correlation_id", ID),
        defaulted("priority", "the priority of its type", Shape::Words(PRIORITIES)),
        optional("ttl_ms", QUANTITY),
        defaulted("retry_count", "0", COUNT),
        defaulted("max_retries", "0", COUNT),
    ],
};

/// How failed deliveries are tried again.
pub(crate) static RETRY_CONFIG: Interface = Interface {
    name: "RetryConfig",
    fields: &[
        defaulted("max_attempts", "5", Shape::Integer(1, u32::MAX as i64)),
        defaulted("base_delay_ms", "1000", QUANTITY),
        defaulted("max_delay_ms", "30000", QUANTITY),
        defaulted("backoff_multiplier", "2", QUANTITY),
        defaulted("jitter", "true", Shape::Boolean),
    ],
};

/// Makes a field without which the document cannot be understood.
pub(crate) const fn required(name: &'static str, shape: Shape) -> Field {
    Field { name, need: Need::Required, shape }
}

/// Makes a field that the specification demands and a tolerant reader does not.
pub(crate) const fn defaulted(name: &'static str, default: &'static str, shape: Shape) -> Field {
    Field { name, need: Need::Defaulted(default), shape }
}

/// Makes a field that may be absent.
pub(crate) const fn optional(name: &'static str, shape: Shape) -> Field {
    Field { name, need: Need::Optional, shape }
}

/// Tells whether a text can be the id of a task, a message or a conversation.
pub(crate) fn is_id(text: &str) -> bool {
    is_one_line(text, ID_BYTES_MAX)
}

fn is_place(text: &str) -> bool {
    is_one_line(text, URI_BYTES_MAX)
}

fn is_one_line(text: &str, bytes_max: usize) -> bool {
    !text.is_empty() && text.len() <= bytes_max && !text.chars().any(char::is_control)
}
