//! The text of a document that can be searched: what people and agents wrote, whatever the dialect.

use json::{Limits, Value};
use message::Envelope;

use crate::words;

/// Members that hold another document as it came; its words are not this message's own.
const ORIGINS: [&str; 2] = ["x_origin", "xOrigin"];

/// Between two strings of a document, so that no phrase goes over from one to the next.
const BETWEEN: &str = "\n";

/// Returns the text of a body that can be searched: every string of the document, one below the other.
pub fn text(body: &[u8]) -> String {
    let mut text = String::new();
    visit(body, &mut |string| {
        if !text.is_empty() {
            text.push_str(BETWEEN);
        }
        text.push_str(string);
    });
    text
}

/// Puts the words of a body into a buffer, with blanks between.
pub(crate) fn words_of(body: &[u8], out: &mut String) {
    out.clear();
    visit(body, &mut |string| {
        words::each(string, |word, _| {
            out.push_str(word);
            out.push(' ');
        });
    });
}

/// Returns the words of each string of a body.
pub(crate) fn lines_of(body: &[u8]) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    visit(body, &mut |string| lines.push(words::of(string)));
    lines
}

fn visit(body: &[u8], visit: &mut dyn FnMut(&str)) {
    let document = Envelope::open(body).map_or(body, |envelope| envelope.document);
    let limits = Limits { bytes_max: usize::MAX, ..Limits::DOCUMENT };
    match json::parse(document, limits) {
        Ok(value) => strings(&value, visit),
        // Not every document is JSON; then all of it is text.
        Err(_) => visit(&String::from_utf8_lossy(document)),
    }
}

/// Visits every string of a value. The parser limits the depth.
fn strings(value: &Value<'_>, visit: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, visit)),
        Value::Object(object) => {
            for (key, member) in object.iter().filter(|(key, _)| !ORIGINS.contains(key)) {
                match member.as_object() {
                    // Our own dialect has the foreign document in its origin.
                    Some(origin) if key == "origin" => origin
                        .iter()
                        .filter(|(key, _)| *key != "document")
                        .for_each(|(_, member)| strings(member, visit)),
                    Some(_) | None => strings(member, visit),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
