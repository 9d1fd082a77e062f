//! Cards: the reference card passes, and what it refers to must exist.

use dialect::Dialect;
use json::Value;

use super::{parse, shown, vector};
use crate::{Registry, Wire, lint};

const REGISTRY: &str = r#"{"agents":["quinn",{"slug":"vikram","roles":["reviewer"]},"mindy"],
    "roles":["roles.ba","developer"],"output_contracts":["code_commit",{"slug":"output_ref_file"}]}"#;

fn registry(text: &str) -> Registry {
    Registry::from_value(&parse(text)).unwrap()
}

/// Lints the reference card with one field replaced.
fn errors_with(pointer: &str, value: &str, registry: &Registry) -> Vec<String> {
    let mut card = vector("cards/good/quinn");
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let place = parent.split('/').skip(1).fold(&mut card, |at, key| match at {
        Value::Object(object) => object.get_mut(key).unwrap(),
        Value::Array(items) => &mut items[key.parse::<usize>().unwrap()],
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => panic!("nothing at {pointer}"),
    });
    match place {
        Value::Object(object) => drop(object.insert(name.to_owned(), parse(value))),
        Value::Array(items) => items[name.parse::<usize>().unwrap()] = parse(value),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => panic!("nothing at {pointer}"),
    }
    shown(&lint(&card, Some(registry)).errors)
}

#[test]
fn the_reference_card_passes_every_lint() {
    let quinn = vector("cards/good/quinn");
    let verdict = lint(&quinn, Some(&registry(REGISTRY)));
    assert!(verdict.is_valid() && verdict.warnings.is_empty(), "{verdict:?}");
    assert!(Wire.validate(&quinn).is_valid());
    let errors = Wire.decode(&quinn, &dialect::Names::default()).unwrap_err();
    assert_eq!(shown(&errors), [" not_a_message rule"]);
}

#[test]
fn references_must_exist() {
    let registry = registry(REGISTRY);
    let cases = [
        ("/identity/reports_to", "\"human\"", None),
        ("/identity/reports_to", "\"mindy\"", None),
        ("/identity/reports_to", "\"zara\"", Some("unknown_agent")),
        ("/escalation_rules/0/route_to", "\"ba\"", None),
        ("/escalation_rules/0/route_to", "\"roles.ba\"", None),
        ("/escalation_rules/0/route_to", "\"reviewer\"", None),
        ("/escalation_rules/0/route_to", "\"exec\"", None),
        ("/escalation_rules/0/route_to", "\"roles.exec\"", None),
        ("/escalation_rules/0/route_to", "\"vikram\"", None),
        ("/escalation_rules/0/route_to", "\"roles.vikram\"", Some("unknown_route")),
        ("/escalation_rules/0/route_to", "\"roles.lawyer\"", Some("unknown_route")),
        ("/escalation_rules/1/route_to", "\"nobody\"", Some("unknown_route")),
        ("/output_types/1", "\"code_commit\"", None),
        ("/output_types/1", "\"poem\"", Some("unknown_output_type")),
    ];
    for (pointer, value, code) in cases {
        let expected: Vec<String> = code.iter().map(|code| format!("{pointer} {code} rule")).collect();
        assert_eq!(errors_with(pointer, value, &registry), expected, "{pointer} {value}");
    }
}

#[test]
fn a_list_that_is_not_given_is_not_checked_against() {
    let only_agents = registry(r#"["quinn","vikram","mindy"]"#);
    assert!(lint(&vector("cards/good/quinn"), Some(&only_agents)).is_valid());
    let empty = registry(r#"{"agents":[],"roles":[],"output_contracts":[]}"#);
    assert_eq!(lint(&vector("cards/good/quinn"), Some(&empty)).errors.count(), 5);
}

#[test]
fn a_registry_that_cannot_be_read_says_where() {
    for (text, path) in [
        ("1", "(document)"),
        ("{}", "(document)"),
        (r#"{"card_version":"1.0"}"#, "(document)"),
        (r#"{"agents":1}"#, "/agents"),
        (r#"{"roles":[1]}"#, "/roles/0"),
        (r#"{"agents":[{"slug":"a","roles":1}]}"#, "/agents/0/roles"),
        (r#"{"output_contracts":[{"name":"x"}]}"#, "/output_contracts/0"),
        (r#"[{"name":"x"}]"#, "/0"),
    ] {
        let error = Registry::from_value(&parse(text)).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{path}: ")), "{text}: {error}");
    }
}
