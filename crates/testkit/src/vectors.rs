//! Vectors of a dialect: good documents, and edits of them that must be refused.
//!
//! `vectors/NAME/good/*.json` are valid documents. Each line of `vectors/NAME/bad.jsonl` is a case:
//! `{"base": "file in good", "set": {"/pointer": value}, "remove": ["/pointer"], "errors": ["/pointer code source"]}`,
//! all but `base` and `errors` optional. A case without errors must be valid; that is how boundaries are held
//! from both sides. `"text"` instead of `base` gives a whole document as a string. `warnings` may list the
//! warnings that must be there. With `UPDATE_VECTORS=1` the findings are rewritten: read the diff.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use json::{Limits, Object, Value};

/// What a validator says of a document.
pub struct Findings {
    /// Each as `/pointer code source`.
    pub errors: Vec<String>,
    /// Each as `/pointer code source`.
    pub warnings: Vec<String>,
}

/// Runs every vector of a dialect and reports all that differ.
///
/// # Panics
///
/// If anything differs, or if there are no vectors.
pub fn check_vectors(dialect: &str, validate: impl Fn(&[u8]) -> Findings) {
    let folder = crate::root().join("vectors").join(dialect);
    let mut wrong = Vec::new();
    let mut good = 0;
    for entry in fs::read_dir(folder.join("good")).expect("a dialect has good vectors") {
        let path = entry.expect("the folder can be listed").path();
        let found = validate(crate::read(&path).as_bytes());
        if !found.errors.is_empty() {
            wrong.push(format!("{}: {:?}", path.display(), found.errors));
        }
        good += 1;
    }
    let bad = folder.join("bad.jsonl");
    let text = crate::read(&bad);
    let mut rewritten = String::new();
    for (nth, line) in text.lines().enumerate() {
        let case = json::parse_str(line, Limits::DOCUMENT)
            .unwrap_or_else(|error| panic!("line {}: {error}", nth + 1));
        let found = validate(document(&folder, &case).as_bytes());
        if let Some(difference) = difference(&case, &found) {
            wrong.push(format!("bad.jsonl:{}: {difference}", nth + 1));
        }
        rewritten.push_str(&format!("{}\n", with_findings(case, &found)));
    }
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        fs::write(&bad, rewritten).expect("the vectors can be written");
        return;
    }
    assert!(good > 0 && !text.is_empty(), "no vectors for {dialect}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Makes the document of a case.
fn document(folder: &Path, case: &Value<'_>) -> String {
    if let Some(text) = case.get("text").and_then(Value::as_str) {
        return text.to_owned();
    }
    let base = case.get("base").and_then(Value::as_str).expect("a case has a base or a text");
    let text = crate::read(&folder.join("good").join(format!("{base}.json")));
    let mut document = json::parse_str(&text, Limits::DOCUMENT).expect("a good vector is JSON").into_owned();
    for pointer in case.get("remove").and_then(Value::as_array).unwrap_or_default() {
        remove(&mut document, pointer.as_str().expect("a pointer is a string"));
    }
    for (pointer, value) in case.get("set").and_then(Value::as_object).into_iter().flat_map(Object::iter) {
        set(&mut document, pointer, value.clone().into_owned());
    }
    document.to_string()
}

fn remove(document: &mut Value<'static>, pointer: &str) {
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer starts with a slash");
    match place(document, parent) {
        Value::Object(object) => drop(object.remove(name).unwrap_or_else(|| panic!("nothing at {pointer}"))),
        Value::Array(items) => drop(items.remove(name.parse().expect("an index"))),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => panic!("nothing at {pointer}"),
    }
}

fn set(document: &mut Value<'static>, pointer: &str, value: Value<'static>) {
    if pointer.is_empty() {
        *document = value;
        return;
    }
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer starts with a slash");
    match place(document, parent) {
        Value::Object(object) => drop(object.insert(name.to_owned(), value)),
        Value::Array(items) => match name.parse::<usize>() {
            Ok(index) if index < items.len() => items[index] = value,
            _ => items.push(value),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => panic!("nothing at {pointer}"),
    }
}

fn place<'d>(document: &'d mut Value<'static>, pointer: &str) -> &'d mut Value<'static> {
    pointer.split('/').skip(1).fold(document, |at, name| match at {
        Value::Object(object) => object.get_mut(name).unwrap_or_else(|| panic!("nothing at {pointer}")),
        Value::Array(items) => &mut items[name.parse::<usize>().expect("an index")],
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => panic!("nothing at {pointer}"),
    })
}

fn difference(case: &Value<'_>, found: &Findings) -> Option<String> {
    let expected = listed(case, "errors");
    let errors: BTreeSet<&str> = found.errors.iter().map(String::as_str).collect();
    let warnings: BTreeSet<&str> = found.warnings.iter().map(String::as_str).collect();
    if errors != expected {
        return Some(format!("expected {expected:?}, found {errors:?}"));
    }
    let missing: Vec<&str> = listed(case, "warnings").difference(&warnings).copied().collect();
    (!missing.is_empty()).then(|| format!("warnings {missing:?} are not among {warnings:?}"))
}

fn listed<'c>(case: &'c Value<'_>, key: &str) -> BTreeSet<&'c str> {
    let items = case.get(key).and_then(Value::as_array).unwrap_or_default();
    items.iter().map(|item| item.as_str().expect("a finding is a string")).collect()
}

fn with_findings<'c>(mut case: Value<'c>, found: &Findings) -> Value<'c> {
    if let Some(object) = case.as_object_mut() {
        let errors: BTreeSet<&String> = found.errors.iter().collect();
        object.insert(
            "errors",
            Value::Array(errors.into_iter().map(|error| Value::from(error.clone())).collect()),
        );
    }
    case
}
