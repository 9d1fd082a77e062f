//! Writing: the wire of each kind of message, and what a reader who knows no extension finds in it.

use dialect::{Dialect, Names};
use json::Value;
use message::Kind;

use super::{decode, encode, message, parse};
use crate::Wire;

fn at<'v>(document: &'v Value<'_>, pointer: &str) -> &'v str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or("")
}

#[test]
fn every_kind_has_a_form() {
    let rows = [
        (Kind::Note, "inbox", "info"),
        (Kind::Announce, "inbox", "info"),
        (Kind::TaskRequest, "brief", ""),
        (Kind::TaskClaim, "claim", ""),
        (Kind::TaskProgress, "inbox", "status.update"),
        (Kind::TaskDone, "inbox", "status.update"),
        (Kind::TaskFailed, "blocked", ""),
        (Kind::TaskRejected, "blocked", ""),
        (Kind::TaskBlocked, "blocked", ""),
        (Kind::HelpAsk, "inbox", "question"),
        (Kind::HelpReply, "inbox", "info"),
        (Kind::HandoffOffer, "brief", ""),
        (Kind::HandoffReply, "inbox", "status.update"),
        (Kind::AgentStatus, "inbox", "status.update"),
        (Kind::AgentHeartbeat, "inbox", "status.update"),
        (Kind::ErrorReport, "blocked", ""),
        (Kind::ReviewVerdict, "inbox", "task.feedback"),
        (Kind::Gate, "inbox", "exec.gate"),
        (Kind::Question, "inbox", "question"),
        (Kind::StateSync, "inbox", "status.update"),
        (Kind::Report, "inbox", "info"),
    ];
    assert_eq!(rows.map(|row| row.0), Kind::ALL);
    for (kind, form, message_type) in rows {
        let sent = message(&format!(r#"{{"kind":"{kind}","from":"ann","to":["bob"],"task":"0.0.1"}}"#));
        let document = encode(&sent);
        assert_eq!(
            (at(&document, "/type"), at(&document, "/payload/message_type")),
            (form, message_type),
            "{kind}"
        );
        let read = decode(&document);
        assert_eq!((read.kind, read.to, read.task), (kind, sent.to, sent.task), "{kind}");
    }
}

#[test]
fn work_that_nobody_verified_is_not_complete() {
    let done = |result: &str| {
        encode(&message(&format!(
            r#"{{"kind":"task.done","from":"quinn","to":["mindy"],"task":"0.0.7","text":"Done.","result":{result}}}"#
        )))
    };
    for result in [
        "null",
        r#"{"ok":true}"#,
        r#"{"verification":"pass"}"#,
        r#"{"verification":{"mechanical":"pass","semantic":"fail","attempts":1}}"#,
        r#"{"verification":{"mechanical":"fail","semantic":"pass","attempts":1}}"#,
        r#"{"verification":{"mechanical":"pass","semantic":"pass","attempts":0}}"#,
        r#"{"verification":{"mechanical":"maybe","semantic":"pass","attempts":1}}"#,
    ] {
        let document = done(result);
        assert_eq!(
            (at(&document, "/type"), at(&document, "/payload/message_type")),
            ("inbox", "status.update"),
            "{result}"
        );
        assert_eq!(decode(&document).kind, Kind::TaskDone);
    }
    let verified =
        done(r#"{"verification":{"mechanical":"pass","semantic":"skipped","attempts":2},"files":3}"#);
    assert_eq!((at(&verified, "/type"), at(&verified, "/payload/agent")), ("complete", "quinn"));
    assert!(at(&verified, "/payload/summary").starts_with("Done.\n\nResult: {"));
    assert_eq!(decode(&verified).text.as_deref(), Some("Done."));
}

/// The worked example: a request of the dialect `bus`, as it is read there.
#[test]
fn a_request_from_elsewhere_becomes_a_brief() {
    let request = message(
        r#"{"kind":"task.request","native_id":"msg-1","from":"orchestrator","to":["code-reviewer"],"task":"task_12345","priority":"high",
        "attachments":[{"uri":"src/api/user-service.ts"}],"created":"2025-02-01T10:00:00Z","deadline":"2025-02-01T10:05:00Z",
        "brief":{"task_type":"code_review","criteria":["no high severity lint issues"]}}"#,
    );
    let encoded = Wire.encode(&request, &Names::default());
    let document = encode(&request);
    let expected = parse(
        r#"{"wire":"1.1","type":"brief","sender":"orchestrator","ts":"2025-02-01T10:00:00Z","wire_id":"msg-1","payload":{
        "goal":"Code review of src/api/user-service.ts is complete.",
        "context":"Type of task: code_review\n\nAttachments: src/api/user-service.ts\n\nDeadline: 2025-02-01T10:05:00Z",
        "acceptance_criteria":["no high severity lint issues"],
        "output_contract":{"type":"report","schema_ref":null,"output_ref_required":false,"min_length":0,"evaluate":null},
        "env":{"client_id":"convoke","task_id":"0.0.TASK"},"x_to":["code-reviewer"],"x_task":"task_12345","x_priority":"high",
        "x_deadline":"2025-02-01T10:05:00Z"}}"#,
    );
    let allocated = at(&document, "/payload/env/task_id").to_owned();
    assert_eq!(document.to_string(), expected.to_string().replace("0.0.TASK", &allocated));
    for path in
        ["/payload/goal", "/payload/output_contract", "/payload/env/client_id", "/payload/env/task_id"]
    {
        assert!(encoded.invented.iter().any(|invented| invented == path), "{path} is invented");
    }
    let read = decode(&document);
    assert_eq!(
        (read.to, read.task, read.priority, read.deadline),
        (request.to, request.task, request.priority, request.deadline)
    );
}

#[test]
fn a_request_that_only_points_is_a_pointer() {
    let pointer = r#"{"kind":"task.request","from":"system","to":["roles.developer"],"task":"0.0.7"}"#;
    let document = encode(&message(pointer));
    assert_eq!(
        document.pointer("/payload").map(Value::to_string).as_deref(),
        Some(r#"{"task_id":"0.0.7","role":"developer"}"#)
    );
    assert_eq!(at(&document, "/type"), "available");
    let long = "x".repeat(512);
    let wordy = format!(
        r#"{{"kind":"task.request","from":"system","to":["roles.developer"],"task":"0.0.7","native_id":"{long}","thread":"{long}"}}"#
    );
    assert_eq!(at(&encode(&message(&wordy)), "/type"), "brief");
}

#[test]
fn errors_are_said_where_wires_say_them() {
    let failed = encode(&message(
        r#"{"kind":"task.failed","from":"quinn","to":["mindy"],"task":"t-1","text":"I gave up.",
        "error":{"code":"TIMEOUT","message":"The tool did not answer.","actions":["Try later","Give up"]}}"#,
    ));
    assert_eq!(at(&failed, "/payload/blocker_type"), "tool_failure");
    assert_eq!(at(&failed, "/payload/reason"), "The tool did not answer.\n\nI gave up.");
    assert_eq!(at(&failed, "/payload/suggested_resolution"), "Try later");
    let read = decode(&failed);
    let error = read.error.unwrap();
    assert_eq!(
        (error.code.as_deref(), error.message.as_deref()),
        (Some("TIMEOUT"), Some("The tool did not answer."))
    );
    assert_eq!(read.text.as_deref(), Some("I gave up."));
    let without_task = encode(&message(
        r#"{"kind":"error.report","from":"quinn","to":["mindy"],"error":{"code":"E1","message":"Disk is full"}}"#,
    ));
    assert_eq!(
        (at(&without_task, "/type"), at(&without_task, "/payload/message_type")),
        ("inbox", "task.blocked")
    );
    assert_eq!(at(&without_task, "/payload/body"), "Error E1: Disk is full");
    let error = decode(&without_task).error.unwrap();
    assert_eq!((error.code.as_deref(), error.message.as_deref()), (Some("E1"), Some("Disk is full")));
}

#[test]
fn long_text_is_cut_with_a_mark() {
    let text = "word ".repeat(500);
    let text = text.trim_end();
    let request = encode(&message(&format!(
        r#"{{"kind":"task.request","from":"a","to":["b"],"title":"X is built.","text":"{text}"}}"#
    )));
    assert!(dialect::is_cut(at(&request, "/payload/context")));
    let verification = r#"{"verification":{"mechanical":"pass","semantic":"pass","attempts":1}}"#;
    let done = encode(&message(&format!(
        r#"{{"kind":"task.done","from":"a","to":["b"],"task":"0.0.1","text":"{text}","result":{verification}}}"#
    )));
    assert!(dialect::is_cut(at(&done, "/payload/summary")));
    let note = encode(&message(&format!(r#"{{"kind":"note","from":"a","to":["b"],"text":"{text}"}}"#)));
    assert_eq!(at(&note, "/payload/body"), text);
}

#[test]
fn text_that_fits_is_kept_whole_before_what_else_is_said() {
    let text = "word ".repeat(195);
    let text = text.trim_end();
    let request = message(&format!(
        r#"{{"kind":"task.request","from":"a","to":["b"],"title":"X is built.","text":"{text}","attachments":[{{"uri":"a.diff"}}],"code":"one two three four five"}}"#
    ));
    let document = encode(&request);
    assert_eq!(at(&document, "/payload/context"), text);
    assert_eq!(decode(&document).text.as_deref(), Some(text));
}

#[test]
fn strange_names_become_slugs_and_are_kept_beside() {
    let sent =
        message(r##"{"kind":"task.claim","from":"4ever","to":["#deploys","claude#2"],"task":"0.0.1"}"##);
    let document = encode(&sent);
    assert_eq!((at(&document, "/sender"), at(&document, "/payload/agent")), ("agent-4ever", "agent-4ever"));
    let read = decode(&document);
    assert_eq!((read.from, read.to), (sent.from, sent.to));
    let note = message(r##"{"kind":"note","from":"did:plc:Ann","to":["#deploys"],"text":"x"}"##);
    let document = encode(&note);
    assert_eq!(
        (at(&document, "/sender"), at(&document, "/payload/to_agent")),
        ("did:plc:ann", "topic:deploys")
    );
    let read = decode(&document);
    assert_eq!((read.from, read.to), (note.from, note.to));
}

#[test]
fn the_registry_gives_names_to_aliases() {
    let registry = r#"[{"slug":"ann","did":"did:plc:ann","uri":"codex://ann-of-green"},{"slug":"4ever","did":"did:plc:four"}]"#;
    let names = Names::from_value(&parse(registry)).unwrap();
    let note =
        message(r#"{"kind":"note","from":"did:plc:four","to":["codex://ann-of-green","bob"],"text":"x"}"#);
    let document = Value::Object(Wire.encode(&note, &names).document);
    assert!(Wire.validate(&document).is_valid());
    assert_eq!((at(&document, "/sender"), at(&document, "/payload/to_agent")), ("agent-4ever", "ann"));
    let read = Wire.decode(&document, &names).unwrap().message;
    let to: Vec<String> = read.to.iter().map(ToString::to_string).collect();
    assert_eq!((read.from.as_str(), to), ("4ever", vec!["ann".to_owned(), "bob".to_owned()]));
}
