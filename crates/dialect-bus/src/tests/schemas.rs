//! The JSON Schemas that are shipped say what the interfaces say.

use std::fmt::Write as _;

use dialect::{Interface, json_schema};
use json::Value;

use crate::interfaces::{
    AGENT_DESCRIPTOR, AGENT_MESSAGE, AGENT_REGISTRATION, FINDING, HEALTH_STATUS, PAYLOADS,
};

/// `UPDATE_VECTORS=1` rewrites; read the diff.
#[test]
fn schemas_are_those_of_the_interfaces() {
    let folder = testkit::root().join("definitions/bus");
    let documents = [&AGENT_MESSAGE, &AGENT_DESCRIPTOR, &AGENT_REGISTRATION, &HEALTH_STATUS, &FINDING];
    let payloads = PAYLOADS.iter().map(|(_, interface)| *interface);
    let mut expected = Vec::new();
    for interface in documents.into_iter().chain(payloads) {
        let file = format!("{}.json", kebab(interface));
        let mut text = String::new();
        pretty(&json_schema(interface), 0, &mut text);
        text.push('\n');
        if std::env::var_os("UPDATE_VECTORS").is_some() {
            std::fs::write(folder.join(&file), &text).unwrap();
        }
        assert_eq!(testkit::read(&folder.join(&file)), text, "{file}");
        expected.push(file);
    }
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(expected.contains(&name), "{name} is the schema of nothing");
    }
}

fn kebab(interface: &Interface) -> String {
    let mut name = String::new();
    for letter in interface.name.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// Writes a value with two spaces for each level; lists of plain values stay on one line.
fn pretty(value: &Value<'_>, level: usize, text: &mut String) {
    let indent = "  ".repeat(level + 1);
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (nth, (key, value)) in members.iter().enumerate() {
                let start = if nth == 0 { "{" } else { "," };
                write!(text, "{start}\n{indent}{}: ", Value::from(key)).unwrap();
                pretty(value, level + 1, text);
            }
            write!(text, "\n{}}}", "  ".repeat(level)).unwrap();
        }
        Value::Array(items) if items.iter().any(|item| item.as_object().is_some()) => {
            for (nth, value) in items.iter().enumerate() {
                let start = if nth == 0 { "[" } else { "," };
                write!(text, "{start}\n{indent}").unwrap();
                pretty(value, level + 1, text);
            }
            write!(text, "\n{}]", "  ".repeat(level)).unwrap();
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(ToString::to_string).collect();
            write!(text, "[{}]", items.join(", ")).unwrap();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            write!(text, "{value}").unwrap();
        }
    }
}
