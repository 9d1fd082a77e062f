//! Extensions: fields of ours in the payload, for what a wire cannot say in its own fields.
//!
//! A wire is read by people and programs who know nothing of them, so everything is also said in the fields of
//! the specification as well as they can. Where both say something, the extension is the exact form of it; one
//! that no longer agrees with the visible field is passed over, because somebody has edited what he saw.

/// The kind, where the type of the wire means another.
pub(crate) const KIND: &str = "x_kind";
/// The sender, where it is not a slug.
pub(crate) const FROM: &str = "x_from";
/// The recipients as a list of addresses.
pub(crate) const TO: &str = "x_to";
/// The id of the task, where it is not one of the ledger.
pub(crate) const TASK: &str = "x_task";
/// The message that is answered.
pub(crate) const REPLY_TO: &str = "x_reply_to";
/// The title, where no field holds it exactly.
pub(crate) const TITLE: &str = "x_title";
/// The text, where no field holds it alone.
pub(crate) const TEXT: &str = "x_text";
/// The priority as a word.
pub(crate) const PRIORITY: &str = "x_priority";
/// How bad it is.
pub(crate) const SEVERITY: &str = "x_severity";
/// How far the task is.
pub(crate) const STATUS: &str = "x_status";
/// By when it is wanted.
pub(crate) const DEADLINE: &str = "x_deadline";
/// When it is no longer wanted.
pub(crate) const EXPIRES: &str = "x_expires";
/// The exact code of an error.
pub(crate) const ERROR_CODE: &str = "x_error_code";
/// The exact message of an error.
pub(crate) const ERROR_MESSAGE: &str = "x_error_message";
/// What was decided at a gate.
pub(crate) const DECISION: &str = "x_decision";
