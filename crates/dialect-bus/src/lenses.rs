//! Which field of a document corresponds to which field of the canonical message.
//!
//! Rows in both directions are in the first tables. Rows that are only read are the variants that the
//! specification's users write; nothing is written there. A value that the canonical form could not hold is not
//! carried by any row, so it stays where it is: in the payload's data, or in the origin alone.

mod codecs;

use dialect::{Codec, Lens};
use json::split_pointer;
use message::TaskStatus;

use crate::kinds::MessageType;
use codecs::{
    DECISIONS, ID, LIST, PRIORITIES, QUANTITY, SEVERITY, STATES, STATUSES, TEXTS, TIME, TRUTH, agent_id,
    agent_ids, attachments, fallbacks, ids, pid, recipient, retries, same, sender, uri, uri_list, uris,
};

/// Who, to whom and when.
pub(crate) const HEAD: &[Lens] = &[
    row("/message_id", "/native_id", Codec::Text),
    row("/timestamp", "/created", Codec::Text),
    row("/sender/agent_id", "/from", Codec::Custom { decode: sender, encode: agent_id }),
    row("/recipient/agent_id", "/to/0", Codec::Custom { decode: recipient, encode: agent_id }),
    row("/priority", "/priority", Codec::Words(PRIORITIES)),
];

/// The conversation, which is the sender's session.
pub(crate) const SESSION: Lens = row("/sender/session_id", "/thread", ID);

/// How the message is handed over.
pub(crate) const ROUTING: &[Lens] = &[
    row("/routing/timeout", "/delivery/timeout", Codec::Text),
    row(
        "/routing/retry_policy/max_retries",
        "/delivery/retries",
        Codec::Custom { decode: retries, encode: same },
    ),
    row("/routing/retry_policy/backoff", "/delivery/backoff", Codec::Text),
    row(
        "/routing/fallback_agents",
        "/delivery/fallback",
        Codec::Custom { decode: fallbacks, encode: agent_ids },
    ),
    row("/routing/delivery_mode", "/delivery/mode", Codec::Text),
];

/// What it belongs with.
pub(crate) const METADATA: &[Lens] = &[
    row("/metadata/task_id", "/task", ID),
    row("/metadata/in_reply_to", "/reply_to", ID),
    row("/metadata/expires_at", "/expires", TIME),
];

/// Where else the same is found.
pub(crate) const METADATA_READ: &[Lens] = &[
    row("/metadata/session_id", "/thread", ID),
    row("/recipient/session_id", "/thread", ID),
    row("/metadata/original_message_id", "/reply_to", ID),
    row("/payload/task_id", "/task", ID),
    row("/metadata/correlation_id", "/correlation", ID),
    // What links requests and responses is the task.
    row("/metadata/task_id", "/correlation", ID),
    row("/payload/task_id", "/correlation", ID),
];

/// The subject, where nothing else says it.
pub(crate) const TITLE: Lens = row("/payload/title", "/title", Codec::Text);

/// What any payload may hold beside the fields of its family.
pub(crate) const SHARED: &[Lens] = &[
    row("/payload/files", "/attachments", Codec::Custom { decode: attachments, encode: uris }),
    row("/payload/acceptance_criteria", "/brief/criteria", TEXTS),
    row("/payload/requirements", "/brief/constraints", TEXTS),
    row("/payload/context", "/brief/context", Codec::Same),
    row("/payload/dependencies", "/brief/dependencies", Codec::Custom { decode: ids, encode: same }),
    row("/payload/expected_output", "/brief/output", Codec::Same),
    row("/payload/snippet", "/code", Codec::Text),
    row("/payload/schema", "/schema", Codec::Text),
    row("/payload/mime", "/mime", Codec::Text),
    row("/payload/artifact_url", "/blob", Codec::Custom { decode: uri, encode: same }),
    row("/payload/refs", "/refs", Codec::Custom { decode: uri_list, encode: same }),
    row("/payload/severity", "/severity", SEVERITY),
    row("/payload/deadline", "/deadline", TIME),
    row("/payload/cpu", "/metrics/cpu", QUANTITY),
    row("/payload/memory", "/metrics/memory", QUANTITY),
    row("/payload/metrics/duration_ms", "/metrics/duration_ms", QUANTITY),
    row("/payload/metrics/tokens", "/metrics/tokens", QUANTITY),
    row("/payload/metrics/cost_usd", "/metrics/cost_usd", QUANTITY),
    row("/payload/handoff/reason", "/handoff/reason", Codec::Text),
    row("/payload/handoff/state", "/handoff/state", Codec::Same),
    row("/payload/gate/action_required", "/gate/action_required", TRUTH),
];

/// The rest of a gate, which is one only if it says whether somebody must act.
pub(crate) const GATE: &[Lens] = &[
    row("/payload/gate/decision", "/gate/decision", Codec::Words(DECISIONS)),
    row("/payload/gate/reason", "/gate/reason", Codec::Text),
];

/// The agent's own word for its state.
pub(crate) const SUBSTATE: Lens = row("/payload/substate", "/presence/sub", Codec::Text);

/// What else says how an agent is; like its own word only read beside a state.
pub(crate) const PRESENCE: &[Lens] = &[
    row("/payload/pid", "/presence/pid", Codec::Custom { decode: pid, encode: same }),
    row("/payload/current_tasks", "/presence/tasks", Codec::Custom { decode: ids, encode: same }),
    row("/payload/next_available", "/presence/next", TIME),
];

/// The state of an agent in a word that leaves no doubt.
pub(crate) const STATE: Lens = row("/payload/state", "/presence/state", Codec::Words(STATES));

/// How far a task is.
pub(crate) const STATUS: Lens = row("/payload/status", "/status", Codec::Words(STATUSES));
/// The same where `status` is about the agent.
pub(crate) const TASK_STATUS: Lens = row("/payload/task_status", "/status", Codec::Words(STATUSES));
/// Whether trying again may help.
pub(crate) const RETRYABLE: Lens = row("/metadata/retryable", "/error/retryable", TRUTH);
/// The sort of work.
pub(crate) const TASK_TYPE: Lens = row("/payload/task_type", "/brief/task_type", Codec::Text);
/// The sort of help or approval where the task type says that it is one.
pub(crate) const SUBTYPE: Lens = row("/payload/subtype", "/brief/task_type", Codec::Text);

/// The outcome of a task.
pub(crate) const RESULT: Lens = row("/payload/result", "/result", Codec::Same);
/// The outcome of a review.
pub(crate) const FINDINGS: Lens = row("/payload/findings", "/result", Codec::Same);

/// What a health status says beside how the agent is.
pub(crate) const HEALTH: &[Lens] = &[
    row("/agent_id", "/from", Codec::Custom { decode: sender, encode: agent_id }),
    row("/last_check", "/created", Codec::Text),
    row("/resource_usage/cpu", "/metrics/cpu", QUANTITY),
    row("/resource_usage/memory", "/metrics/memory", QUANTITY),
];

const REQUEST: &[Lens] = &[row("/payload/description", "/text", Codec::Text)];
const RESPONSE: &[Lens] = &[row("/payload/notes", "/text", Codec::Text)];
const UPDATE: &[Lens] = &[row("/payload/notes", "/text", Codec::Text)];
const ERROR: &[Lens] = &[
    row("/payload/code", "/error/code", Codec::Text),
    row("/payload/message", "/error/message", Codec::Text),
    row("/payload/details", "/error/stack", Codec::Text),
    row("/payload/recovery_suggestions", "/error/actions", TEXTS),
    row("/payload/recovery_attempts", "/error/attempts", LIST),
    row("/payload/notes", "/text", Codec::Text),
];
/// An error that is told in a message about something else.
pub(crate) const NESTED_ERROR: &[Lens] = &[
    row("/payload/error/code", "/error/code", Codec::Text),
    row("/payload/error/message", "/error/message", Codec::Text),
    row("/payload/error/details", "/error/stack", Codec::Text),
    row("/payload/error/recovery_suggestions", "/error/actions", TEXTS),
    row("/payload/error/recovery_attempts", "/error/attempts", LIST),
];

const REQUEST_READ: &[Lens] = &[
    row("/payload/payload/description", "/text", Codec::Text),
    row("/payload/notes", "/text", Codec::Text),
    row("/payload/payload/files", "/attachments", Codec::Custom { decode: attachments, encode: same }),
    row("/payload/payload/acceptance_criteria", "/brief/criteria", TEXTS),
    row("/payload/payload/requirements", "/brief/constraints", TEXTS),
    row("/payload/payload/context", "/brief/context", Codec::Same),
];
const RESPONSE_READ: &[Lens] =
    &[row("/payload/summary", "/text", Codec::Text), row("/payload/error", "/error/message", Codec::Text)];
const UPDATE_READ: &[Lens] = &[
    row("/payload/resource_usage/cpu", "/metrics/cpu", QUANTITY),
    row("/payload/resource_usage/memory", "/metrics/memory", QUANTITY),
];
const ERROR_READ: &[Lens] = &[
    row("/payload/error_code", "/error/code", Codec::Text),
    row("/payload/error_message", "/error/message", Codec::Text),
    row("/payload/error", "/error/message", Codec::Text),
    row("/payload/details/stack_trace", "/error/stack", Codec::Text),
    row("/metadata/error_severity", "/severity", SEVERITY),
];

/// Fields that are read or written outside of the tables.
const SINGLE_FIELDS: &[&str] = &[
    "kind",
    "data",
    "payload",
    "task_id",
    "agent_id",
    "task_type",
    "subtype",
    "title",
    "status",
    "task_status",
    "state",
    "substate",
    "result",
    "findings",
];

/// Returns the rows of a message type's payload, in both directions.
pub(crate) fn family(message_type: MessageType) -> &'static [Lens] {
    match message_type {
        MessageType::TaskRequest => REQUEST,
        MessageType::TaskResponse => RESPONSE,
        MessageType::StatusUpdate | MessageType::Heartbeat => UPDATE,
        MessageType::Error => ERROR,
    }
}

/// Returns the rows of a message type's payload that are only read.
pub(crate) fn family_read(message_type: MessageType) -> &'static [Lens] {
    match message_type {
        MessageType::TaskRequest => REQUEST_READ,
        MessageType::TaskResponse => RESPONSE_READ,
        MessageType::StatusUpdate | MessageType::Heartbeat => UPDATE_READ,
        MessageType::Error => ERROR_READ,
    }
}

/// Tells whether a field of a payload means something to us, so that foreign data must not stand there.
pub(crate) fn is_spoken_for(key: &str) -> bool {
    let tables =
        [SHARED, GATE, PRESENCE, NESTED_ERROR, REQUEST, RESPONSE, UPDATE, ERROR, RESPONSE_READ, ERROR_READ];
    SINGLE_FIELDS.contains(&key)
        || tables
            .into_iter()
            .flatten()
            .any(|lens| payload_field(lens.native).is_some_and(|(name, _)| name == key))
}

/// Returns the field of the payload in which a place lies, and what follows it.
pub(crate) fn payload_field(pointer: &str) -> Option<(&str, &str)> {
    let (field, rest) = split_pointer(pointer.strip_prefix("/payload")?)?;
    Some((field, rest.strip_prefix('/').unwrap_or_default()))
}

/// Reads the word of a task's status.
pub(crate) fn task_status(word: &str) -> Option<TaskStatus> {
    let (_, canonical) = STATUSES.iter().find(|(native, _)| *native == word)?;
    TaskStatus::from_name(canonical)
}

const fn row(native: &'static str, canonical: &'static str, codec: Codec) -> Lens {
    Lens { native, canonical, codec }
}
