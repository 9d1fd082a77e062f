//! Good documents, and edits of them that must be refused.

use dialect::Dialect;
use json::Limits;

use super::{parse, shown};
use crate::Bus;

#[test]
fn vectors() {
    testkit::check_vectors("bus", |bytes| match json::parse(bytes, Limits::DOCUMENT) {
        Err(error) => panic!("a vector is JSON: {error}"),
        Ok(document) => {
            let verdict = Bus.validate(&document);
            testkit::Findings { errors: shown(&verdict.errors), warnings: shown(&verdict.warnings) }
        }
    });
}

#[test]
fn documents_are_told_apart_from_those_of_other_dialects() {
    let ours = [
        r#"{"message_id":1}"#,
        r#"{"message_type":"nonsense"}"#,
        r#"{"agent_descriptor":{}}"#,
        r#"{"agent_id":"a","capabilities":[]}"#,
        r#"{"agent_id":"a","endpoints":{}}"#,
        r#"{"agent_id":"a","last_check":1}"#,
    ];
    let others = [
        "{}",
        r#"{"$type":"agent.comms.message"}"#,
        r#"{"kind":"note","from":"a","to":["b"]}"#,
        r#"{"wire":"1.0","type":"inbox","payload":{"message_type":"info"}}"#,
        r#"{"card_version":"1","agent_id":"a","capabilities":[]}"#,
        r#"{"type":"HEARTBEAT","payload":{"agent_id":"a"},"metadata":{}}"#,
        r#"{"agent_id":"a","state":"AWAKE"}"#,
    ];
    for text in ours {
        assert!(Bus.recognizes(parse(text).as_object().unwrap()), "{text}");
    }
    for text in others {
        assert!(!Bus.recognizes(parse(text).as_object().unwrap()), "{text}");
    }
}

#[test]
fn a_verdict_tells_the_kind() {
    let cases = [
        ("task-request", Some("task.request")),
        ("task-response", Some("task.done")),
        ("status-update", Some("task.progress")),
        ("error", Some("task.failed")),
        ("users-error", Some("error.report")),
        ("heartbeat", Some("agent.heartbeat")),
        ("response-failed", Some("task.failed")),
        ("update-of-task", Some("task.blocked")),
        ("update-of-agent", Some("agent.status")),
        ("request-help", Some("help.ask")),
        ("request-handoff", Some("handoff.offer")),
        ("request-approval", Some("gate")),
        ("request-question", Some("question")),
        ("hinted-note", Some("note")),
        ("hinted-report", Some("report")),
        ("health", Some("agent.status")),
        ("descriptor", None),
        ("registration", None),
    ];
    for (name, kind) in cases {
        let text = super::good(name);
        assert_eq!(Bus.validate(&parse(&text)).kind.map(message::Kind::name), kind, "{name}");
    }
}
