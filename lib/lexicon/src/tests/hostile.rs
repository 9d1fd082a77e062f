//! Input that was made to hurt: huge, deep, repetitive or leading to itself. All of it must be answered soon.

use std::fmt::Write;

use json::{Limits, Value};

use super::{catalog, document, shown, value};
use crate::{Catalog, Document, Purpose, Report, Target, compare, data, hoist};

const MANY: usize = 100_000;
const ID: &str = "com.example.note";

#[test]
fn a_document_of_seven_megabytes() {
    let text = lexicon(&format!(r#""main":{{"type":"token","description":"{}"}}"#, "x".repeat(7 << 20)));
    assert_eq!(document(&text).defs.len(), 1);
    let too_large = lexicon(&format!(r#""main":{{"type":"token","description":"{}"}}"#, "x".repeat(9 << 20)));
    let report = Document::parse(too_large.as_bytes(), Limits::DOCUMENT).report;
    assert_eq!(shown(&report.errors, ""), ["too_large"]);
}

#[test]
fn a_hundred_thousand_required_properties() {
    let names = joined(MANY, |nth| format!("\"p{nth}\""));
    let properties = joined(MANY, |nth| format!(r#""p{nth}":{{"type":"integer"}}"#));
    let main = format!(r#""main":{{"type":"object","required":[{names}],"properties":{{{properties}}}}}"#);
    let document = document(&lexicon(&main));
    assert!(compare(&document, &document).changes.is_empty());
    let catalog = Catalog::new(vec![document]).unwrap();
    let full = format!("{{{}}}", joined(MANY, |nth| format!("\"p{nth}\":{nth}")));
    assert!(checked(&catalog, ID, &full).is_valid());
    let backwards = format!("{{{}}}", joined(MANY, |nth| format!("\"p{}\":{nth}", MANY - 1 - nth)));
    assert!(checked(&catalog, ID, &backwards).is_valid());
    let one_missing = full.replacen("\"p99999\":", "\"q\":", 1);
    assert_eq!(shown(&checked(&catalog, ID, &one_missing).errors, ""), ["/p99999 required"]);
    let all_missing = full.replace("\"p", "\"q");
    assert_eq!(checked(&catalog, ID, &all_missing).errors.count(), MANY);
}

#[test]
fn a_hundred_thousand_names_that_no_property_has() {
    let names = joined(MANY, |nth| format!("\"p{nth}\""));
    let text = lexicon(&format!(r#""main":{{"type":"object","required":[{names}],"nullable":[{names}]}}"#));
    let report = Document::parse(text.as_bytes(), Limits::DOCUMENT).report;
    assert_eq!((report.errors.count(), report.errors.kept().len()), (2 * MANY, 1_000));
}

#[test]
fn twenty_thousand_definitions() {
    let of = |letter: char| {
        document(&lexicon(&joined(20_000, |nth| format!(r#""{letter}{nth}":{{"type":"string"}}"#))))
    };
    let (old, new) = (of('d'), of('e'));
    assert!(compare(&old, &old).changes.is_empty());
    assert_eq!(compare(&old, &new).changes.len(), 40_000);
    let catalog = Catalog::new(vec![old]).unwrap();
    assert!(checked(&catalog, "com.example.note#d19999", "\"x\"").is_valid());
}

#[test]
fn twenty_thousand_fields_renamed() {
    let of = |letter: char| {
        let properties = joined(20_000, |nth| format!(r#""{letter}{nth}":{{"type":"string"}}"#));
        document(&lexicon(&format!(r#""main":{{"type":"object","properties":{{{properties}}}}}"#)))
    };
    let changes = compare(&of('a'), &of('b')).changes;
    assert_eq!(changes.iter().filter(|change| change.rule == "field_renamed").count(), 20_000);
}

#[test]
fn a_hundred_thousand_values_in_an_enum_and_members_in_a_union() {
    let values = joined(MANY, |nth| format!("\"v{nth}\""));
    let refs = joined(MANY, |nth| format!("\"com.example.r{nth}\""));
    let properties = format!(
        r#""e":{{"type":"string","enum":[{values}]}},"u":{{"type":"union","refs":[{refs}],"closed":true}}"#
    );
    let document =
        document(&lexicon(&format!(r#""main":{{"type":"object","properties":{{{properties}}}}}"#)));
    assert!(compare(&document, &document).changes.is_empty());
    let catalog = Catalog::new(vec![document]).unwrap();
    assert_eq!(catalog.unresolved().len(), MANY);
    let report = checked(&catalog, ID, r#"{"e":"w","u":{"$type":"com.example.s"}}"#);
    assert_eq!(shown(&report.errors, ""), ["/e enum", "/u/$type union"]);
    assert!(report.errors.kept().iter().all(|error| error.message.len() < 1_000));
    let report = checked(&catalog, ID, r#"{"e":"v99999","u":{"$type":"com.example.r99999"}}"#);
    assert_eq!(shown(&report.errors, ""), ["/u unresolved_ref"]);
}

#[test]
fn a_million_items() {
    let catalog = catalog(&[&lexicon(r#""main":{"type":"array","items":{"type":"integer","maximum":1}}"#)]);
    let items = |item: &str| format!("[{}]", vec![item; 1_000_000].join(","));
    assert!(checked(&catalog, ID, &items("1")).is_valid());
    assert_eq!(checked(&catalog, ID, &items("2")).errors.count(), 1_000_000);
}

#[test]
fn a_hundred_thousand_members_that_no_schema_names() {
    let text = format!("{{{}}}", joined(MANY, |nth| format!("\"k{nth}\":{nth}")));
    let (object, catalog) = (value(&text), catalog(&[&lexicon(r#""main":{"type":"object"}"#)]));
    assert!(checked(&catalog, ID, &text).is_valid());
    assert!(data::check(&object).is_valid());
    // A map of that many, whose first key is the shortest and smallest.
    let bytes = data::to_dag_cbor(&object).unwrap();
    assert_eq!(bytes[..8], [0xba, 0x00, 0x01, 0x86, 0xa0, 0x62, b'k', b'0']);
}

#[test]
fn a_hundred_levels() {
    let schema = nested(r#"{"type":"array","items":"#, r#"{"type":"string"}"#, "}");
    let deep = value(&lexicon(&format!(r#""main":{schema}"#))).into_owned();
    let document = super::document_of(&deep);
    assert!(compare(&document, &document).changes.is_empty());
    assert_eq!(hoist(&deep), deep);
    let catalog = Catalog::new(vec![document]).unwrap();
    assert!(checked(&catalog, ID, &nested("[", "\"x\"", "]")).is_valid());
    let report = checked(&catalog, ID, &nested("[", "1", "]"));
    assert_eq!(shown(&report.errors, ""), [format!("{} type", "/0".repeat(100))]);
    let object = value(&nested(r#"{"a":"#, "1.5", "}")).into_owned();
    assert_eq!(shown(&data::check(&object).errors, ""), [format!("{} float", "/a".repeat(100))]);
}

#[test]
fn objects_inside_each_other_hoist_one_by_one() {
    let open = r#"{"type":"object","properties":{"a":"#;
    let schema = format!(r#"{}{{"type":"string"}}{}"#, open.repeat(50), "}}".repeat(50));
    let deep = value(&lexicon(&format!(r#""main":{schema}"#))).into_owned();
    let hoisted = hoist(&deep);
    assert_eq!(hoisted.get("defs").unwrap().as_object().unwrap().len(), 50);
    let comparison = compare(&super::document_of(&deep), &super::document_of(&hoisted));
    assert!(!comparison.is_breaking());
}

#[test]
fn many_inline_objects() {
    let properties: Vec<String> = (0..3_000)
        .map(|nth| format!(r#""o{nth}":{{"type":"object","properties":{{"x":{{"type":"string"}}}}}}"#))
        .collect();
    let main = format!(r#""main":{{"type":"object","properties":{{{}}}}}"#, properties.join(","));
    let wide = value(&lexicon(&main)).into_owned();
    let hoisted = hoist(&wide);
    assert_eq!(hoisted.get("defs").unwrap().as_object().unwrap().len(), 3_001);
    assert!(!compare(&super::document_of(&wide), &super::document_of(&hoisted)).is_breaking());
}

#[test]
fn schemas_that_contain_themselves() {
    let catalog = catalog(&[&lexicon(
        r##""main":{"type":"object","properties":{"a":{"type":"ref","ref":"#main"},"u":{"type":"union","refs":["#main"]}}},
            "list":{"type":"array","items":{"type":"ref","ref":"#list"}}"##,
    )]);
    assert!(checked(&catalog, ID, &nested(r#"{"a":"#, "{}", "}")).is_valid());
    let report = checked(&catalog, ID, &nested(r#"{"a":"#, "1", "}"));
    assert_eq!(shown(&report.errors, ""), [format!("{} type", "/a".repeat(100))]);
    let member = r#"{"$type":"com.example.note","u":"#;
    assert!(checked(&catalog, ID, &nested(member, r#"{"$type":"com.example.note"}"#, "}")).is_valid());
    assert!(checked(&catalog, "com.example.note#list", &nested("[", "[]", "]")).is_valid());
}

/// Every level is reached twice from the one before, through a reference on the one side or on the other.
#[test]
fn versions_whose_references_double() {
    let (mut old, mut new) = (String::new(), String::new());
    for level in 0..60 {
        let next = level + 1;
        let down = format!(r##"{{"type":"ref","ref":"#d{next}"}}"##);
        let inline = format!(r#"{{"type":"object","properties":{{"l":{down},"r":{down}}}}}"#);
        write!(old, r#""d{level}":{{"type":"object","properties":{{"a":{inline}}}}},"#).unwrap();
        let inline =
            format!(r##"{{"type":"object","properties":{{"a":{{"type":"ref","ref":"#e{next}"}}}}}}"##);
        write!(new, r#""e{level}":{{"type":"object","properties":{{"l":{inline},"r":{inline}}}}},"#).unwrap();
    }
    let old_main = r##""main":{"type":"object","properties":{"p":{"type":"ref","ref":"#d0"}}}"##;
    let new_main = r##""main":{"type":"object","properties":{"p":{"type":"object","properties":{"a":{"type":"ref","ref":"#e0"}}}}}"##;
    let (old, new) = (document(&lexicon(&(old + old_main))), document(&lexicon(&(new + new_main))));
    assert!(compare(&old, &new).changes.len() < 1_000);
    assert!(compare(&new, &old).changes.len() < 1_000);
}

#[test]
fn control_characters_are_only_characters() {
    let text = lexicon(
        r#""main":{"type":"object","properties":{"a\u0000b":{"type":"string","enum":["\u0000","\u001b[2J"]}}}"#,
    );
    let catalog = catalog(&[&text]);
    assert!(checked(&catalog, ID, r#"{"a\u0000b":"\u0000"}"#).is_valid());
    let report = checked(&catalog, ID, r#"{"a\u0000b":"\u001b[2J\u0007"}"#);
    assert_eq!(shown(&report.errors, ""), ["/a\0b enum"]);
    let message = &report.errors.kept()[0].message;
    assert!(!message.contains(char::is_control), "{message:?}");
}

fn lexicon(defs: &str) -> String {
    format!(r#"{{"lexicon":1,"id":"{ID}","defs":{{{defs}}}}}"#)
}

fn checked(catalog: &Catalog, definition: &str, text: &str) -> Report {
    let value: Value<'_> = value(text);
    catalog.validate(Target::Definition(definition), &value, Purpose::Write)
}

/// Items with commas between.
fn joined(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(",")
}

/// A hundred times open, once what is inside, a hundred times close.
fn nested(open: &str, inside: &str, close: &str) -> String {
    format!("{}{inside}{}", open.repeat(100), close.repeat(100))
}
