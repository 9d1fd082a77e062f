//! Running vectors: a case is shown as the engine sees it and compared with what its file says.
//!
//! A case holds its expectations beside its input, so showing a case means writing what was found into its
//! members. `UPDATE_VECTORS=1` writes that into the files; read the difference before you believe it.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use json::{Object, Value};

use super::value;

const LINE_CHARS_MAX: usize = 110;

/// The folder of a sort of vectors.
pub(super) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors").join(name)
}

/// The files of a folder with their texts, in the order of their names.
pub(super) fn files(name: &str) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(folder(name)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no vectors in {name}");
    paths.into_iter().map(|path| (path.clone(), testkit::read(&path))).collect()
}

/// Compares every item of every file in a folder with what `show` makes of it.
pub(super) fn check(name: &str, show: impl Fn(&Value<'_>) -> Value<'static>) {
    let mut differences = Vec::new();
    for (path, text) in files(name) {
        let written = value(&text);
        let items = written.as_array().unwrap();
        assert!(!items.is_empty(), "{} has no cases", path.display());
        let seen: Vec<Value<'_>> = items.iter().map(&show).collect();
        for (item, seen) in items.iter().zip(&seen) {
            let label = item.get("name").map(Value::to_string).unwrap_or_default();
            let file = path.file_name().unwrap().to_string_lossy();
            differ(item, seen, &format!("{file} {label}"), &mut differences);
        }
        if std::env::var_os("UPDATE_VECTORS").is_some() {
            let mut text = String::new();
            pretty(&Value::Array(seen), 0, &mut text);
            std::fs::write(&path, text + "\n").unwrap();
        }
    }
    assert!(differences.is_empty(), "{} differences\n{}", differences.len(), differences.join("\n"));
}

/// Returns a case with what was found: `errors` always, `warnings` if any, `messages` if the case wants them.
pub(super) fn with_findings(
    case: &Value<'_>,
    report: &crate::Report,
    prefix: &str,
    outcome: &mut Object<'static>,
) {
    outcome.insert("errors", list(super::shown(&report.errors, prefix)));
    if case.get("warnings").is_some() || !report.warnings.is_empty() {
        outcome.insert("warnings", list(super::shown(&report.warnings, prefix)));
    }
    if case.get("messages").is_some() {
        let findings = report.errors.kept().iter().chain(report.warnings.kept());
        outcome.insert("messages", list(findings.map(ToString::to_string)));
    }
}

/// Detaches a case from its text, to write outcomes into it.
pub(super) fn owned(case: &Value<'_>) -> Object<'static> {
    case.as_object().unwrap().clone().into_owned()
}

pub(super) fn list(texts: impl IntoIterator<Item = String>) -> Value<'static> {
    Value::Array(texts.into_iter().map(Value::from).collect())
}

/// Reads a member that is a string.
pub(super) fn text<'v>(case: &'v Value<'_>, key: &str) -> &'v str {
    case.get(key).and_then(Value::as_str).unwrap_or_else(|| panic!("no text {key} in {case}"))
}

/// Reads a member that is a list.
pub(super) fn items<'v, 'a>(case: &'v Value<'a>, key: &str) -> &'v [Value<'a>] {
    case.get(key).map_or(&[], |list| list.as_array().unwrap())
}

/// Replaces every `{"repeat": n, "of": x}` by n times the text or the items of the list.
pub(super) fn expanded(value: &Value<'_>) -> Value<'static> {
    match value {
        Value::Object(object) => match (object.get("repeat").and_then(Value::as_integer), object.get("of")) {
            (Some(count), Some(Value::String(text))) => Value::from(text.repeat(count as usize)),
            (Some(count), Some(Value::Array(items))) => {
                Value::Array(items.iter().map(expanded).cycle().take(items.len() * count as usize).collect())
            }
            _ => Value::Object(object.iter().map(|(key, value)| (key.to_owned(), expanded(value))).collect()),
        },
        Value::Array(items) => Value::Array(items.iter().map(expanded).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone().into_owned(),
    }
}

/// Puts a piece of a document into the smallest document around it; returns where it stands there.
pub(super) fn framed(kind: &str, piece: &Value<'_>) -> (Value<'static>, &'static str) {
    let frame = |defs: String| {
        value(&format!(r#"{{"lexicon":1,"id":"com.example.note","defs":{defs}}}"#)).into_owned()
    };
    match kind {
        "lexicon" => (piece.clone().into_owned(), ""),
        "defs" => (frame(piece.to_string()), "/defs"),
        "def" => (frame(format!(r#"{{"main":{piece}}}"#)), "/defs/main"),
        "property" => {
            let defs = format!(r#"{{"main":{{"type":"object","properties":{{"x":{piece}}}}}}}"#);
            (frame(defs), "/defs/main/properties/x")
        }
        other => panic!("no piece of a document is called {other}"),
    }
}

/// Lists the smallest parts in which two values differ.
fn differ(written: &Value<'_>, seen: &Value<'_>, at: &str, differences: &mut Vec<String>) {
    match (written, seen) {
        (Value::Object(written), Value::Object(seen)) if same_keys(written, seen) => {
            for (key, value) in written.iter() {
                differ(value, seen.get(key).unwrap(), &format!("{at}/{key}"), differences);
            }
        }
        (Value::Array(written), Value::Array(seen)) if nested(written) && written.len() == seen.len() => {
            for (nth, value) in written.iter().enumerate() {
                differ(value, &seen[nth], &format!("{at}/{nth}"), differences);
            }
        }
        (written, seen) if written != seen => {
            differences.push(format!("{at}\n  written {written}\n  seen    {seen}"));
        }
        _ => {}
    }
}

fn same_keys(left: &Object<'_>, right: &Object<'_>) -> bool {
    left.len() == right.len() && left.iter().all(|(key, _)| right.contains_key(key))
}

fn nested(items: &[Value<'_>]) -> bool {
    items.iter().any(|item| item.as_object().is_some())
}

/// Writes a value on one line if it fits, and one member or item per line if not.
fn pretty(value: &Value<'_>, indent: usize, out: &mut String) {
    let mut line = String::new();
    on_one_line(value, &mut line);
    if indent + line.chars().count() <= LINE_CHARS_MAX {
        return out.push_str(&line);
    }
    let inner = "  ".repeat(indent / 2 + 1);
    let (open, close, count) = match value {
        Value::Array(items) => ('[', ']', items.len()),
        Value::Object(object) => ('{', '}', object.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return out.push_str(&line),
    };
    out.push(open);
    let mut write = |nth: usize, key: Option<&str>, value: &Value<'_>| {
        out.push('\n');
        out.push_str(&inner);
        if let Some(key) = key {
            quote(key, out);
            out.push_str(": ");
        }
        pretty(value, inner.len(), out);
        out.push_str(if nth + 1 < count { "," } else { "" });
    };
    match value {
        Value::Array(items) => items.iter().enumerate().for_each(|(nth, item)| write(nth, None, item)),
        Value::Object(object) => {
            object.iter().enumerate().for_each(|(nth, (key, value))| write(nth, Some(key), value));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    out.push('\n');
    out.push_str(&inner[2..]);
    out.push(close);
}

fn on_one_line(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (nth, item) in items.iter().enumerate() {
                out.push_str(if nth > 0 { ", " } else { "" });
                on_one_line(item, out);
            }
            out.push(']');
        }
        Value::Object(object) => {
            out.push('{');
            for (nth, (key, value)) in object.iter().enumerate() {
                out.push_str(if nth > 0 { ", " } else { "" });
                quote(key, out);
                out.push_str(": ");
                on_one_line(value, out);
            }
            out.push('}');
        }
        Value::String(text) => quote(text, out),
        Value::Null | Value::Bool(_) | Value::Number(_) => out.push_str(&value.to_string()),
    }
}

/// Writes a text so that an editor shows all of it: what joins its neighbour or has no shape is escaped.
fn quote(text: &str, out: &mut String) {
    let mut plain = String::new();
    json::write_string(&mut plain, text).unwrap();
    for character in plain.chars() {
        match character {
            '\u{7f}'..='\u{a0}'
            | '\u{300}'..='\u{36f}'
            | '\u{1100}'..='\u{11ff}'
            | '\u{200b}'..='\u{200f}' => {
                write!(out, "\\u{:04x}", u32::from(character)).unwrap();
            }
            _ => out.push(character),
        }
    }
}
