//! What a message says to people who read the channel: its text, and before it what the text leaves out.
//!
//! The lead holds mentions, so that watchers react, the title, and what went wrong. Where a message has no text
//! the lead is made of what else is known. It also travels by itself, so that a reader can take it off again.

use dialect::{Names, cut_to_bytes};
use json::Value;
use message::{Address, Failure, Kind, Message};

use crate::addressing::{base_id, mentions};
use crate::encode::id_of;

/// Agents that one message mentions; more are in our own field.
const MENTIONS_MAX: usize = 16;
/// Bytes of a value or a list of files that is shown in a text.
const SHOWN_BYTES_MAX: usize = 1_000;

/// A text in two parts.
#[derive(Debug)]
pub(crate) struct Said<'m> {
    /// What we put before it.
    pub(crate) lead: String,
    /// The message's own text.
    pub(crate) body: &'m str,
    /// The field of the message that most of it comes from.
    pub(crate) from: Option<&'static str>,
}

/// Makes the text.
pub(crate) fn say<'m>(message: &'m Message, names: &Names) -> Said<'m> {
    let body = message.text.as_deref().unwrap_or_default();
    let (head, from) = if body.is_empty() { made(message) } else { (beside(message, body), Some("/text")) };
    let mut lead = String::new();
    let present: Vec<&str> = mentions(&head).into_iter().chain(mentions(body)).collect();
    for agent in mentioned(message, names) {
        if !present.contains(&agent.as_str()) {
            lead.push_str(&format!("@{agent} "));
        }
    }
    lead.push_str(&head);
    if body.is_empty() {
        lead.truncate(lead.trim_end().len());
    }
    Said { lead, body, from }
}

/// Lists whom the text must mention: those of whom something is wanted, and all where `to` cannot name them.
fn mentioned(message: &Message, names: &Names) -> Vec<String> {
    let is_wanted =
        matches!(message.kind, Kind::TaskRequest | Kind::HelpAsk | Kind::Question | Kind::HandoffOffer);
    if message.to.len() == 1 && !is_wanted {
        return Vec::new();
    }
    let agents = message.to.iter().filter_map(|address| match address {
        Address::Agent(agent) => Some(id_of(agent, names)),
        Address::Session { agent, .. } => Some(base_id(agent.as_str()).to_owned()),
        Address::Role(_) | Address::Topic(_) | Address::Channel(_) | Address::All => None,
    });
    let mut found: Vec<String> = Vec::new();
    for agent in agents.filter(|agent| agent != "human" && agent != "system") {
        if found.len() < MENTIONS_MAX && !found.contains(&agent) {
            found.push(agent);
        }
    }
    found
}

/// Says what a text leaves out.
fn beside(message: &Message, body: &str) -> String {
    let title = message.title.as_deref().filter(|title| !title.is_empty() && !body.starts_with(title));
    let error = message.error.as_deref().filter(|error| !tells(body, error)).and_then(went_wrong);
    let head: Vec<&str> = [title, error.as_deref()].into_iter().flatten().collect();
    match (head.is_empty(), error.is_some()) {
        (true, _) => String::new(),
        (false, false) => format!("{}: ", head.join(": ")),
        (false, true) => format!("{}\n\n", head.join(": ")),
    }
}

/// Makes a text of what else is known, and tells of which field.
fn made(message: &Message) -> (String, Option<&'static str>) {
    let title = message.title.clone().filter(|title| !title.is_empty());
    let task_type = message.brief.as_ref().and_then(|brief| brief.task_type.clone());
    let subject = title.or(task_type.filter(|task_type| !task_type.is_empty())).or_else(|| named(message));
    let from = if message.title.is_some() { "/title" } else { "/kind" };
    let parts = [
        subject,
        message.error.as_deref().and_then(went_wrong),
        files(message),
        decided(message),
        message.handoff.as_ref().and_then(|handoff| handoff.reason.clone()),
        message.result.as_ref().and_then(shown),
    ];
    let mut parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        parts.extend(message.data.as_ref().and_then(shown));
    }
    let from = (!parts.is_empty()).then_some(from);
    (parts.join(": "), from)
}

/// Names what the message is and about which task, unless it is just something said.
fn named(message: &Message) -> Option<String> {
    let task = message.task.as_ref().map(|task| task.as_str());
    let state = message.presence.as_ref().map(|presence| presence.state.name());
    match (message.kind, task.or(state)) {
        (Kind::Note | Kind::Announce, None) => None,
        (kind, None) => Some(kind.name().to_owned()),
        (kind, Some(what)) => Some(format!("{kind} {what}")),
    }
}

fn files(message: &Message) -> Option<String> {
    let files: Vec<&str> = message.attachments.iter().map(|attachment| attachment.uri.as_str()).collect();
    (!files.is_empty()).then(|| cut_to_bytes(&files.join(", "), SHOWN_BYTES_MAX).into_owned())
}

fn decided(message: &Message) -> Option<String> {
    let gate = message.gate.as_deref()?;
    let decision = gate.decision.map(|decision| decision.name().to_owned());
    let parts: Vec<String> = [decision, gate.reason.clone()].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(": "))
}

fn went_wrong(error: &Failure) -> Option<String> {
    match (error.code.as_deref(), error.message.as_deref()) {
        (None, None) => None,
        (None, Some(message)) => Some(format!("error: {message}")),
        (Some(code), None) => Some(format!("error {code}")),
        (Some(code), Some(message)) => Some(format!("error {code}: {message}")),
    }
}

fn tells(body: &str, error: &Failure) -> bool {
    let tells = |part: &Option<String>| part.as_deref().is_none_or(|part| body.contains(part));
    tells(&error.code) && tells(&error.message)
}

fn shown(value: &Value<'_>) -> Option<String> {
    let text = match value {
        Value::Null => return None,
        Value::String(text) => text.to_string(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    };
    Some(cut_to_bytes(&text, SHOWN_BYTES_MAX).into_owned())
}
