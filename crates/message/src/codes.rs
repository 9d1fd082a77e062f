//! The stable codes of findings. A code keeps its meaning; new ones may be added.
//!
//! A document that is not JSON at all is reported with the codes of the `json` crate.

/// A required field is missing, or a list that needs an item is empty.
pub const REQUIRED: &str = "required";
/// The value has another JSON type than the field.
pub const TYPE: &str = "type";
/// The word is none of the closed list.
pub const ENUM: &str = "enum";
/// The string does not have the form that the field demands.
pub const FORMAT: &str = "format";
/// The number, time or duration is outside of what the field can hold.
pub const RANGE: &str = "range";
/// The string has more bytes than the field allows.
pub const TOO_LONG: &str = "too_long";
/// The list or object has more items than allowed, or more was found wrong than is listed.
pub const TOO_MANY: &str = "too_many";
/// The field `convoke` names a version of the format that we do not read.
pub const UNSUPPORTED_VERSION: &str = "unsupported_version";

/// Warning: `to` is one string instead of a list.
pub const BARE_RECIPIENT: &str = "bare_recipient";
/// Warning: the deadline lies before the message was created.
pub const DEADLINE_BEFORE_CREATED: &str = "deadline_before_created";
/// Warning: the message expires before it was created.
pub const EXPIRES_BEFORE_CREATED: &str = "expires_before_created";
/// Warning: `id` is a UUID of another version than 7, so it says nothing about time.
pub const ID_NOT_V7: &str = "id_not_v7";
/// Warning: the origin's document does not have the digest that is stated beside it.
pub const ORIGIN_MISMATCH: &str = "origin_mismatch";
