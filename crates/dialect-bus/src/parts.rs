//! The parts of a document that several files look at, found without allocating.

use json::{Object, Value};
use message::limits::ID_BYTES_MAX;

/// What a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// An `AgentMessage`.
    Message,
    /// An `AgentDescriptor`.
    Descriptor,
    /// An `AgentRegistration`.
    Registration,
    /// A `HealthStatus`.
    Health,
}

/// Tells what a document is by the fields that only it has.
pub(crate) fn form(document: &Object<'_>) -> Option<Form> {
    let has = |key| document.contains_key(key);
    if has("message_id") || has("message_type") {
        return Some(Form::Message);
    }
    if has("agent_descriptor") {
        return Some(Form::Registration);
    }
    // An agent card of another dialect has capabilities too, and says its version.
    if !has("agent_id") || has("card_version") {
        return None;
    }
    if has("capabilities") || has("endpoints") {
        return Some(Form::Descriptor);
    }
    ["last_check", "response_time", "active_sessions"].into_iter().any(has).then_some(Form::Health)
}

/// Returns a member that is an object.
pub(crate) fn part<'v, 'a>(document: &'v Object<'a>, key: &str) -> Option<&'v Object<'a>> {
    document.get(key).and_then(Value::as_object)
}

/// Returns a member that is a string.
pub(crate) fn text<'v>(object: &'v Object<'_>, key: &str) -> Option<&'v str> {
    object.get(key).and_then(Value::as_str)
}

/// Returns a string inside of a part.
pub(crate) fn text_in<'v>(document: &'v Object<'_>, name: &str, key: &str) -> Option<&'v str> {
    part(document, name).and_then(|inner| text(inner, key))
}

/// Returns the message that this one answers.
pub(crate) fn reply_to<'v>(document: &'v Object<'_>) -> Option<&'v str> {
    first_id(document, &[("metadata", "in_reply_to"), ("metadata", "original_message_id")])
}

/// Returns the task about which a message speaks; adapters write it into the payload.
pub(crate) fn task<'v>(document: &'v Object<'_>) -> Option<&'v str> {
    first_id(document, &[("metadata", "task_id"), ("payload", "task_id")])
}

/// Returns a number that cannot be negative.
pub(crate) fn count(object: &Object<'_>, key: &str) -> Option<i64> {
    object.get(key).and_then(Value::as_integer).filter(|count| *count >= 0)
}

/// Tells whether a text can name something: not empty, not too long, on one line.
pub(crate) fn is_id(text: &str) -> bool {
    !text.is_empty() && text.len() <= ID_BYTES_MAX && !text.chars().any(char::is_control)
}

/// Returns the scheme of an agent's id that is a URI; any other id is opaque.
pub(crate) fn scheme(agent_id: &str) -> Option<&str> {
    let (scheme, _) = agent_id.split_once("://")?;
    let is_next = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'+' | b'.' | b'-');
    (scheme.starts_with(|first: char| first.is_ascii_lowercase()) && scheme.bytes().all(is_next))
        .then_some(scheme)
}

fn first_id<'v>(document: &'v Object<'_>, places: &[(&str, &str)]) -> Option<&'v str> {
    places.iter().filter_map(|(name, key)| text_in(document, name, key)).find(|text| is_id(text))
}
