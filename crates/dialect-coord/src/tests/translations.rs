//! What good documents mean and how messages are written, as data. `UPDATE_VECTORS=1` rewrites: read the diff.

use std::fs;

use dialect::{Dialect, Names, get};
use json::Value;
use message::{Kind, Message};

use super::{good, good_names, value};
use crate::Coord;

fn read(message: &str) -> Message {
    message::from_value(value(message)).unwrap().message
}

/// Compares lines with a file of vectors, or rewrites it.
fn check_lines(name: &str, lines: &[String]) {
    let path = testkit::root().join("vectors/coord").join(name);
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        fs::write(&path, lines.join("\n") + "\n").unwrap();
    }
    let text = testkit::read(&path);
    let expected: Vec<&str> = text.lines().collect();
    for (line, expected) in lines.iter().zip(&expected) {
        assert_eq!(line, expected);
    }
    assert_eq!(lines.len(), expected.len(), "{name}");
}

#[test]
fn good_documents_mean_what_the_vectors_say() {
    let mut lines = Vec::new();
    for name in good_names() {
        let decoded = Coord.decode(&good(&name), &Names::default()).unwrap();
        lines.push(format!(r#"{{"base":"{name}","message":{}}}"#, decoded.message.encode()));
    }
    check_lines("decoded.jsonl", &lines);
}

#[test]
fn messages_of_every_kind_are_written_as_the_vectors_say() {
    let path = testkit::root().join("vectors/coord/encoded.jsonl");
    let text = testkit::read(&path);
    let mut lines = Vec::new();
    let mut kinds = Vec::new();
    for line in text.lines() {
        let case = value(line);
        let message = message::from_value(case.get("message").unwrap().clone()).unwrap().message;
        let encoded = Coord.encode(&message, &Names::default());
        let verdict = Coord.validate(&Value::Object(encoded.document.clone()));
        assert!(verdict.is_valid(), "{}: {:?}", encoded.document, verdict.errors);
        let invented: Vec<Value<'_>> = encoded.invented.into_iter().map(Value::from).collect();
        lines.push(format!(
            r#"{{"message":{},"document":{},"invented":{}}}"#,
            message.encode(),
            encoded.document,
            Value::Array(invented)
        ));
        kinds.push(message.kind);
    }
    for kind in Kind::ALL {
        assert!(kinds.contains(kind), "no vector writes {kind}");
    }
    check_lines("encoded.jsonl", &lines);
}

/// The worked translation of the decisions: the bus example "Task Request". Its id is the UUIDv5 of the native
/// id in the stated name space, as any other library computes it; the one printed there is not.
#[test]
fn the_worked_translation_is_reproduced() {
    let message = read(
        r#"{"kind":"task.request","native_id":"msg_1719000000000_abcd123","from":"orchestrator","to":["code-reviewer"],
        "thread":"sess_feature_x","correlation":"task_12345","task":"task_12345","priority":"high","created":"2025-02-01T10:00:00Z",
        "delivery":{"timeout":"300s","retries":2,"backoff":"exponential","fallback":["backup"]},
        "brief":{"task_type":"code_review","criteria":["no high severity lint issues"]}}"#,
    );
    let document = Coord.encode(&message, &Names::default()).document;
    let expected = [
        ("/id", r#""0401a97a-6737-5019-b557-805efe2dbb73""#),
        ("/timestamp", r#""2025-02-01T10:00:00Z""#),
        ("/from", r#""orchestrator""#),
        ("/to", r#""code-reviewer""#),
        ("/type", r#""TASK_ASSIGNMENT""#),
        (
            "/metadata",
            r#"{"correlation_id":"task_12345","priority":"high","ttl_ms":300000,"retry_count":0,"max_retries":2}"#,
        ),
        ("/payload/task/task_id", r#""task_12345""#),
        ("/payload/task/task_type", r#""code_review""#),
    ];
    for (place, text) in expected {
        assert_eq!(get(&document, place), Some(&value(text)), "{place}");
    }
}

/// Without a correlation the task links a message before its conversation does, which then travels in the bag.
#[test]
fn messages_are_linked_by_what_links_them_best() {
    let cases = [
        (r#""correlation":"c","reply_to":"r","task":"t","thread":"h""#, "c"),
        (
            r#""reply_to":"7b0e4c52-1d3a-4f6b-9c8e-000000000001","task":"t""#,
            "7b0e4c52-1d3a-4f6b-9c8e-000000000001",
        ),
        (r#""reply_to":"msg_1719000000000_abcd123""#, "0401a97a-6737-5019-b557-805efe2dbb73"),
        (r#""task":"t","thread":"h""#, "t"),
        (r#""thread":"h""#, "h"),
    ];
    for (links, expected) in cases {
        let message = read(&format!(r#"{{"kind":"task.done","from":"ann","to":["bob"],{links}}}"#));
        let document = Coord.encode(&message, &Names::default()).document;
        assert_eq!(get(&document, "/metadata/correlation_id"), Some(&Value::from(expected)), "{links}");
        let back = Coord.decode(&Value::Object(document), &Names::default()).unwrap().message;
        assert_eq!(back.reply_to, message.reply_to, "{links}");
        assert_eq!(back.thread, message.thread, "{links}");
    }
    let reply = read(r#"{"kind":"help.reply","from":"ann","to":["bob"],"correlation":"c","reply_to":"m-1"}"#);
    let document = Coord.encode(&reply, &Names::default()).document;
    let request = get(&document, "/payload/request_id");
    assert_eq!(request, get(&document, "/metadata/correlation_id"));
    assert_eq!(request.and_then(Value::as_str), Some(crate::ids::as_uuid("m-1").as_str()));
}
