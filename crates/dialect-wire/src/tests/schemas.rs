//! The JSON Schemas in `definitions/wire` say what the interfaces say. `UPDATE_VECTORS=1` rewrites them.

use std::fmt::Write;
use std::fs;

use dialect::{Interface, json_schema};
use json::{Value, write_string};

use crate::interfaces::{
    AGENT_CARD, AVAILABLE, AVAILABLE_WIRE, BLOCKED, BLOCKED_WIRE, BRIEF, BRIEF_WIRE, CLAIM, CLAIM_WIRE,
    COMPLETE, COMPLETE_WIRE, INBOX, INBOX_WIRE, OUTPUT_CONTRACT, POINTER, WIRE,
};

static INTERFACES: &[&Interface] = &[
    &WIRE,
    &BRIEF_WIRE,
    &BRIEF,
    &OUTPUT_CONTRACT,
    &INBOX_WIRE,
    &INBOX,
    &COMPLETE_WIRE,
    &COMPLETE,
    &BLOCKED_WIRE,
    &BLOCKED,
    &CLAIM_WIRE,
    &CLAIM,
    &AVAILABLE_WIRE,
    &AVAILABLE,
    &POINTER,
    &AGENT_CARD,
];

#[test]
fn schemas_are_those_of_the_interfaces() {
    let folder = testkit::root().join("definitions/wire");
    let update = std::env::var_os("UPDATE_VECTORS").is_some();
    for interface in INTERFACES {
        let path = folder.join(format!("{}.json", kebab(interface.name)));
        let mut text = String::new();
        pretty(&json_schema(interface), 0, &mut text);
        text.push('\n');
        if update {
            fs::write(&path, text).unwrap();
        } else {
            assert_eq!(testkit::read(&path), text, "{}: run with UPDATE_VECTORS=1", path.display());
        }
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), INTERFACES.len(), "a schema without its interface");
}

fn kebab(name: &str) -> String {
    let mut kebab = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !kebab.is_empty() {
            kebab.push('-');
        }
        kebab.push(letter.to_ascii_lowercase());
    }
    kebab
}

fn pretty(value: &Value<'_>, depth: usize, out: &mut String) {
    let line = |out: &mut String, depth: usize| write!(out, "\n{}", "  ".repeat(depth)).unwrap();
    match value {
        Value::Object(object) if !object.is_empty() => {
            out.push('{');
            for (nth, (key, value)) in object.iter().enumerate() {
                out.push_str(if nth > 0 { "," } else { "" });
                line(out, depth + 1);
                write_string(out, key).unwrap();
                out.push_str(": ");
                pretty(value, depth + 1, out);
            }
            line(out, depth);
            out.push('}');
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (nth, item) in items.iter().enumerate() {
                out.push_str(if nth > 0 { "," } else { "" });
                line(out, depth + 1);
                pretty(item, depth + 1, out);
            }
            line(out, depth);
            out.push(']');
        }
        Value::Object(_)
        | Value::Array(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_) => out.push_str(&value.to_string()),
    }
}
