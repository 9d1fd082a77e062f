//! The published schemas are those of the interfaces. `UPDATE_VECTORS=1` rewrites them: read the diff.

use std::fs;

use dialect::{Interface, json_schema};
use json::{Object, Value};

use crate::interfaces::{AGENT_MESSAGE, MESSAGE_METADATA, RETRY_CONFIG, failure, help, state, status, task};

const INDENT: &str = "  ";

fn published() -> [&'static Interface; 20] {
    [
        &AGENT_MESSAGE,
        &MESSAGE_METADATA,
        &RETRY_CONFIG,
        &task::TASK_CONTEXT,
        &task::TASK_CONSTRAINTS,
        &task::TASK_ASSIGNMENT,
        &task::TASK_HANDOFF_REQUEST,
        &task::TASK_HANDOFF_RESPONSE,
        &task::TASK_UPDATE,
        &task::TASK_COMPLETE,
        &task::TASK_FAILED,
        &help::HELP_REQUEST,
        &help::HELP_RESPONSE,
        &status::STATUS_UPDATE,
        &status::HEARTBEAT,
        &failure::ERROR_REPORT,
        &state::STATE_UPDATE_CARRIER,
        &state::STATE_UPDATE,
        &state::SHARED_STATE,
        &state::POLICY_STATE,
    ]
}

#[test]
fn published_schemas_are_those_of_the_interfaces() {
    let folder = testkit::root().join("definitions/coord");
    let mut expected = Vec::new();
    for interface in published() {
        let name = format!("{}.json", kebab(interface.name));
        let mut text = String::new();
        pretty(&json_schema(interface), 0, &mut text);
        text.push('\n');
        if std::env::var_os("UPDATE_VECTORS").is_some() {
            fs::write(folder.join(&name), &text).unwrap();
        }
        assert_eq!(testkit::read(&folder.join(&name)), text, "{name}: run with UPDATE_VECTORS=1");
        expected.push(name);
    }
    let mut found: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_str().unwrap().to_owned())
        .collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

fn kebab(name: &str) -> String {
    let mut kebab = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !kebab.is_empty() {
            kebab.push('-');
        }
        kebab.extend(letter.to_lowercase());
    }
    kebab
}

/// Writes a value with its members and its longer lists one a line.
fn pretty(value: &Value<'_>, depth: usize, out: &mut String) {
    let inner = INDENT.repeat(depth + 1);
    let close = |out: &mut String, bracket: char| {
        out.push('\n');
        out.push_str(&INDENT.repeat(depth));
        out.push(bracket);
    };
    match value {
        Value::Object(object) if !Object::is_empty(object) => {
            out.push('{');
            for (nth, (key, value)) in object.iter().enumerate() {
                out.push_str(if nth > 0 { ",\n" } else { "\n" });
                out.push_str(&format!("{inner}{}: ", Value::from(key)));
                pretty(value, depth + 1, out);
            }
            close(out, '}');
        }
        Value::Array(items) if items.iter().any(|item| item.as_object().is_some()) => {
            out.push('[');
            for (nth, item) in items.iter().enumerate() {
                out.push_str(if nth > 0 { ",\n" } else { "\n" });
                out.push_str(&inner);
                pretty(item, depth + 1, out);
            }
            close(out, ']');
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => out.push_str(&value.to_string()),
    }
}
