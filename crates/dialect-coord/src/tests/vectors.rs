//! Good documents are accepted, broken ones are refused with the right findings, and all are recognized.

use dialect::Dialect;
use json::{Findings, Limits};

use super::{good, good_names, object};
use crate::Coord;

fn shown(findings: &Findings) -> Vec<String> {
    let show =
        |finding: &json::Finding| format!("{} {} {}", finding.path, finding.code, finding.source.name());
    findings.kept().iter().map(show).collect()
}

#[test]
fn vectors() {
    testkit::check_vectors("coord", |bytes| {
        let document = json::parse(bytes, Limits::DOCUMENT).unwrap();
        let verdict = Coord.validate(&document);
        let (errors, warnings) = (shown(&verdict.errors), shown(&verdict.warnings));
        testkit::Findings { errors, warnings }
    });
}

#[test]
fn good_documents_give_no_warnings_but_where_they_should() {
    for name in good_names() {
        let warnings = shown(&Coord.validate(&good(&name)).warnings);
        let expected: &[&str] = match name.as_str() {
            "task-assignment-least" => &["/id uuid_not_v4 rule"],
            _ => &[],
        };
        assert_eq!(warnings, expected, "{name}");
    }
}

#[test]
fn documents_are_recognized_good_or_bad() {
    for name in good_names() {
        assert!(Coord.recognizes(good(&name).as_object().unwrap()), "{name}");
    }
    let cases = [
        (r#"{"type":"HEARTBEAT","payload":{}}"#, true),
        (r#"{"type":"odd","payload":1,"metadata":2}"#, true),
        (r#"{"operation":1,"entity_type":2}"#, true),
        (r#"{"task_registry":null}"#, true),
        (r#"{"wire":"1.0","type":"brief","payload":{}}"#, false),
        (r#"{"$type":"agent.comms.message"}"#, false),
        (r#"{"message_id":"m","message_type":"heartbeat","payload":{},"metadata":{}}"#, false),
        (r#"{"session_id":"s","type":"chat","content":{"text":"x"},"metadata":{}}"#, false),
        (r#"{"kind":"note","from":"a","to":["b"]}"#, false),
        ("{}", false),
    ];
    for (text, expected) in cases {
        assert_eq!(Coord.recognizes(&object(text)), expected, "{text}");
    }
}
