//! Schema documents: what is refused, where and why, and what is accepted with a warning.

use json::{Limits, Value};

use super::vectors::{check, framed, owned, with_findings};
use crate::{Document, Parsed};

const PIECES: [&str; 3] = ["lexicon", "def", "property"];

#[test]
fn good_documents() {
    check("documents/good", |case| shown(case, true));
}

#[test]
fn bad_documents() {
    check("documents/bad", |case| shown(case, false));
}

#[test]
fn text_that_is_no_json_is_reported_like_the_rest() {
    let parsed = Document::parse(b"\xff", Limits::DOCUMENT);
    assert_eq!(super::shown(&parsed.report.errors, ""), ["utf8"]);
    let parsed = Document::parse(b"{}", Limits { bytes_max: 1, ..Limits::DOCUMENT });
    assert_eq!(super::shown(&parsed.report.errors, ""), ["too_large"]);
    assert!(parsed.document.is_none());
}

/// Reads the document of a case: given as text, whole, or as a piece to be framed.
fn read(case: &Value<'_>) -> (Parsed, &'static str) {
    if let Some(text) = case.get("text").and_then(Value::as_str) {
        return (Document::parse(text.as_bytes(), Limits::DOCUMENT), "");
    }
    let kind = PIECES.into_iter().find(|kind| case.get(kind).is_some()).unwrap();
    let (document, prefix) = framed(kind, case.get(kind).unwrap());
    (Document::from_value(&document), prefix)
}

fn shown(case: &Value<'_>, good: bool) -> Value<'static> {
    let (parsed, prefix) = read(case);
    let mut outcome = owned(case);
    with_findings(case, &parsed.report, prefix, &mut outcome);
    if parsed.document.is_some() != good {
        outcome.insert("accepted", parsed.document.is_some());
    }
    Value::Object(outcome)
}
