//! Guards of the vectors: every rule and every code of the engine occurs in some vector.

use std::collections::BTreeSet;

use json::Value;

use super::value;
use super::vectors::files;

/// The sources that name the rules of a comparison.
const RULES: [&str; 4] = [
    include_str!("../compare.rs"),
    include_str!("../compare/endpoint.rs"),
    include_str!("../compare/object.rs"),
    include_str!("../compare/schema.rs"),
];

const FOLDERS: [&str; 6] = ["documents/good", "documents/bad", "values", "comms", "write", "compare"];

/// `record_key` is for users of the crate: here a key is refused by a sentence.
const CODES_ELSEWHERE: [&str; 1] = ["record_key"];

#[test]
fn every_rule_of_a_comparison_has_a_vector() {
    let rules: BTreeSet<&str> = RULES.into_iter().flat_map(rules_in).collect();
    assert!(rules.len() > 40, "only {} rules were found in the source: {rules:?}", rules.len());
    let expected = expectations(&["compare"]);
    let words: BTreeSet<&str> = expected.iter().filter_map(|text| text.split(' ').nth(1)).collect();
    let missing: Vec<_> = rules.difference(&words).collect();
    assert!(missing.is_empty(), "no vector expects {missing:?}");
}

#[test]
fn every_code_has_a_vector() {
    let source = include_str!("../codes.rs");
    let codes = source.split(": &str = \"").skip(1).map(|rest| rest.split('"').next().unwrap());
    let codes: BTreeSet<&str> = codes.filter(|code| !CODES_ELSEWHERE.contains(code)).collect();
    assert!(codes.len() > 30, "only {} codes were found in the source", codes.len());
    let expected = expectations(&FOLDERS);
    let words: BTreeSet<&str> = expected.iter().filter_map(|text| text.split(' ').next_back()).collect();
    let missing: Vec<_> = codes.difference(&words).collect();
    assert!(missing.is_empty(), "no vector expects {missing:?}");
}

/// The first text in every call of `breaking` and `safe`: the name of a rule.
fn rules_in(source: &str) -> Vec<&str> {
    let calls = source.match_indices("self.breaking(").chain(source.match_indices("self.safe("));
    calls.filter_map(|(at, call)| first_text(&source[at + call.len()..])).collect()
}

/// Finds the first text that is an argument itself and not inside of one.
fn first_text(arguments: &str) -> Option<&str> {
    let mut depth = 0_i32;
    for (at, character) in arguments.char_indices() {
        match character {
            '"' if depth == 0 => return arguments[at + 1..].split('"').next(),
            '(' => depth += 1,
            ')' if depth == 0 => return None,
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// All texts in the expectations of the vectors.
fn expectations(folders: &[&str]) -> BTreeSet<String> {
    let mut texts = BTreeSet::new();
    for (_, text) in folders.iter().flat_map(|folder| files(folder)) {
        gather(&value(&text), false, &mut texts);
    }
    texts
}

fn gather(value: &Value<'_>, expected: bool, texts: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if expected => {
            texts.insert(text.to_string());
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, expected, texts)),
        Value::Object(object) => {
            for (key, value) in object.iter() {
                gather(value, matches!(key, "errors" | "warnings" | "expect" | "back"), texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
