//! The stable codes of what a schema cannot say. A code keeps its meaning; new ones may be added.

/// A payload names another sender than `from`.
pub const SENDER_MISMATCH: &str = "sender_mismatch";
/// A payload names another recipient than `to`.
pub const RECIPIENT_MISMATCH: &str = "recipient_mismatch";
/// Two fields that must name the same task name different ones.
pub const TASK_MISMATCH: &str = "task_mismatch";
/// An entity has another id than the key or update that it stands under.
pub const ENTITY_MISMATCH: &str = "entity_mismatch";
/// An accepted handoff lacks what its acceptance must say.
pub const REQUIRED_WHEN_ACCEPTED: &str = "required_when_accepted";
/// A declined handoff does not say why.
pub const REQUIRED_WHEN_DECLINED: &str = "required_when_declined";
/// A response does not carry the id of its request.
pub const CORRELATION_REQUIRED: &str = "correlation_required";
/// `request_id` and `correlation_id` of a help response differ.
pub const CORRELATION_MISMATCH: &str = "correlation_mismatch";
/// A deletion changes something.
pub const DELETE_WITH_CHANGES: &str = "delete_with_changes";

/// Warning: the creation of an entity does not give all of it.
pub const CREATE_INCOMPLETE: &str = "create_incomplete";
/// Warning: more retries were made than allowed.
pub const RETRIES_EXCEEDED: &str = "retries_exceeded";
/// Warning: retries are asked for at a priority that is delivered at most once.
pub const RETRIES_UNUSED: &str = "retries_unused";
/// Warning: the id is a UUID of another version than 4.
pub const UUID_NOT_V4: &str = "uuid_not_v4";
/// Warning: the timestamp is not in UTC.
pub const TIMESTAMP_NOT_UTC: &str = "timestamp_not_utc";
/// Warning: `*` is meant for heartbeats and status updates.
pub const FAN_OUT: &str = "fan_out";
/// Warning: an agent is busy without tasks, or has tasks without being busy.
pub const STATE_INCONSISTENT: &str = "state_inconsistent";
/// Warning: the lower threshold of risk is above the higher one.
pub const THRESHOLD_ORDER: &str = "threshold_order";
/// Warning: a number is larger than can be kept, and the largest is taken.
pub const CLAMPED: &str = "clamped";
