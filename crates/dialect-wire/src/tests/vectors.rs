//! The vectors: good documents, edits of them that are refused, and the specification's templates.

use dialect::Dialect;
use json::{Limits, Value};

use super::{found, object, parse, shown, vector};
use crate::{Wire, fits_role_topic, lint};

#[test]
fn wires() {
    testkit::check_vectors("wire", |bytes| {
        found(&Wire.validate(&json::parse(bytes, Limits::DOCUMENT).unwrap()))
    });
}

#[test]
fn cards() {
    testkit::check_vectors("wire/cards", |bytes| {
        found(&lint(&json::parse(bytes, Limits::DOCUMENT).unwrap(), None))
    });
}

/// The templates hold alternatives where a document has one of them, so none of them is a document.
#[test]
fn templates_are_refused_and_have_their_sizes() {
    // The specification's 363 bytes of a completion were counted by a reader that cut 0.00 to 0.0.
    let sizes = [
        ("envelope", 107),
        ("brief", 741),
        ("inbox", 308),
        ("complete", 364),
        ("blocked", 316),
        ("claim", 140),
        ("card", 735),
    ];
    for (name, bytes) in sizes {
        let template = vector(&format!("templates/{name}"));
        assert_eq!(template.to_string().len(), bytes, "{name}");
        assert!(!Wire.validate(&template).is_valid(), "{name}");
        assert!(Wire.recognizes(&object(&template)), "{name}");
    }
    assert_eq!(vector("cards/good/quinn").to_string().len(), 1497);
}

#[test]
fn sizes_on_a_role_topic() {
    let claim = parse(
        r#"{"wire":"1.0","type":"claim","sender":"quinn","ts":"2026-04-28T12:00:00Z","payload":{"task_id":"0.0.8802709","agent":"quinn","role":"developer"}}"#,
    );
    assert_eq!(claim.to_string().len(), 145);
    let pointer = vector("good/pointer").to_string();
    assert_eq!(pointer.len(), 25);
    assert!(fits_role_topic(pointer.as_bytes()) && fits_role_topic(claim.to_string().as_bytes()));
    assert!(!fits_role_topic(vector("good/complete-skipped").to_string().as_bytes()));
    assert!(fits_role_topic(&[b'x'; 1023]) && !fits_role_topic(&[b'x'; 1024]));
}

#[test]
fn every_vector_is_recognized_and_says_what_it_means() {
    let folder = testkit::root().join("vectors/wire/good");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let document = parse(&testkit::read(&path));
        assert!(Wire.recognizes(&object(&document)), "{}", path.display());
        assert!(Wire.validate(&document).kind.is_some(), "{}", path.display());
    }
    assert!(Wire.recognizes(&object(&vector("cards/good/quinn"))));
}

#[test]
fn documents_of_other_dialects_are_not_recognized() {
    let others = [
        r#"{"$type":"agent.comms.message","sender":"did:plc:a"}"#,
        r#"{"id":"1","timestamp":"x","from":"a","to":"b","type":"HEARTBEAT","payload":{},"metadata":{}}"#,
        r#"{"message_id":"1","timestamp":"x","sender":{},"recipient":{},"message_type":"heartbeat","payload":{}}"#,
        r#"{"id":"m","session_id":"s","content":{"text":"x"},"type":"chat"}"#,
        r#"{"kind":"note","from":"a","to":["b"],"task_id":"0.0.1"}"#,
        "{}",
    ];
    for other in others {
        assert!(!Wire.recognizes(&object(&parse(other))), "{other}");
    }
}

#[test]
fn another_major_version_is_refused_and_nothing_else_is_said() {
    for (version, is_read) in [("1.0", true), ("1.1", true), ("2.0", false)] {
        let mut document = vector("good/claim");
        document.as_object_mut().unwrap().insert("wire", version);
        assert_eq!(Wire.validate(&document).is_valid(), is_read);
        assert_eq!(Wire.decode(&document, &dialect::Names::default()).is_ok(), is_read);
        assert_eq!(Wire.version(document.as_object().unwrap()).as_deref(), Some(version));
    }
    let errors = Wire.validate(&parse(r#"{"wire":"2.0","type":[]}"#)).errors;
    assert_eq!(shown(&errors), ["/wire unsupported_wire_version rule"]);
}

#[test]
fn kinds_are_told() {
    let cases: [(&str, &str); 8] = [
        ("brief", "task.request"),
        ("complete", "task.done"),
        ("blocked-resource", "task.blocked"),
        ("claim", "task.claim"),
        ("available", "task.request"),
        ("pointer", "task.request"),
        ("inbox-task-feedback", "review.verdict"),
        ("inbox-exec-gate", "gate"),
    ];
    for (name, kind) in cases {
        let told = Wire.validate(&vector(&format!("good/{name}"))).kind.map(|kind| kind.name());
        assert_eq!(told, Some(kind), "{name}");
    }
    assert_eq!(Wire.validate(&Value::Null).kind, None);
}
