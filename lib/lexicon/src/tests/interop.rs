//! The public vectors of the AT Protocol: every case, by its file.

use std::path::Path;

use json::Value;

use super::{catalog, value};
use crate::{Document, Purpose, Target, data};

/// The cases of a file, each with its name; a file without cases fails.
fn cases<'t>(file: &'t Value<'_>, label: &str) -> Vec<(&'t str, &'t Value<'t>)> {
    let cases = file.as_array().unwrap();
    assert!(!cases.is_empty());
    cases.iter().map(|case| (case.get(label).and_then(Value::as_str).unwrap_or("unnamed"), case)).collect()
}

fn folder() -> Option<std::path::PathBuf> {
    testkit::shared("vectors/atproto")
}

fn read(folder: &Path, file: &str) -> String {
    testkit::read(&folder.join(file))
}

#[test]
fn data_model_fixtures_have_their_bytes_and_cids() {
    let Some(folder) = folder() else { return };
    let text = read(&folder, "data-model/data-model-fixtures.json");
    for (_, case) in cases(&value(&text), "note") {
        let record = case.get("json").unwrap();
        let bytes = data::to_dag_cbor(record).unwrap();
        let expected = case.get("cbor_base64").and_then(Value::as_str).unwrap();
        assert_eq!(Some(&bytes), data::base64_decode(expected).as_ref());
        assert_eq!(Some(data::cid(record).unwrap().as_str()), case.get("cid").and_then(Value::as_str));
    }
}

#[test]
fn data_model_valid_and_invalid() {
    let Some(folder) = folder() else { return };
    for (file, valid) in [("data-model-valid.json", true), ("data-model-invalid.json", false)] {
        let text = read(&folder, &format!("data-model/{file}"));
        for (note, case) in cases(&value(&text), "note") {
            let report = data::check(case.get("json").unwrap());
            assert_eq!(report.is_valid(), valid, "{note}: {:?}", report.errors.kept());
        }
    }
}

#[test]
fn lexicons_valid_and_invalid() {
    let Some(folder) = folder() else { return };
    for (file, valid) in [("lexicon-valid.json", true), ("lexicon-invalid.json", false)] {
        let text = read(&folder, &format!("lexicon/{file}"));
        for (name, case) in cases(&value(&text), "name") {
            let parsed = Document::from_value(case.get("lexicon").unwrap());
            assert_eq!(parsed.document.is_some(), valid, "{name}: {:?}", parsed.report.errors.kept());
        }
    }
}

#[test]
fn the_catalog_reads_without_warnings_but_for_inline_objects() {
    let Some(folder) = folder() else { return };
    for file in ["record", "query", "procedure", "subscription", "permission-set"] {
        let text = read(&folder, &format!("lexicon/catalog/{file}.json"));
        let parsed = Document::parse(text.as_bytes(), json::Limits::DOCUMENT);
        assert!(parsed.document.is_some(), "{file}: {:?}", parsed.report.errors.kept());
        let unexpected =
            parsed.report.warnings.kept().iter().filter(|warning| warning.code != "inline_object");
        assert_eq!(unexpected.count(), 0, "{file}: {:?}", parsed.report.warnings.kept());
    }
}

#[test]
fn record_data_valid_and_invalid() {
    let Some(folder) = folder() else { return };
    let catalog = catalog(&[&read(&folder, "lexicon/catalog/record.json")]);
    let id = "example.lexicon.record";
    for (file, valid) in [("record-data-valid.json", true), ("record-data-invalid.json", false)] {
        let text = read(&folder, &format!("lexicon/{file}"));
        for (name, case) in cases(&value(&text), "name") {
            let record = case.get("data").unwrap();
            for purpose in [Purpose::Write, Purpose::Read] {
                let report = catalog.validate(Target::Record(id), record, purpose);
                assert_eq!(report.is_valid(), valid, "{name}: {:?}", report.errors.kept());
            }
            let key = case.get("rkey").and_then(Value::as_str).unwrap();
            assert_eq!(catalog.check_record_key(id, key), Ok(()), "{name}");
        }
    }
}
