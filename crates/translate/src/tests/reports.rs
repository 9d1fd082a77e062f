//! Reports tell what happened: the lists are derived once more, by comparing the two documents alone.

use std::collections::{BTreeMap, BTreeSet};

use dialect::Name;
use json::Value;
use proptest::prelude::*;

use super::{any_document, parse, plain, report};
use crate::report::leaves;

/// The fields of a document, without its origin.
fn fields(text: &str, name: Name, translated: bool) -> BTreeMap<String, String> {
    let place = crate::dialect(name).origin_place();
    let value = parse(text);
    let fields = leaves(&value).into_iter().map(|(path, value)| (path, value.to_string()));
    fields.filter(|(path, _)| !translated || !path.starts_with(&format!("{place}/"))).collect()
}

/// Short values stand in two documents by chance; only longer ones prove anything.
fn is_telling(text: &str) -> bool {
    match parse(text) {
        Value::String(text) => text.len() >= 2,
        Value::Number(_) => text.len() >= 3,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn reports_are_what_a_comparison_finds((from, document) in any_document()) {
        let text = document.to_string();
        let source = fields(&text, from, false);
        for to in Name::ALL.iter().filter(|to| **to != from) {
            let there = plain(&text, from, *to);
            let target = fields(&there.text, *to, true);
            let values: BTreeSet<&String> = target.values().collect();
            let report = report(there.clone());
            let mut seen: Vec<&String> = Vec::new();
            for list in [&report.carried, &report.renamed, &report.encoded, &report.origin_only] {
                seen.extend(list);
            }
            seen.sort();
            prop_assert_eq!(seen, source.keys().collect::<Vec<_>>(), "each field is in exactly one list");
            for (path, value) in &source {
                let here = target.get(path) == Some(value);
                let carried = report.carried.contains(path);
                prop_assert!(!carried || here, "{} is not at its place in {}", path, there.text);
                if is_telling(value) {
                    prop_assert_eq!(carried, here, "{}", path);
                    let elsewhere = !here && values.contains(value);
                    prop_assert_eq!(report.renamed.contains(path), elsewhere, "{} {}", path, there.text);
                }
            }
            let said: BTreeSet<&String> = source.values().collect();
            for path in &report.invented {
                let value = target.get(path);
                prop_assert!(value.is_some(), "{} is invented but not there", path);
                prop_assert!(!value.is_some_and(|value| is_telling(value) && said.contains(value)), "{}", path);
            }
        }
    }
}

#[test]
fn a_report_is_printed_with_the_lists_of_the_contract() {
    let text = r#"{"convoke":1,"kind":"note","from":"ann","to":["bob"],"text":"hello there"}"#;
    let report = report(plain(text, Name::Convoke, Name::Channel));
    let value = report.to_value();
    for list in ["carried", "renamed", "encoded", "invented", "origin_only"] {
        assert!(value.get(list).and_then(Value::as_array).is_some(), "{list}");
    }
    assert_eq!(value.get("lossless"), Some(&Value::Bool(true)));
    assert_eq!(
        (report.carried, report.renamed),
        (vec!["/from".to_owned()], vec!["/to/0".to_owned(), "/text".to_owned()])
    );
    assert_eq!((report.encoded, report.origin_only), (vec!["/kind".to_owned()], vec!["/convoke".to_owned()]));
}
