//! Stand-ins: slugs, task ids and message ids for what has none in a wire, the same every time.

use json::{Object, Value, write_string};
use message::{Sha256, TASK_NUMBERS};

use crate::syntax::{is_slug_character, is_task_id};

/// Hexadecimal digits of an id made from the content.
const WIRE_ID_DIGITS: usize = 16;

/// Returns the id of a wire: its `wire_id`, else the head of the digest of its content, whatever the order of keys.
pub fn wire_id(document: &Object<'_>) -> String {
    match document.get("wire_id").and_then(Value::as_str) {
        Some(id) if !id.is_empty() => id.to_owned(),
        Some(_) | None => {
            let mut text = String::new();
            write_sorted_object(&mut text, document);
            Sha256::of(text.as_bytes()).to_string()[..WIRE_ID_DIGITS].to_owned()
        }
    }
}

/// Makes the slug of an agent or an address: lower case, other characters as hyphens, a letter first.
pub(crate) fn slug(name: &str) -> String {
    let name = name.split_once("://").map_or(name, |(_, path)| path);
    let kept = |letter: char| Some(letter.to_ascii_lowercase()).filter(|letter| is_slug_character(*letter));
    let slug: String = name.chars().map(|letter| kept(letter).unwrap_or('-')).collect();
    if slug.starts_with(|first: char| first.is_ascii_lowercase()) { slug } else { format!("agent-{slug}") }
}

/// Makes what stands in `to_agent` for an address: a slug for an agent, and what is nearest for others.
pub(crate) fn recipient(address: &str) -> String {
    match address.strip_prefix('#') {
        Some(topic) => format!("topic:{topic}"),
        // A session is told by the exact address beside; the agent is who is meant.
        None => slug(address.split_once('#').map_or(address, |(agent, _)| agent)),
    }
}

/// Makes the id of a topic for a task that has another sort of id.
pub fn task_id(task: &str) -> String {
    if is_task_id(task) { task.to_owned() } else { format!("0.0.{}", message::task_number(task)) }
}

/// Returns the number by which an id stands in for the name of a task, if it does.
pub fn stand_in_number(id: &str) -> Option<u64> {
    let number = id.strip_prefix("0.0.")?.parse().ok()?;
    TASK_NUMBERS.contains(&number).then_some(number)
}

/// Tells whether an id is the one that stands in for a task.
pub(crate) fn stands_for(id: &str, task: &str) -> bool {
    id == task || stand_in_number(id) == Some(message::task_number(task))
}

fn write_sorted(out: &mut String, value: &Value<'_>) {
    match value {
        Value::Object(object) => write_sorted_object(out, object),
        Value::Array(items) => {
            out.push('[');
            for (nth, item) in items.iter().enumerate() {
                if nth > 0 {
                    out.push(',');
                }
                write_sorted(out, item);
            }
            out.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            out.push_str(&value.to_string());
        }
    }
}

fn write_sorted_object(out: &mut String, object: &Object<'_>) {
    let mut members: Vec<_> = object.iter().collect();
    members.sort_by_key(|(key, _)| *key);
    out.push('{');
    for (nth, (key, value)) in members.into_iter().enumerate() {
        if nth > 0 {
            out.push(',');
        }
        write_string(out, key).expect("writing to a string does not fail");
        out.push(':');
        write_sorted(out, value);
    }
    out.push('}');
}
