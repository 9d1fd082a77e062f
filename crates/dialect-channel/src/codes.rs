//! The stable codes of this dialect's own rules. Shapes are reported with the codes of `message::codes`.

/// The id is not what a message's file is called: `msg-{YYYYMMDD}-{HHMMSS}-{agent}-{hex4}`.
pub const ID_FORM: &str = "id_form";
/// The second in the id is not the second of the timestamp.
pub const ID_TIME: &str = "id_time";
/// The timestamp is not in UTC; as a warning: it is, but does not say so by `Z`.
pub const TIMESTAMP_UTC: &str = "timestamp_utc";
/// The channel's name cannot be that of a folder.
pub const CHANNEL_NAME: &str = "channel_name";
/// An artifact is neither a text nor an object; as a warning of a reader: it cannot be carried.
pub const ARTIFACT_FORM: &str = "artifact_form";
/// An agent that is awake does not say what it does.
pub const SUBSTATE_MISSING: &str = "substate_missing";
/// Warning: nobody is known to write this type of message; it is read as a note.
pub const UNKNOWN_TYPE: &str = "unknown_type";
/// Warning: nobody is known to write this substate; it is read as busy.
pub const UNKNOWN_SUBSTATE: &str = "unknown_substate";
/// Warning: messages of this type come from another agent.
pub const SENDER_ROLE: &str = "sender_role";
/// Warning: the id of an agent is no longer in use; its base id is meant.
pub const DEPRECATED_ID: &str = "deprecated_id";
/// Warning: a field with one of our own names holds something else, and is only kept.
pub const EXTENSION: &str = "extension";
/// Warning of a reader: the value is no id and is only kept.
pub const NOT_AN_ID: &str = "not_an_id";
/// The document registers an agent and cannot be sent to anybody.
pub const NOT_A_MESSAGE: &str = "not_a_message";
