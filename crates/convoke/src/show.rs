//! A message as people and coding agents read it: a heading of ours, then what the sender wrote, each line marked.
//!
//! The mark in front of every line says where the sender's words begin and end; nothing that a sender writes can look
//! like a line of ours.

use dialect::{Name, Names};
use json::{Limits, Value};
use translate::{Carry, Options, Reports};

use crate::screen;

/// In front of every line that somebody else wrote.
const MARK: &str = "  | ";
/// A URI that holds its content is shown only by its beginning.
const URI_CHARS_MAX: usize = 80;

/// Returns what a document says, whatever its dialect, one marked line each.
pub(crate) fn content(document: &Value<'_>, dialect: Option<Name>) -> Vec<String> {
    let lines = match dialect {
        Some(Name::Convoke) => said(document),
        Some(other) => canonical(document, other),
        None => vec![document.to_json()],
    };
    lines.iter().flat_map(|text| screen::lines(text)).map(|line| format!("{MARK}{line}")).collect()
}

/// Returns a document as it is, marked.
pub(crate) fn verbatim(document: &Value<'_>) -> Vec<String> {
    screen::lines(&document.to_json()).map(|line| format!("{MARK}{line}")).collect()
}

/// Returns the words about a message that stand in its heading: kind, priority, task, thread.
pub(crate) fn heading(document: &Value<'_>) -> String {
    let text = |key: &str| document.get(key).and_then(Value::as_str).map(screen::line);
    let mut words: Vec<String> = Vec::new();
    words.extend(text("kind"));
    words.extend(text("priority").filter(|priority| priority != "normal"));
    for key in ["task", "thread", "reply_to", "expires"] {
        words.extend(text(key).map(|value| format!("{} {value}", key.replace('_', " "))));
    }
    words.join(", ")
}

fn canonical(document: &Value<'_>, dialect: Name) -> Vec<String> {
    let names = Names::default();
    let (names, limits) = (&names, Limits::DOCUMENT);
    let options = Options {
        names,
        limits,
        carry: Carry::Nothing,
        reports: Reports::Unwanted,
        trusts: &|_| false,
        seals: None,
        came: None,
        to: None,
    };
    let text = document.to_json();
    let Ok(translation) = translate::translate_parsed(&text, document, dialect, Name::Convoke, &options)
    else {
        return vec![text];
    };
    match json::parse(translation.text.as_bytes(), limits) {
        Ok(translated) => said(&translated),
        Err(_) => vec![text],
    }
}

/// What a canonical message says.
fn said(document: &Value<'_>) -> Vec<String> {
    let text = |key: &str| document.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut lines: Vec<String> = Vec::new();
    lines.extend(text("title"));
    lines.extend(text("text").filter(|said| text("title").as_ref() != Some(said)));
    lines.extend(text("code"));
    for key in ["data", "result", "error", "status", "gate", "brief", "handoff", "presence"] {
        match document.get(key) {
            None | Some(Value::Null) => {}
            Some(Value::String(word)) => lines.push(format!("{key}: {word}")),
            Some(value) => lines.push(format!("{key}: {}", value.to_json())),
        }
    }
    let attachments = document.get("attachments").and_then(Value::as_array).unwrap_or_default();
    lines.extend(attachments.iter().map(attachment));
    let refs = document.get("refs").and_then(Value::as_array).unwrap_or_default();
    lines.extend(refs.iter().filter_map(Value::as_str).map(|uri| format!("see: {uri}")));
    lines
}

fn attachment(attachment: &Value<'_>) -> String {
    let text = |key: &str| attachment.get(key).and_then(Value::as_str);
    let size = attachment.get("size").and_then(Value::as_integer).map(|size| format!("{size} bytes"));
    let about: Vec<String> = text("mime").map(str::to_owned).into_iter().chain(size).collect();
    let uri = screen::cut(text("uri").unwrap_or_default(), URI_CHARS_MAX);
    format!("attachment: {} ({}) {uri}", text("name").unwrap_or("without a name"), about.join(", "))
}
