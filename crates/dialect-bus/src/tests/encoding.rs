//! Messages written as documents.

use dialect::{Dialect, Names};
use json::{Limits, Object, Value};
use message::Kind;

use super::{decoded, edited, message, names, shown};
use crate::Bus;

/// Each line of `kinds.jsonl` is a message, the document that it becomes and what had to be made up.
#[test]
fn every_kind_has_a_document() {
    let file = testkit::root().join("vectors/bus/kinds.jsonl");
    let text = testkit::read(&file);
    let mut rewritten = String::new();
    let mut kinds = Vec::new();
    for line in text.lines() {
        let case = json::parse_str(line, Limits::DOCUMENT).unwrap();
        let message = message::from_value(case.get("message").unwrap().clone()).unwrap().message;
        kinds.push(message.kind);
        let encoded = Bus.encode(&message, &names());
        let document = Value::Object(encoded.document);
        let verdict = Bus.validate(&document);
        assert!(verdict.is_valid(), "{document}: {:?}", shown(&verdict.errors));
        assert_eq!(verdict.kind, Some(message.kind), "{document}");
        let invented = encoded.invented.into_iter().map(Value::from).collect();
        let mut found: Object<'_> = Object::new();
        found.insert("message", case.get("message").unwrap().clone());
        found.insert("document", document);
        found.insert("invented", Value::Array(invented));
        rewritten.push_str(&format!("{found}\n"));
    }
    for kind in Kind::ALL {
        assert!(kinds.contains(kind), "no vector for {kind}");
    }
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        std::fs::write(&file, rewritten).unwrap();
        return;
    }
    for (expected, found) in text.lines().zip(rewritten.lines()) {
        assert_eq!(expected, found);
    }
}

#[test]
fn the_examples_of_the_specification_survive_without_their_origin() {
    for name in ["task-request", "task-response", "status-update", "error", "heartbeat"] {
        let document = edited(name, &[], &[]);
        let message = Bus.decode(&Value::Object(document.clone()), &names()).unwrap().message;
        let encoded = Bus.encode(&message, &names());
        assert_eq!(encoded.document, document);
        assert!(encoded.invented.is_empty(), "{:?}", encoded.invented);
    }
}

#[test]
fn foreign_data_never_takes_the_place_of_a_field() {
    let cases = [
        (r#"{"status":"shutdown"}"#, r#"{"kind":"note","data":{"status":"shutdown"}}"#),
        (r#"{"kind":"task.failed"}"#, r#"{"kind":"note","data":{"kind":"task.failed"}}"#),
        (r#"{"percent_complete":"65%"}"#, r#"{"kind":"note","data":{"percent_complete":"65%"}}"#),
        (r#"{"percent_complete":65}"#, r#"{"percent_complete":65,"kind":"note"}"#),
        (r#"{"x":1.50,"data":2}"#, r#"{"kind":"note","data":{"x":1.50,"data":2}}"#),
        (r#"[1]"#, r#"{"kind":"note","data":[1]}"#),
        (r#"{}"#, r#"{"kind":"note","data":{}}"#),
        (r#"{"x":null}"#, r#"{"x":null,"kind":"note"}"#),
    ];
    for (data, payload) in cases {
        let message = message(&format!(r#"{{"kind":"note","from":"a","to":["b"],"data":{data}}}"#));
        let document = Bus.encode(&message, &Names::default()).document;
        assert_eq!(document.get("payload"), Some(&super::parse(payload)), "{data}");
        assert_eq!(decoded(&document).0.data, message.data, "{data}");
    }
}

#[test]
fn ids_are_made_of_the_message_and_always_the_same() {
    let text = r#"{"kind":"note","from":"a","to":["b"],"created":"2025-02-01T10:00:00.5Z","text":"hi"}"#;
    let id = |text: &str| {
        let document = Bus.encode(&message(text), &Names::default()).document;
        document.get("message_id").unwrap().as_str().unwrap().to_owned()
    };
    let made = id(text);
    assert_eq!(made, id(text));
    assert_ne!(made, id(&text.replace("hi", "ho")));
    let (head, tail) = made.rsplit_once('_').unwrap();
    assert_eq!((head, tail.len()), ("msg_1738404000500", 7));
    let is_base36 = |letter: char| letter.is_ascii_digit() || letter.is_ascii_lowercase();
    assert!(tail.chars().all(is_base36), "{made}");
    assert!(
        id(r#"{"kind":"note","from":"a","to":["b"],"created":"0001-01-01T00:00:00Z"}"#).starts_with("msg_0_")
    );
}

#[test]
fn agents_are_written_by_their_uri_and_its_scheme() {
    let registry = r#"[{"slug":"ann","uri":"codex://ann","framework":"something else"},{"slug":"bob","framework":"bash"}]"#;
    let names = Names::from_value(&super::parse(registry)).unwrap();
    let cases = [
        ("ann", r#"{"agent_id":"codex://ann","framework":"codex"}"#, false),
        ("bob", r#"{"agent_id":"bob","framework":"bash"}"#, false),
        ("cyd", r#"{"agent_id":"cyd","framework":"unknown"}"#, true),
        ("opencode://dan", r#"{"agent_id":"opencode://dan","framework":"opencode"}"#, false),
        ("did:plc:zoe", r#"{"agent_id":"did:plc:zoe","framework":"unknown"}"#, true),
        ("system", r#"{"agent_id":"communication-bus","framework":"communication-bus"}"#, false),
    ];
    for (agent, expected, is_invented) in cases {
        let message = message(&format!(r#"{{"kind":"note","from":"{agent}","to":["{agent}"],"text":"x"}}"#));
        let encoded = Bus.encode(&message, &names);
        for (place, told) in [("sender", "/sender/framework"), ("recipient", "/recipient/framework")] {
            assert_eq!(encoded.document.get(place), Some(&super::parse(expected)), "{agent}");
            assert_eq!(encoded.invented.iter().any(|place| place == told), is_invented, "{agent}");
        }
        let back = Bus.decode(&Value::Object(encoded.document), &names).unwrap().message;
        assert_eq!(back.from, names.agent(agent), "{agent}");
    }
}
