//! Good and bad documents, and the JSON Schemas that are shipped.

use dialect::{Dialect, Names};
use json::Limits;

use super::{good, show};
use crate::{Channel, interfaces};

#[test]
fn good_and_bad_documents() {
    testkit::check_vectors("channel", |bytes| {
        let document = json::parse(bytes, Limits::DOCUMENT).unwrap();
        let verdict = Channel.validate(&document);
        testkit::Findings { errors: show(&verdict.errors), warnings: show(&verdict.warnings) }
    });
}

#[test]
fn good_documents_are_recognized_and_read() {
    let folder = testkit::root().join("vectors/channel/good");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
        let document = good(&name);
        assert!(Channel.recognizes(document.as_object().unwrap()), "{name}");
        let decoded = Channel.decode(&document, &Names::default());
        assert_eq!(decoded.is_ok(), name != "registration", "{name}: {decoded:?}");
    }
}

#[test]
fn documents_of_others_are_not_recognized_and_broken_ones_of_ours_are() {
    let ours = [
        r#"{"session_id":1,"content":null}"#,
        r#"{"session_id":"x","from":"ann"}"#,
        r#"{"id":"msg-20260111-163315-claude-4c78"}"#,
        r#"{"from":"ann","content":{"text":"x"}}"#,
        r#"{"agent_id":"codex","substate":1}"#,
        r#"{"agent":"codex","session":"x","status":"active"}"#,
    ];
    let others = [
        r#"{"$type":"agent.comms.message","content":{"kind":"text","text":"x"},"from":"did:plc:x"}"#,
        r#"{"wire":"1.0","type":"inbox","payload":{},"sender":"ann"}"#,
        r#"{"message_id":"m","sender":{"agent_id":"x","session_id":"s"},"payload":{}}"#,
        r#"{"id":"u","from":"ann","to":"bob","type":"HEARTBEAT","payload":{},"metadata":{}}"#,
        r#"{"kind":"note","from":"ann","to":["bob"]}"#,
        r#"{"operation":"CREATE","entity_type":"TASK"}"#,
        r#"{"agent_id":"x"}"#,
        "{}",
    ];
    let recognizes = |text: &str| Channel.recognizes(super::value(text).as_object().unwrap());
    for text in ours {
        assert!(recognizes(text), "{text}");
    }
    for text in others {
        assert!(!recognizes(text), "{text}");
    }
}

#[test]
fn json_schemas_say_what_the_interfaces_say() {
    let schemas =
        interfaces::DOCUMENTS.iter().map(|interface| (interface.name, dialect::json_schema(interface)));
    testkit::check_schemas("channel", schemas);
}
