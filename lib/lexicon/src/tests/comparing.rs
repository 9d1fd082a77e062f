//! Comparing versions: every rule in both directions, and the advice.

use json::Value;

use super::vectors::{check, framed, list, owned, text};
use super::{document, document_of};
use crate::{Document, compare};

#[test]
fn changes() {
    check("compare", |case| {
        let read = |key: &str| {
            let (document, prefix) = framed(text(case, "piece"), case.get(key).unwrap());
            (document_of(&document), prefix)
        };
        let ((old, prefix), (new, _)) = (read("old"), read("new"));
        assert!(compare(&old, &old).changes.is_empty() && compare(&new, &new).changes.is_empty());
        let mut outcome = owned(case);
        outcome.insert("expect", list(listed(&old, &new, prefix)));
        outcome.insert("back", list(listed(&new, &old, prefix)));
        Value::Object(outcome)
    });
}

fn listed(old: &Document, new: &Document, prefix: &str) -> Vec<String> {
    let comparison = compare(old, new);
    let breaking = comparison.changes.iter().any(|change| change.verdict.name() == "breaking");
    assert_eq!(comparison.is_breaking(), breaking);
    let show = |change: &crate::Change| {
        assert_eq!(change.advice.is_some(), change.verdict.name() == "breaking", "{change:?}");
        let path = change.path.strip_prefix(prefix).unwrap_or(&change.path);
        format!("{} {} {path}", change.verdict.name(), change.rule)
    };
    comparison.changes.iter().map(show).collect()
}

#[test]
fn advice_names_the_next_version() {
    let cases = [
        ("com.example.note", "com.example.noteV2"),
        ("com.example.noteV2", "com.example.noteV3"),
        ("com.example.noteV9", "com.example.noteV10"),
        ("com.example.noteV99", "com.example.noteV100"),
        ("com.example.note2", "com.example.note2V2"),
        ("com.example.noteV", "com.example.noteVV2"),
        ("com.example.V2", "com.example.V2V2"),
        ("com.example.noteV4294967295", "com.example.noteV4294967296"),
    ];
    for (id, next) in cases {
        let of = |kind: &str| {
            document(&format!(r#"{{"lexicon":1,"id":"{id}","defs":{{"main":{{"type":"{kind}"}}}}}}"#))
        };
        let comparison = compare(&of("string"), &of("integer"));
        let advice = comparison.changes[0].advice.as_deref().unwrap();
        assert_eq!(advice, format!("publish it under a new NSID, such as {next}"));
        assert!(atproto_syntax::nsid::check(next).is_ok());
    }
}

#[test]
fn a_change_is_told_in_full() {
    let of = |properties: &str| {
        let main = format!(r#"{{"type":"object","properties":{{{properties}}}}}"#);
        document(&format!(r#"{{"lexicon":1,"id":"com.example.note","defs":{{"main":{main}}}}}"#))
    };
    let old = of(r#""text":{"type":"string","maxLength":5},"kind":{"type":"string"}"#);
    let new = of(r#""body":{"type":"string","maxLength":5},"kind":{"type":"string","default":"x"}"#);
    let changes: Vec<String> =
        compare(&old, &new).changes.iter().map(|change| change.to_value().to_string()).collect();
    let expected = [
        concat!(
            r#"{"verdict":"breaking","rule":"field_renamed","path":"/defs/main/properties/text","#,
            r#""message":"\"text\" was probably renamed to \"body\"; readers look for the old name","#,
            r#""advice":"publish it under a new NSID, such as com.example.noteV2"}"#
        ),
        concat!(
            r#"{"verdict":"safe","rule":"default_changed","path":"/defs/main/properties/kind/default","#,
            r#""message":"the default changed from none to \"x\"; old and new readers take an absent value "#,
            r#"differently","advice":null}"#
        ),
    ];
    assert_eq!(changes, expected);
}
