//! Hoisting: the same data, the same findings, no inline objects.

use json::Value;

use super::dice::{ensure, run};
use super::generate::{ID, any_json, change, lexicon, record};
use super::vectors::{check, framed, owned, text};
use super::{document_of, shipped, shown, value};
use crate::{Catalog, Document, Purpose, Target, compare, hoist};

#[test]
fn hoisted_documents() {
    check("hoist", |case| {
        let (document, _) = framed(text(case, "piece"), case.get("document").unwrap());
        let hoisted = hoist(&document);
        sound(&document, &hoisted);
        // Equality ignores the order of members, but the order of definitions is part of the promise.
        let names = |defs: &Value<'_>| -> Vec<String> {
            defs.as_object().unwrap().iter().map(|(name, _)| name.to_owned()).collect()
        };
        let defs = hoisted.get("defs").unwrap();
        assert_eq!(names(defs), names(case.get("hoisted").unwrap()), "{}", text(case, "name"));
        let mut outcome = owned(case);
        outcome.insert("hoisted", defs.clone());
        Value::Object(outcome)
    });
}

#[test]
fn our_lexicons_hoist_safely() {
    for definition in shipped() {
        let document = value(definition.text);
        sound(&document, &hoist(&document));
    }
    let response = hoist(&value(definitions::find("agent.comms.response").unwrap().text)).into_owned();
    let defs: Vec<&str> =
        response.get("defs").unwrap().as_object().unwrap().iter().map(|(name, _)| name).collect();
    assert_eq!(defs, ["main", "payload", "error", "metrics"]);
}

#[test]
fn what_is_no_lexicon_stays_as_it_is() {
    for text in ["null", "[]", "{}", r#"{"defs":[]}"#, r#"{"defs":{"a":5,"b":{"properties":[]}}}"#] {
        assert_eq!(hoist(&value(text)).to_string(), text);
    }
}

#[test]
fn a_name_that_is_too_long_for_a_definition_is_cut() {
    let long = "x".repeat(300);
    let piece = format!(
        r#"{{"type":"object","properties":{{"{long}":{{"type":"object"}},"{long}y":{{"type":"object"}}}}}}"#
    );
    let (document, _) = framed("def", &value(&piece));
    sound(&document, &hoist(&document));
}

#[test]
fn data_is_judged_the_same_before_and_after() {
    run(150, |dice| {
        let mut document = lexicon(dice);
        change(&mut document, dice);
        let Some(before) = Document::from_value(&document).document else { return Ok(()) };
        let hoisted = hoist(&document);
        sound(&document, &hoisted);
        let mut records: Vec<_> = (0..2).filter_map(|_| record(dice, &before)).collect();
        records.extend((0..2).map(|_| any_json(dice)));
        let catalogs = [before, document_of(&hoisted)].map(|document| Catalog::new(vec![document]).unwrap());
        for record in records {
            let [before, after] = catalogs.each_ref().map(|catalog| {
                let report = catalog.validate(Target::Record(ID), &record, Purpose::Read);
                [shown(&report.errors, ""), shown(&report.warnings, "")]
            });
            ensure(before == after, || format!("{before:?}\n{after:?}\n{record}\n{document}"))?;
        }
        Ok(())
    });
}

/// What holds of every document that was hoisted.
fn sound(document: &Value<'_>, hoisted: &Value<'_>) {
    let parsed = Document::from_value(hoisted);
    let after = parsed.document.unwrap_or_else(|| panic!("{:?}\n{hoisted}", parsed.report.errors.kept()));
    let warnings = shown(&parsed.report.warnings, "");
    assert!(!warnings.iter().any(|warning| warning.ends_with("inline_object")), "{warnings:?}");
    let comparison = compare(&document_of(document), &after);
    assert!(!comparison.is_breaking(), "{:#?}", comparison.changes);
    let rules = comparison.changes.iter().map(|change| change.rule);
    assert!(rules.into_iter().all(|rule| matches!(rule, "hoisted" | "def_added")));
    assert_eq!(&hoist(hoisted), hoisted, "hoisting twice");
}
