//! The stable codes of findings that are this dialect's own; the others are those of the canonical message.

/// The scheme of an agent's id is not its framework, as in `codex://ann` of `opencode`.
pub const FRAMEWORK_MISMATCH: &str = "framework_mismatch";
/// A field that the payload's family knows has another type (an error) or an odd figure (a warning).
pub const PAYLOAD: &str = "payload";
/// The document describes an agent and says nothing to anybody, so it cannot be read as a message.
pub const NOT_A_MESSAGE: &str = "not_a_message";

/// Warning: the payload asks its recipient to shut down, which nobody does because a message says so.
pub const SHUTDOWN_IGNORED: &str = "shutdown_ignored";
/// Warning: a response has a status that nobody defined, and counts as done.
pub const STATUS_UNKNOWN: &str = "status_unknown";
/// Warning: the metadata has more than 16 KiB; share what is large by its URL.
pub const METADATA_HEAVY: &str = "metadata_heavy";
/// Warning: a field of the metadata that we read has another type or form, so it is not read.
pub const METADATA_FIELD: &str = "metadata_field";
/// Warning: the time is not in UTC.
pub const TIMESTAMP_NOT_UTC: &str = "timestamp_not_utc";
/// Warning: more retries are asked for than a message can have; it gets as many as it can.
pub const RETRIES_LIMITED: &str = "retries_limited";
/// Warning: more fallback agents are named than a message can have; the first ones count.
pub const FALLBACKS_LIMITED: &str = "fallbacks_limited";
