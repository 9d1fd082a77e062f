//! Speech: what a message says beyond the fields of a wire, in words, so that its reader misses nothing.

use std::borrow::Cow;

use dialect::{cut_to_bytes, cut_to_words, words};
use json::Value;
use message::{
    Address, Attachment, Brief, Failure, Gate, Handoff, Message, Presence, TaskId, Uri, WrittenTimestamp,
};

/// Bytes of a structured value that are shown in a text; the whole is in the origin.
const SHOWN_BYTES_MAX: usize = 2_000;
/// Words that the mark of a cut leaves too little room for.
const WORDS_MIN: usize = 8;

/// What stands in a field that holds prose.
pub(crate) struct Speech {
    /// The whole.
    pub(crate) visible: String,
    /// Whether it says more than the text of the message, which stands in it word for word.
    pub(crate) is_more_than_text: bool,
}

/// Says a text and parts beside it, in at most so many words; the parts give way first.
pub(crate) fn speech(text: Option<&str>, parts: &[String], words_max: Option<usize>) -> Speech {
    let text = text.unwrap_or_default();
    let mut visible = text.to_owned();
    for part in parts {
        // What was translated back and forth already says it.
        if !visible.contains(part.as_str()) {
            visible.push_str(if visible.is_empty() { "" } else { "\n\n" });
            visible.push_str(part);
        }
    }
    if let Some(words_max) = words_max.filter(|words_max| words(&visible) > *words_max) {
        let room = words_max.saturating_sub(words(text));
        visible = match visible.get(text.len()..).filter(|_| words(text) <= words_max) {
            Some(rest) if room >= WORDS_MIN && !text.is_empty() => {
                format!("{text}\n\n{}", cut_to_words(rest, room))
            }
            Some(_) if !text.is_empty() => text.to_owned(),
            Some(_) | None => cut_to_words(&visible, words_max).into_owned(),
        };
    }
    let is_more_than_text = !text.is_empty() && visible != text && visible.contains(text);
    Speech { visible, is_more_than_text }
}

/// Says what has no field in any wire; so many attachments were said before.
pub(crate) fn common_parts(message: &Message, attachments_said: usize) -> Vec<String> {
    let mut parts = Vec::new();
    let mut say = |name: &str, value: Option<Cow<'_, str>>| {
        if let Some(value) = value.filter(|value| !value.trim().is_empty()) {
            parts.push(format!("{name}: {value}"));
        }
    };
    say("Handoff", message.handoff.as_deref().and_then(handoff).map(Cow::Owned));
    say("Code", message.code.as_deref().map(|code| Cow::Owned(format!("\n{code}"))));
    say("Data", message.data.as_ref().map(shown));
    say(
        "Attachments",
        listed(
            message
                .attachments
                .iter()
                .skip(attachments_said)
                .map(|attachment: &Attachment| attachment.uri.as_str()),
        ),
    );
    say("References", listed(message.refs.iter().chain(&message.blob).map(Uri::as_str)));
    say("Deadline", message.deadline.as_ref().map(WrittenTimestamp::text).map(Cow::Borrowed));
    let copies = message.to.iter().skip(1).map(Address::to_string).collect::<Vec<_>>();
    say("Also to", listed(copies.iter().map(String::as_str)));
    parts
}

/// Says the outcome of work.
pub(crate) fn result_part(message: &Message) -> Option<String> {
    let result = message.result.as_ref()?;
    let said_elsewhere = |key: &str| matches!(key, "verification" | "agent");
    if result.as_object().is_some_and(|object| object.iter().all(|(key, _)| said_elsewhere(key))) {
        return None;
    }
    Some(format!("Result: {}", shown(result)))
}

/// Says what went wrong, how the sender is and what was decided, for messages that have no fields for it.
pub(crate) fn state_parts(message: &Message) -> Vec<String> {
    let error = message.error.as_deref().and_then(error_part);
    let presence = message.presence.as_deref().map(presence_part);
    let gate = message.gate.as_deref().and_then(gate_part);
    let status = message.status.map(|status| format!("Status: {status}"));
    [gate, status, error, presence, result_part(message)].into_iter().flatten().collect()
}

/// Says what a brief demands beyond the fields of a wire's.
pub(crate) fn brief_parts(brief: &Brief, is_output_shown: bool) -> Vec<String> {
    let dependencies = listed(brief.dependencies.iter().map(TaskId::as_str));
    let output = brief.output.as_ref().filter(|_| !is_output_shown).map(shown);
    let task_type = brief.task_type.as_deref().map(Cow::Borrowed);
    [("Type of task", task_type), ("After tasks", dependencies), ("Output", output)]
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name}: {}", value?)))
        .collect()
}

/// Shows a value in a text: a string as it is, anything else as JSON.
pub(crate) fn shown<'v>(value: &'v Value<'_>) -> Cow<'v, str> {
    match value.as_str() {
        Some(text) => cut_to_bytes(text, SHOWN_BYTES_MAX),
        None => Cow::Owned(cut_to_bytes(&value.to_string(), SHOWN_BYTES_MAX).into_owned()),
    }
}

/// Says an error; its code and message stand in it word for word.
fn error_part(error: &Failure) -> Option<String> {
    let code = error.code.as_deref().unwrap_or_default();
    let message = error.message.as_deref().unwrap_or_default();
    let said = match (code.is_empty(), message.is_empty()) {
        (true, true) => return actions_part(error),
        (false, true) => format!("Error {code}"),
        (true, false) => format!("Error: {message}"),
        (false, false) => format!("Error {code}: {message}"),
    };
    Some(actions_part(error).map_or(said.clone(), |actions| format!("{said}\n\n{actions}")))
}

fn actions_part(error: &Failure) -> Option<String> {
    listed(error.actions.iter().map(String::as_str)).map(|actions| format!("Suggested: {actions}"))
}

fn presence_part(presence: &Presence) -> String {
    let sub = presence.sub.as_deref().map_or(String::new(), |sub| format!(" ({sub})"));
    let tasks = listed(presence.tasks.iter().map(TaskId::as_str));
    let tasks = tasks.map_or(String::new(), |tasks| format!(", tasks {tasks}"));
    format!("Agent: {}{sub}{tasks}", presence.state)
}

fn gate_part(gate: &Gate) -> Option<String> {
    let decision = gate.decision.map(|decision| decision.name());
    match (decision, gate.reason.as_deref()) {
        (None, None) => None,
        (Some(decision), None) => Some(format!("Decision: {decision}")),
        (Some(decision), Some(reason)) => Some(format!("Decision: {decision} ({reason})")),
        (None, Some(reason)) => Some(format!("Reason: {reason}")),
    }
}

fn handoff(handoff: &Handoff) -> Option<String> {
    let state = handoff.state.as_ref().map(shown);
    match (handoff.reason.as_deref(), state) {
        (None, None) => None,
        (Some(reason), None) => Some(reason.to_owned()),
        (None, Some(state)) => Some(state.into_owned()),
        (Some(reason), Some(state)) => Some(format!("{reason}; {state}")),
    }
}

fn listed<'v>(items: impl Iterator<Item = &'v str>) -> Option<Cow<'static, str>> {
    let items: Vec<&str> = items.collect();
    (!items.is_empty()).then(|| Cow::Owned(items.join(", ")))
}
