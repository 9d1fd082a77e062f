//! Our own fields in `metadata`: what the channel has no words for, so that readers need not open the origin.
//!
//! Each holds what the canonical message holds. One that does not is somebody else's: it is kept, not read.

use dialect::{Codec, Draft, Lens, get};
use json::{Finding, Findings, Object, Source, Value};
use message::Kind;
use message::limits::{ID_BYTES_MAX, RECIPIENTS_MAX};

use crate::codes;

/// The kind, where the type alone does not tell it.
pub(crate) const KIND: &str = "/metadata/x_kind";
/// The recipients, where `to` cannot name them.
pub(crate) const TO: &str = "/metadata/x_to";
/// The conversation, where it cannot name a channel.
pub(crate) const THREAD: &str = "/metadata/x_thread";
/// The head of the text that the message itself does not have: mentions, title, error.
pub(crate) const LEAD: &str = "/metadata/x_lead";

/// How the agent is, where the words of a heartbeat do not say all.
pub(crate) const PRESENCE: &str = "/metadata/x_presence";

/// The fields of messages.
pub(crate) const OF_MESSAGES: &[Lens] = &[
    same("/metadata/x_priority", "/priority"),
    same("/metadata/x_severity", "/severity"),
    same("/metadata/x_task", "/task"),
    same("/metadata/x_title", "/title"),
    same("/metadata/x_status", "/status"),
    same("/metadata/x_error", "/error"),
    same("/metadata/x_deadline", "/deadline"),
    same("/metadata/x_expires", "/expires"),
    same("/metadata/x_correlation", "/correlation"),
    same("/metadata/x_data", "/data"),
    same("/metadata/x_schema", "/schema"),
    same("/metadata/x_mime", "/mime"),
    same("/metadata/x_blob", "/blob"),
    same("/metadata/x_refs", "/refs"),
    same("/metadata/x_result", "/result"),
    same("/metadata/x_metrics", "/metrics"),
    same("/metadata/x_brief", "/brief"),
    same("/metadata/x_gate", "/gate"),
    same("/metadata/x_handoff", "/handoff"),
    same(PRESENCE, "/presence"),
];

/// The fields of heartbeats, which have no text of their own; presence is read apart.
pub(crate) const OF_HEARTBEATS: &[Lens] = &[
    same("/metadata/x_priority", "/priority"),
    same("/metadata/x_severity", "/severity"),
    same("/metadata/x_task", "/task"),
    same("/metadata/x_title", "/title"),
    same("/metadata/x_text", "/text"),
    same("/metadata/x_status", "/status"),
    same("/metadata/x_error", "/error"),
    same("/metadata/x_metrics", "/metrics"),
    same("/metadata/x_data", "/data"),
];

/// What a document says in our own fields that decide where it goes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Told<'v> {
    pub(crate) kind: Option<Kind>,
    pub(crate) to: Option<&'v [Value<'v>]>,
    pub(crate) thread: Option<&'v str>,
}

impl<'v> Told<'v> {
    /// Reads those that hold what they should, without allocating.
    pub(crate) fn of(document: &'v Object<'v>) -> Self {
        let Some(metadata) = document.get("metadata").and_then(Value::as_object) else {
            return Told::default();
        };
        let text = |key: &str| metadata.get(key).and_then(Value::as_str);
        let to = metadata.get("x_to").and_then(Value::as_array);
        Told {
            kind: text("x_kind").and_then(Kind::from_name),
            to: to.filter(|to| is_recipients(to)),
            thread: text("x_thread").filter(|thread| is_id(thread)),
        }
    }
}

/// Reads every field that holds what it should into the message.
pub(crate) fn read(draft: &mut Draft<'_>, lenses: &[Lens]) {
    if are_all_readable(draft.document(), lenses) {
        return draft.read(lenses);
    }
    for lens in lenses {
        if let Some(value) = get(draft.document(), lens.native)
            && is_readable(lens.canonical, value)
        {
            draft.read(std::slice::from_ref(lens));
        }
    }
}

/// Warns of the fields that do not hold what they should.
pub(crate) fn check(document: &Object<'_>, lenses: &[Lens], warnings: &mut Findings) {
    let Some(metadata) = document.get("metadata").and_then(Value::as_object) else { return };
    if !metadata.iter().any(|(key, _)| key.starts_with("x_")) {
        return;
    }
    let mut warn = |native: &str| {
        let message =
            "the field has a name of ours but another form: it is kept and means nothing".to_owned();
        let (path, source) = (native.to_owned(), Source::Rule);
        warnings.add(Finding { path, code: codes::EXTENSION, source, message });
    };
    if !are_all_readable(document, lenses) {
        for lens in lenses {
            if get(document, lens.native).is_some_and(|value| !is_readable(lens.canonical, value)) {
                warn(lens.native);
            }
        }
    }
    let wrong = |native: &str, is_right: fn(&Value<'_>) -> bool| {
        get(document, native).is_some_and(|value| !is_right(value))
    };
    if wrong(KIND, |value| value.as_str().and_then(Kind::from_name).is_some()) {
        warn(KIND);
    }
    if wrong(TO, |value| value.as_array().is_some_and(is_recipients)) {
        warn(TO);
    }
    if wrong(THREAD, |value| value.as_str().is_some_and(is_id)) {
        warn(THREAD);
    }
}

/// Tells whether the canonical message takes a value in that field.
pub(crate) fn is_readable(canonical: &str, value: &Value<'_>) -> bool {
    let probe = [(&canonical[1..], value.clone())].into_iter().collect();
    is_message(probe)
}

/// Tells whether the canonical message takes every field that the lenses find: asked once for all of them,
/// because it almost always does.
fn are_all_readable(document: &Object<'_>, lenses: &[Lens]) -> bool {
    let mut probe = Object::new();
    for lens in lenses {
        if let Some(value) = get(document, lens.native)
            && probe.insert(&lens.canonical[1..], value.clone()).is_some()
        {
            return false;
        }
    }
    probe.is_empty() || is_message(probe)
}

/// Tells whether fields make a message, with what else a message needs.
fn is_message(mut probe: Object<'_>) -> bool {
    let demanded = [
        ("kind", Value::from("note")),
        ("from", Value::from("system")),
        ("to", Value::Array(vec![Value::from("system")])),
    ];
    for (key, value) in demanded {
        if !probe.contains_key(key) {
            probe.insert(key, value);
        }
    }
    message::from_value(Value::Object(probe)).is_ok()
}

/// Tells whether a text can be the id of a message, task or conversation.
pub(crate) fn is_id(text: &str) -> bool {
    !text.is_empty() && text.len() <= ID_BYTES_MAX && !text.contains(char::is_control)
}

fn is_recipients(list: &[Value<'_>]) -> bool {
    !list.is_empty() && list.len() <= RECIPIENTS_MAX && list.iter().all(|item| item.as_str().is_some())
}

const fn same(native: &'static str, canonical: &'static str) -> Lens {
    Lens { native, canonical, codec: Codec::Same }
}
