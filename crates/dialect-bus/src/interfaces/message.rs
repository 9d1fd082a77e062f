//! `AgentMessage`, `AgentIdentifier` and `MessageRouting`.
//!
//! What the specification's users leave out has a default: a tolerant reader refuses a message only where it
//! does not say what it is, when it was made, from whom and to whom.

use dialect::{Interface, Shape};

use super::{COUNT, defaulted, optional, required};
use crate::parts::is_id;

/// How long a recipient has where the sender does not say.
pub(crate) const DEFAULT_TIMEOUT: &str = "300s";
/// How often it is tried again where the sender does not say.
pub(crate) const DEFAULT_RETRIES: u32 = 3;

const MESSAGE_TYPES: &[&str] = &["task_request", "task_response", "status_update", "error", "heartbeat"];
const PRIORITIES: &[&str] = &["low", "medium", "high", "critical"];
const BACKOFFS: &[&str] = &["linear", "exponential"];
const DELIVERY_MODES: &[&str] = &["async", "sync"];

pub(crate) static AGENT_MESSAGE: Interface = Interface {
    name: "AgentMessage",
    fields: &[
        required("message_id", Shape::Checked("an id of 1 to 512 bytes without control characters", is_id)),
        required("timestamp", Shape::Timestamp),
        required("sender", Shape::Object(&AGENT_IDENTIFIER)),
        required("recipient", Shape::Object(&AGENT_IDENTIFIER)),
        required("message_type", Shape::Words(MESSAGE_TYPES)),
        defaulted("priority", "medium", Shape::Words(PRIORITIES)),
        defaulted("payload", "an empty one", Shape::Any),
        defaulted("routing", "300s with 3 retries", Shape::Object(&MESSAGE_ROUTING)),
        optional("metadata", Shape::Map),
    ],
};

static AGENT_IDENTIFIER: Interface = Interface {
    name: "AgentIdentifier",
    fields: &[
        required("agent_id", Shape::NonEmpty),
        defaulted("framework", "the scheme of agent_id, if any,", Shape::Text),
        optional("session_id", Shape::Text),
    ],
};

static MESSAGE_ROUTING: Interface = Interface {
    name: "MessageRouting",
    fields: &[
        defaulted("timeout", DEFAULT_TIMEOUT, Shape::Duration),
        defaulted("retry_policy", "3 retries, exponential,", Shape::Object(&RETRY_POLICY)),
        optional("fallback_agents", Shape::List(&Shape::NonEmpty)),
        defaulted("delivery_mode", "async", Shape::Words(DELIVERY_MODES)),
    ],
};

static RETRY_POLICY: Interface = Interface {
    name: "RetryPolicy",
    fields: &[
        defaulted("max_retries", "3", COUNT),
        defaulted("backoff", "exponential", Shape::Words(BACKOFFS)),
    ],
};
