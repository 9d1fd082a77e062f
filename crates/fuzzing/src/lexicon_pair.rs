//! The Lexicon engine. Inputs hold one JSON document a line: a lexicon first, then records or another version.

use std::sync::OnceLock;

use json::{Limits, Value};
use lexicon::{Catalog, Document, Purpose, Target, Validation, Write};

/// A document reads the same after hoisting, which changes no data and breaks nobody.
pub(crate) fn document(bytes: &[u8]) {
    let Ok(value) = json::parse(bytes, Limits::DOCUMENT) else {
        assert!(Document::parse(bytes, Limits::DOCUMENT).document.is_none(), "no JSON, no lexicon");
        return;
    };
    let hoisted = lexicon::hoist(&value);
    assert_eq!(lexicon::hoist(&hoisted), hoisted, "hoisting twice is hoisting once");
    let parsed = Document::from_value(&value);
    assert_eq!(
        parsed.document.is_some(),
        parsed.report.is_valid(),
        "a document comes out if nothing is wrong"
    );
    let Some(document) = parsed.document else { return };
    let again = Document::from_value(&hoisted);
    let again = again.document.expect("a valid lexicon is valid after hoisting");
    assert!(!lexicon::compare(&document, &again).is_breaking(), "hoisting breaks nobody");
    assert!(lexicon::compare(&document, &document).changes.is_empty(), "nothing changes between equals");
    Catalog::new(vec![document]).expect("one document makes a catalog");
}

/// Changes have the same verdict however often they are asked for, and every removal is an addition backwards.
pub(crate) fn compare(bytes: &[u8]) {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let mut next = || Document::parse(lines.next().unwrap_or_default(), Limits::DOCUMENT).document;
    let (Some(old), Some(new)) = (next(), next()) else { return };
    let (forth, back) = (lexicon::compare(&old, &new), lexicon::compare(&new, &old));
    assert_eq!(forth, lexicon::compare(&old, &new), "comparing is repeatable");
    assert_eq!(forth.changes.is_empty(), back.changes.is_empty(), "a difference is seen from both sides");
    for change in forth.changes {
        assert_eq!(change.verdict == lexicon::Verdict::Breaking, change.advice.is_some(), "{change:?}");
    }
}

/// Any record can be checked against any lexicon, and what a PDS would store has bytes and a CID.
pub(crate) fn validate(bytes: &[u8]) {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let given = Document::parse(lines.next().unwrap_or_default(), Limits::DOCUMENT).document;
    let given = given.and_then(|document| Catalog::new(vec![document]).ok());
    for line in lines.chain([bytes]) {
        let Ok(record) = json::parse(line, Limits::DOCUMENT) else { continue };
        for catalog in [given.as_ref(), Some(shipped())].into_iter().flatten() {
            check(catalog, &record);
        }
    }
}

fn check(catalog: &Catalog, record: &Value<'_>) {
    let write = catalog.validate_record(record, Purpose::Write);
    let read = catalog.validate_record(record, Purpose::Read);
    assert!(read.is_valid() || !write.is_valid(), "what may be written may be read");
    for document in catalog.documents() {
        let id = document.id.as_str();
        for target in [Target::Parameters(id), Target::Input(id), Target::Output(id), Target::Message(id)] {
            catalog.validate(target, record, Purpose::Write);
        }
        for (name, _) in &document.defs {
            let name = lexicon::TypeName::new(id, name);
            catalog.validate(Target::Definition(name.as_str()), record, Purpose::Write);
        }
        prepare(catalog, id, record);
    }
}

fn prepare(catalog: &Catalog, collection: &str, record: &Value<'_>) {
    for validation in [Validation::Required, Validation::Skip, Validation::Optimistic] {
        let write = Write { collection, record_key: "3jzfcijpj2z2a", record, validation };
        match lexicon::prepare_write(catalog, write) {
            Ok(prepared) => {
                assert_eq!(lexicon::data::cid(&prepared.record).ok().as_ref(), Some(&prepared.cid));
            }
            Err(refusal) => assert!(!refusal.to_string().is_empty(), "a refusal says why"),
        }
    }
}

fn shipped() -> &'static Catalog {
    static SHIPPED: OnceLock<Catalog> = OnceLock::new();
    SHIPPED.get_or_init(|| {
        let parse = |definition: &definitions::Definition| {
            Document::parse(definition.text.as_bytes(), Limits::DOCUMENT).document
        };
        Catalog::new(definitions::lexicons().filter_map(parse).collect()).expect("what we ship fits together")
    })
}
