//! Data against schemas: every type, every bound from both sides, every target.

use json::{Object, Value};

use super::vectors::{check, expanded, framed, items, owned, text, with_findings};
use super::{catalog, document_of, shown, value};
use crate::{Catalog, CatalogError, FINDINGS_MAX, Purpose, Report, Target, TypeName};

#[test]
fn values() {
    check("values", |group| {
        let group_of = Group::read(group);
        let mut outcome = owned(group);
        let cases = items(group, "cases");
        assert!(!cases.is_empty(), "{} has no cases", text(group, "name"));
        outcome.insert("cases", Value::Array(cases.iter().map(|case| group_of.show(case)).collect()));
        Value::Object(outcome)
    });
}

/// Cases that share their lexicons. With `schema` they are values of the property `v` of such an object.
struct Group<'g> {
    catalog: Catalog,
    target: &'g str,
    wrapped: bool,
}

impl<'g> Group<'g> {
    fn read(group: &'g Value<'_>) -> Self {
        let mut documents: Vec<_> = items(group, "lexicons").iter().map(document_of).collect();
        if let Some(schema) = group.get("schema") {
            let main = format!(r#"{{"type":"object","properties":{{"v":{schema}}}}}"#);
            let mut defs = group.get("defs").map_or_else(Object::new, owned);
            defs.insert("main", value(&main).into_owned());
            documents.push(document_of(&framed("defs", &Value::Object(defs)).0));
        }
        Group {
            catalog: Catalog::new(documents).unwrap(),
            target: group.get("target").and_then(Value::as_str).unwrap_or("definition com.example.note"),
            wrapped: group.get("schema").is_some(),
        }
    }

    /// Shows a case for its purpose; one without must come out the same for both.
    fn show(&self, case: &Value<'_>) -> Value<'static> {
        let shown = |purpose| {
            let mut outcome = owned(case);
            let prefix = if self.wrapped { "/v" } else { "" };
            with_findings(case, &self.validate(case, purpose), prefix, &mut outcome);
            Value::Object(outcome)
        };
        match case.get("purpose").and_then(Value::as_str) {
            Some("read") => shown(Purpose::Read),
            Some("write") => shown(Purpose::Write),
            Some(other) => panic!("no purpose is called {other}"),
            None => {
                let read = shown(Purpose::Read);
                assert_eq!(read, shown(Purpose::Write), "writing differs from reading");
                read
            }
        }
    }

    fn validate(&self, case: &Value<'_>, purpose: Purpose) -> Report {
        let mut value = expanded(case.get("value").unwrap());
        if self.wrapped {
            value = Value::Object([("v", value)].into_iter().collect());
        }
        let (kind, name) = self.target.split_once(' ').unwrap_or((self.target, ""));
        let target = match (kind, name) {
            ("record", "") => return self.catalog.validate_record(&value, purpose),
            ("record", id) => Target::Record(id),
            ("parameters", id) => Target::Parameters(id),
            ("input", id) => Target::Input(id),
            ("output", id) => Target::Output(id),
            ("message", id) => Target::Message(id),
            ("definition", name) => Target::Definition(name),
            (other, _) => panic!("no target is called {other}"),
        };
        self.catalog.validate(target, &value, purpose)
    }
}

const NUMBERS: &str = r##"{"lexicon":1,"id":"com.example.numbers","defs":{
    "main":{"type":"array","items":{"type":"integer"}},
    "far":{"type":"array","items":{"type":"ref","ref":"com.example.far#b"}},
    "near":{"type":"object","properties":{"a":{"type":"ref","ref":"#absent"},"b":{"type":"ref","ref":"com.example.far"}}}}}"##;

#[test]
fn findings_beyond_a_thousand_are_counted_and_not_kept() {
    let catalog = catalog(&[NUMBERS]);
    let floats = Value::Array(vec![value("0.5"); FINDINGS_MAX + 7]);
    let report = catalog.validate(Target::Definition("com.example.numbers"), &floats, Purpose::Write);
    assert_eq!((report.errors.count(), report.errors.beyond()), (1_007, 7));
    assert_eq!(report.errors.kept().len(), 1_000);
    assert_eq!(report.errors.kept()[999].path, "/999");
    let large = Value::Array(vec![value("9007199254740992"); FINDINGS_MAX + 1]);
    let report = catalog.validate(Target::Definition("com.example.numbers"), &large, Purpose::Write);
    assert!(report.is_valid());
    assert_eq!((report.warnings.count(), report.warnings.kept().len()), (1_001, 1_000));
}

#[test]
fn a_catalog_names_what_it_lacks() {
    let catalog = catalog(&[NUMBERS]);
    let names: Vec<&str> = catalog.unresolved().into_iter().map(TypeName::as_str).collect();
    assert_eq!(names, ["com.example.far", "com.example.far#b", "com.example.numbers#absent"]);
}

#[test]
fn a_catalog_takes_a_document_twice_but_not_two_of_one_name() {
    let same = [NUMBERS, NUMBERS].map(super::document).to_vec();
    assert_eq!(Catalog::new(same).unwrap().documents().len(), 1);
    let other = r#"{"lexicon":1,"id":"com.example.numbers","defs":{"main":{"type":"token"}}}"#;
    let refused = Catalog::new([NUMBERS, other].map(super::document).to_vec());
    assert_eq!(refused.unwrap_err(), CatalogError::Duplicate("com.example.numbers".to_owned()));
}

#[test]
fn a_catalog_finds_documents_and_records_by_name() {
    let catalog = catalog(&[NUMBERS, definitions::find("agent.comms.message").unwrap().text]);
    assert_eq!(catalog.document("com.example.numbers").unwrap().defs.len(), 3);
    assert!(catalog.document("com.example.absent").is_none());
    assert!(catalog.has_record("agent.comms.message"));
    assert!(!catalog.has_record("com.example.numbers"));
}

#[test]
fn record_keys_are_of_the_kind_that_the_lexicon_demands() {
    let cases = [
        ("tid", "3jzfcijpj2z2a", true),
        ("tid", "self", false),
        ("nsid", "com.example.note", true),
        ("nsid", "self", false),
        ("any", "self", true),
        ("any", "a b", false),
        ("any", "", false),
        ("literal:self", "self", true),
        ("literal:self", "Self", false),
        ("literal:self", "other", false),
    ];
    for (kind, key, fits) in cases {
        let text = format!(
            r#"{{"lexicon":1,"id":"com.example.note","defs":{{"main":{{
                "type":"record","key":"{kind}","record":{{"type":"object"}}}}}}}}"#
        );
        let catalog = catalog(&[&text]);
        assert_eq!(catalog.check_record_key("com.example.note", key).is_ok(), fits, "{kind} {key}");
        let syntax = atproto_syntax::record_key::check(key).is_ok();
        assert_eq!(catalog.check_record_key("com.example.unknown", key).is_ok(), syntax, "{key}");
    }
}

#[test]
fn a_value_that_no_schema_describes_must_be_an_object() {
    for text in ["1", "[]", "null", "\"x\"", "true"] {
        assert_eq!(shown(&crate::data::check(&value(text)).errors, ""), ["type"], "{text}");
    }
    assert!(crate::data::check(&value("{}")).is_valid());
}
