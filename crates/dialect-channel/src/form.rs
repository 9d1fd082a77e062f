//! Which of the dialect's documents a document is.

use dialect::Interface;
use json::{Object, Value};

use crate::file_name::FileName;
use crate::interfaces;

/// The sorts of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A message.
    Message,
    /// A heartbeat of a watcher or a daemon.
    Heartbeat,
    /// A heartbeat of a poller.
    Poller,
    /// A typing indicator.
    Typing,
    /// An entry of the registry.
    Registration,
}

/// Fields by which the other dialects are known.
#[rustfmt::skip]
const FOREIGN: &[&str] = &[
    "$type", "kind", "wire", "card_version", "payload", "message_id", "message_type", "operation", "task_registry",
];

impl Form {
    /// Tells what a document is, taking it for a message where nothing else fits.
    pub(crate) fn of(document: &Object<'_>) -> Self {
        let has = |key: &str| document.contains_key(key);
        if has("content") || has("session_id") || has("from") {
            return Form::Message;
        }
        if has("agent_id") {
            return Form::Heartbeat;
        }
        if has("agent") && (has("status") || has("session")) {
            let typing = status(document) == Some("typing") || has("ttl_ms");
            return if typing { Form::Typing } else { Form::Poller };
        }
        if has("provider") && (has("model") || has("id")) { Form::Registration } else { Form::Message }
    }

    /// Returns what is said about its fields.
    pub(crate) fn interface(self) -> &'static Interface {
        match self {
            Form::Message => &interfaces::MESSAGE,
            Form::Heartbeat => &interfaces::HEARTBEAT,
            Form::Poller => &interfaces::POLLER_HEARTBEAT,
            Form::Typing => &interfaces::TYPING_INDICATOR,
            Form::Registration => &interfaces::AGENT_REGISTRATION,
        }
    }
}

/// Tells whether a document looks like one of this dialect, also where parts of it are missing.
pub(crate) fn recognizes(document: &Object<'_>) -> bool {
    let has = |key: &str| document.contains_key(key);
    if has("session_id") && has("content") {
        return true;
    }
    if FOREIGN.iter().any(|key| has(key)) {
        return false;
    }
    let spoken = document.get("content").is_some_and(|content| content.get("text").is_some());
    let named = document.get("id").and_then(Value::as_str).is_some_and(|id| FileName::parse(id).is_some());
    let message = (has("session_id") && (has("from") || has("to"))) || (spoken && has("from")) || named;
    let heartbeat = has("agent_id") && (has("state") || has("substate") || has("watcher_pid"));
    let poller = has("session") && matches!(status(document), Some("active" | "typing"));
    let registration = has("provider") && has("model") && has("id");
    message || heartbeat || poller || registration
}

fn status<'v>(document: &'v Object<'_>) -> Option<&'v str> {
    document.get("status").and_then(Value::as_str)
}
