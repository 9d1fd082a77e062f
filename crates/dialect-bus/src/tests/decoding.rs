//! Documents read as messages.

use dialect::{Dialect, Names};
use json::{Object, Value};

use super::{decoded, edited, good, message, parse, shown};
use crate::Bus;

/// Each line of `decoded.jsonl` is what a good vector is read as. `UPDATE_VECTORS=1` rewrites; read the diff.
#[test]
fn good_documents_are_read_as_they_were() {
    let folder = testkit::root().join("vectors/bus");
    let mut files: Vec<String> = std::fs::read_dir(folder.join("good"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    files.sort();
    let lines: Vec<String> = files.iter().map(|name| read(name).to_string()).collect();
    let found = format!("{}\n", lines.join("\n"));
    let file = folder.join("decoded.jsonl");
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        std::fs::write(&file, found).unwrap();
        return;
    }
    for (expected, found) in testkit::read(&file).lines().zip(found.lines()) {
        assert_eq!(expected, found);
    }
    assert_eq!(testkit::read(&file), found);
}

fn read(name: &str) -> Value<'static> {
    let text = good(name);
    let list = |items: Vec<String>| Value::Array(items.into_iter().map(Value::from).collect());
    let mut line: Object<'static> = [("document", Value::from(name.to_owned()))].into_iter().collect();
    match Bus.decode(&parse(&text), &Names::default()) {
        Ok(decoded) => {
            line.insert("message", decoded.message.to_value().into_owned());
            line.insert("warnings", list(shown(&decoded.warnings)));
        }
        Err(errors) => {
            line.insert("errors", list(shown(&errors)));
        }
    }
    Value::Object(line)
}

/// The worked example: what every other dialect needs of the specification's request.
#[test]
fn the_request_of_the_specification_says_all_that_others_need() {
    let expected = message(
        r#"{"kind":"task.request","from":"orchestrator","to":["code-reviewer"],"native_id":"msg_1719000000000_abcd123",
            "thread":"sess_feature_x","task":"task_12345","correlation":"task_12345","title":"code_review",
            "attachments":[{"uri":"src/api/user-service.ts"}],"priority":"high","created":"2025-02-01T10:00:00Z",
            "delivery":{"mode":"async","timeout":"300s","retries":2,"backoff":"exponential","fallback":["fullstack-reviewer"]},
            "brief":{"task_type":"code_review","criteria":["no high severity lint issues"]}}"#,
    );
    assert_eq!(decoded(&edited("task-request", &[], &[])), (expected, vec![]));
}

#[test]
fn what_users_leave_out_has_a_default_and_a_warning() {
    let (message, warnings) = decoded(&edited("task-request", &[], &["/routing", "/priority"]));
    assert_eq!(warnings, ["/priority required schema", "/routing required schema"]);
    assert_eq!(message.priority, Some(message::Priority::Normal));
    let delivery = message.delivery.unwrap();
    assert_eq!(delivery.timeout.unwrap().text(), "300s");
    assert_eq!((delivery.retries, delivery.guarantee), (Some(3), None));
    assert_eq!(delivery.backoff, Some(message::Backoff::Exponential));
    assert_eq!(delivery.mode, Some(message::Mode::Async));
    let cases = [
        "/payload",
        "/sender/framework",
        "/recipient/framework",
        "/routing/timeout",
        "/routing/delivery_mode",
        "/routing/retry_policy",
        "/routing/retry_policy/max_retries",
        "/routing/retry_policy/backoff",
    ];
    for place in cases {
        let (_, warnings) = decoded(&edited("task-request", &[], &[place]));
        assert_eq!(warnings, [format!("{place} required schema")]);
    }
}

/// The last three examples of the specification are fragments; even tolerantly nobody can be told from them.
#[test]
fn documents_that_do_not_say_who_and_what_are_refused() {
    for place in ["/message_id", "/timestamp", "/sender", "/recipient", "/message_type"] {
        let document = edited("task-request", &[], &[place]);
        let errors = Bus.decode(&document.into(), &Names::default()).unwrap_err();
        assert_eq!(shown(&errors), [format!("{place} required schema")]);
    }
    let cases = [
        ("/message_type", "\"task\"", "/message_type enum schema"),
        ("/priority", "\"normal\"", "/priority enum schema"),
        ("/routing/delivery_mode", "\"later\"", "/routing/delivery_mode enum schema"),
        ("/routing/timeout", "\"300\"", "/routing/timeout format schema"),
        ("/routing/timeout", "300", "/routing/timeout type schema"),
        ("/timestamp", "\"today\"", "/timestamp format schema"),
        ("/sender/framework", "\"codex\"", "/sender/framework framework_mismatch rule"),
    ];
    for (place, value, error) in cases {
        let document = edited("task-request", &[(place, value)], &[]);
        assert_eq!(shown(&Bus.decode(&document.into(), &Names::default()).unwrap_err()), [error]);
    }
    for name in ["descriptor", "registration"] {
        let errors = Bus.decode(&edited(name, &[], &[]).into(), &Names::default()).unwrap_err();
        assert_eq!(shown(&errors), [" not_a_message rule"]);
    }
}

#[test]
fn an_error_has_three_shapes_and_one_meaning() {
    let cases = [
        (r#"{"code":"E1","message":"m","details":"log"}"#, Some("E1"), Some("m"), Some("log")),
        (
            r#"{"error_code":"E1","error_message":"m","details":{"stack_trace":"at x"}}"#,
            Some("E1"),
            Some("m"),
            Some("at x"),
        ),
        (r#"{"error":"m","status":"failed","task_id":"t","agent_id":"a"}"#, None, Some("m"), None),
    ];
    for (payload, code, text, stack) in cases {
        let (message, warnings) = decoded(&edited("error", &[("/payload", payload)], &[]));
        let error = message.error.unwrap();
        assert_eq!((error.code.as_deref(), error.message.as_deref()), (code, text), "{payload}");
        assert_eq!((error.stack.as_deref(), error.retryable), (stack, Some(false)), "{payload}");
        assert_eq!(message.kind, message::Kind::TaskFailed);
        assert!(warnings.is_empty(), "{warnings:?}");
    }
}

#[test]
fn a_payload_that_says_shutdown_is_only_text() {
    let (message, warnings) = decoded(&edited("shutdown", &[], &[]));
    assert_eq!(warnings, ["/payload/status shutdown_ignored rule"]);
    assert_eq!(message.kind, message::Kind::AgentStatus);
    assert!(message.presence.is_none() && message.status.is_none());
    assert_eq!(message.data.unwrap().to_string(), r#"{"status":"shutdown"}"#);
}

#[test]
fn what_the_canonical_form_cannot_hold_stays_data() {
    let payload = r#"{"task_type":7,"files":["a",""],"requirements":["x",1],"deadline":"soon","refs":["\u0001"],"cpu":-1,
        "pid":-5,"substate":"x","gate":{"decision":"approved"},"metrics":{"tokens":5,"other":1},"severity":"P1"}"#;
    let (message, warnings) = decoded(&edited("task-request", &[("/payload", payload)], &[]));
    let mut left = message.data.unwrap().as_object().unwrap().clone();
    assert_eq!(left.remove("metrics"), Some(parse(r#"{"tokens":5,"other":1}"#).into_owned()));
    assert_eq!(left.len(), 10, "{left}");
    assert_eq!(warnings, ["/payload/task_type payload rule"]);
    assert_eq!(message.metrics.unwrap().tokens.unwrap().lexeme(), "5");
    assert!(message.attachments.is_empty() && message.presence.is_none() && message.gate.is_none());
}

#[test]
fn the_origin_is_not_read() {
    let document = edited("task-request", &[("/metadata/x_origin", r#"{"dialect":"wire"}"#)], &[]);
    assert_eq!(decoded(&document), decoded(&edited("task-request", &[], &[])));
}
