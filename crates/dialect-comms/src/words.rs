//! The closed lists of words in the lexicons, and those of the network that drifted from them.

/// What `content.kind` may be.
pub const CONTENT_KINDS: &[&str] = &["text", "json", "binary", "event"];
/// What the `severity` of a broadcast may be, the mildest first.
pub const SEVERITIES: &[&str] = &["info", "notice", "warning", "critical"];
/// What the `status` of a response may be.
pub const STATUSES: &[&str] = &["ok", "error", "partial", "rejected"];

/// The `content.kind` of the running network that the lexicons do not have.
pub const DRIFTED_CONTENT_KIND: &str = "ref";
/// What the running network calls `partial`, `ok` and `error`.
pub const DRIFTED_STATUSES: &[&str] = &["accepted", "completed", "failed"];
/// What the running network calls a request.
pub const DRIFTED_REQUEST: &str = "agent.comms.task";
/// The `intent` of a broadcast in the running network; it changes nothing here.
pub const DRIFTED_INTENTS: &[&str] = &["plan", "request", "status", "response", "alert"];

/// The code of the error by which a response tells that work is blocked.
pub const BLOCKED: &str = "BLOCKED";
