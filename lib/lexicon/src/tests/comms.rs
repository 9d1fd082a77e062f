//! The five lexicons that we ship: what they demand, from both sides, and that they say what the specification
//! says.

use std::collections::HashMap;

use json::{Object, Value};

use super::vectors::{check, expanded, items, list, owned, text};
use super::{catalog, shipped, shown, value};
use crate::{Catalog, Def, Document, Purpose, Report, Schema, document};

#[test]
fn records() {
    let catalog = ours();
    check("comms", |lexicon| {
        let name = text(lexicon, "name");
        let minimal = lexicon.get("minimal").unwrap();
        assert_eq!(errors(&catalog, minimal), [""; 0], "the minimal {name}");
        let mut outcome = outline(catalog.document(name).unwrap());
        outcome.insert("minimal", minimal.clone().into_owned());
        let cases = items(lexicon, "cases").iter().map(|case| show(&catalog, minimal, case));
        outcome.insert("cases", Value::Array(cases.collect()));
        Value::Object(outcome)
    });
}

#[test]
fn every_required_field_is_required() {
    let catalog = ours();
    for (_, text) in super::vectors::files("comms") {
        let file = value(&text);
        let lexicon = &file.as_array().unwrap()[0];
        for field in items(lexicon, "required").iter().filter_map(Value::as_str) {
            let mut record = lexicon.get("minimal").unwrap().clone();
            record.as_object_mut().unwrap().remove(field).unwrap();
            assert_eq!(errors(&catalog, &record), [format!("/{field} required")]);
        }
    }
}

#[test]
fn fields_are_found_by_name() {
    let catalog = ours();
    let Some(Def::Record(record)) = catalog.document("agent.comms.request").unwrap().def("main") else {
        panic!("no record")
    };
    assert_eq!(record.object.property("priority").unwrap().name, "priority");
    assert!(record.object.property("Priority").is_none());
}

#[test]
fn every_lexicon_has_its_cases() {
    let named: Vec<String> = super::vectors::files("comms")
        .iter()
        .map(|(_, file)| text(&value(file).as_array().unwrap()[0], "name").to_owned())
        .collect();
    assert_eq!(named, shipped().map(|definition| definition.name).collect::<Vec<_>>());
}

#[test]
fn they_need_nothing_else_and_read_without_warnings_but_for_the_inline_objects() {
    assert!(ours().unresolved().is_empty());
    for definition in shipped() {
        let report = Document::parse(definition.text.as_bytes(), json::Limits::DOCUMENT).report;
        let inline =
            ["error", "metrics"].map(|name| format!("/defs/main/record/properties/{name} inline_object"));
        let expected: &[String] = if definition.name == "agent.comms.response" { &inline } else { &[] };
        assert_eq!(shown(&report.warnings, ""), expected, "{}", definition.name);
    }
}

#[test]
fn their_structure_is_that_of_the_specification() {
    let Some(folder) = testkit::shared("specs") else { return };
    let page = testkit::read(&folder.join("1-comms-lexicons.md"));
    let blocks = page.split("```json\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let specified: HashMap<String, Value<'_>> = blocks
        .map(|block| (text(&value(block), "id").to_owned(), without_descriptions(&value(block))))
        .collect();
    assert_eq!(specified.len(), shipped().count());
    for definition in shipped() {
        assert_eq!(
            without_descriptions(&value(definition.text)),
            specified[definition.name],
            "{}",
            definition.name
        );
    }
}

fn ours() -> Catalog {
    catalog(&shipped().map(|definition| definition.text).collect::<Vec<_>>())
}

/// What an outline says of a lexicon: its key and the exact names of its fields.
fn outline(document: &Document) -> Object<'static> {
    let Some(Def::Record(record)) = document.def("main") else { panic!("{} is no record", document.id) };
    let others = document.defs.iter().filter(|(name, _)| name != "main");
    let definitions: Object<'_> = others.map(|(name, def)| (name.clone(), names_of(def))).collect();
    let mut outline: Object<'_> =
        [("name", document.id.to_string()), ("key", record.key.to_string())].into_iter().collect();
    for (key, names) in names(&record.object) {
        outline.insert(key, names);
    }
    outline.insert("definitions", definitions);
    outline
}

fn names_of(def: &Def) -> Value<'static> {
    let Def::Schema(Schema::Object(object)) = def else { panic!("{} is no object", def.type_word()) };
    Value::Object(names(object).into_iter().collect())
}

fn names(object: &document::Object) -> [(&'static str, Value<'static>); 2] {
    let required = object.properties.iter().filter(|property| property.required);
    let name = |property: &document::Property| property.name.clone();
    [("required", list(required.map(name))), ("properties", list(object.properties.iter().map(name)))]
}

/// Changes the minimal record as a case says, and shows what is then wrong with it.
fn show(catalog: &Catalog, minimal: &Value<'_>, case: &Value<'_>) -> Value<'static> {
    let mut record = minimal.clone().into_owned();
    for pointer in items(case, "remove").iter().filter_map(Value::as_str) {
        record.as_object_mut().unwrap().remove(pointer.strip_prefix('/').unwrap()).unwrap();
    }
    for (pointer, value) in case.get("set").and_then(Value::as_object).into_iter().flat_map(Object::iter) {
        set(&mut record, pointer.strip_prefix('/').unwrap(), expanded(value));
    }
    let report = validate(catalog, minimal, &record);
    let mut outcome = owned(case);
    super::vectors::with_findings(case, &report, "", &mut outcome);
    Value::Object(outcome)
}

fn validate(catalog: &Catalog, minimal: &Value<'_>, record: &Value<'_>) -> Report {
    catalog.validate(crate::Target::Record(text(minimal, "$type")), record, Purpose::Write)
}

fn errors(catalog: &Catalog, record: &Value<'_>) -> Vec<String> {
    shown(&catalog.validate_record(record, Purpose::Write).errors, "")
}

fn set(record: &mut Value<'static>, path: &str, value: Value<'static>) {
    let object = record.as_object_mut().unwrap();
    match path.split_once('/') {
        None => {
            object.insert(path.to_owned(), value);
        }
        Some((key, rest)) => {
            if !object.contains_key(key) {
                object.insert(key.to_owned(), Object::new());
            }
            set(object.get_mut(key).unwrap(), rest, value);
        }
    }
}

fn without_descriptions(value: &Value<'_>) -> Value<'static> {
    match value {
        Value::Object(object) => {
            // A field may be called description; only a text is one.
            let kept = object.iter().filter(|(key, value)| *key != "description" || value.as_str().is_none());
            Value::Object(kept.map(|(key, value)| (key.to_owned(), without_descriptions(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_descriptions).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone().into_owned(),
    }
}
