//! Reading: which field of a wire becomes which field of the message.

use dialect::{Dialect, Names};
use json::Value;

use super::{decode, message, parse, shown, vector};
use crate::Wire;

/// Reads a vector and compares the whole message.
#[track_caller]
fn check(name: &str, expected: &str) {
    let read = decode(&vector(&format!("good/{name}")));
    assert_eq!(read.to_value(), message(expected).to_value(), "{name}");
}

#[test]
fn a_brief_is_a_request() {
    check(
        "brief-1-1",
        r#"{"kind":"task.request","from":"mindy","to":["roles.any"],"native_id":"brief.auth.0123456789abcdef",
        "thread":"task:0.0.8802709","correlation":"run-7","task":"0.0.8802709",
        "title":"The auth middleware is merged, e.g. behind a flag.",
        "text":"Users are logged out too often 😀.\n\nSee the incident of 2026-04-20.","created":"2026-04-28T00:00:00Z",
        "brief":{"context":"Users are logged out too often 😀.\n\nSee the incident of 2026-04-20.",
        "constraints":["Specific constraint on this task instance"],"criteria":["Testable condition for completion"],
        "output":{"type":"report","schema_ref":"review_report","output_ref_required":true,"min_length":0,
        "evaluate":"The report names every open issue."}}}"#,
    );
}

#[test]
fn pointers_are_requests_to_a_role() {
    check(
        "available",
        r#"{"kind":"task.request","from":"system","to":["roles.developer"],"task":"0.0.8802709","created":"2026-04-28T12:00:00Z"}"#,
    );
    check("pointer", r#"{"kind":"task.request","from":"system","to":["roles.any"],"task":"0.0.8802709"}"#);
}

#[test]
fn inbox_messages_mean_what_their_type_says() {
    check(
        "inbox-task-feedback",
        r#"{"kind":"review.verdict","from":"vikram","to":["quinn"],"task":"0.0.8802709","title":"Review of the auth middleware",
        "text":"1. The token is logged.\n2. No test for expiry.","priority":"high","created":"2026-04-28T12:00:00Z","gate":{"action_required":true}}"#,
    );
    check(
        "inbox-status-update",
        r#"{"kind":"note","from":"mindy","to":["quinn"],"title":"The release moved","text":"The release is on Friday now.",
        "priority":"normal","created":"2026-04-28T12:00:00Z"}"#,
    );
    check(
        "inbox-task-blocked",
        r#"{"kind":"task.blocked","from":"runner","to":["mindy"],"task":"0.0.8802709","title":"Task is stuck","text":"Verification failed twice.",
        "priority":"critical","created":"2026-04-28T12:00:00Z","status":"blocked","gate":{"action_required":true}}"#,
    );
    check(
        "inbox-exec-gate",
        r#"{"kind":"gate","from":"runner","to":["justin"],"task":"0.0.8802709","title":"Approve the deployment","text":"Everything is verified.",
        "priority":"critical","created":"2026-04-28T12:00:00Z","gate":{"action_required":true}}"#,
    );
    check(
        "inbox-question",
        r#"{"kind":"question","from":"quinn","to":["priya"],"task":"0.0.8802709","title":"Which expiry?","text":"Should tokens live 15 or 30 minutes?",
        "priority":"high","created":"2026-04-28T12:00:00Z","gate":{"action_required":true}}"#,
    );
    check(
        "inbox-info",
        r#"{"kind":"note","from":"atlas","to":["human"],"title":"Backup is done","priority":"normal","created":"2026-04-28T12:00:00Z"}"#,
    );
    let mut update = vector("good/inbox-status-update");
    put(&mut update, "ref_task_id", Value::from("0.0.1"));
    assert_eq!(decode(&update).kind.name(), "task.progress");
}

#[test]
fn what_happens_to_work() {
    check(
        "complete",
        r##"{"kind":"task.done","from":"runner","to":["#0.0.8802709"],"task":"0.0.8802709","text":"Auth middleware is built. Tests pass.",
        "attachments":[{"uri":"outputs/0.0.8802709/report.md"}],"created":"2026-04-28T12:00:00Z","status":"done",
        "result":{"verification":{"mechanical":"pass","semantic":"pass","attempts":1},"agent":"quinn"},
        "metrics":{"duration_ms":90500,"cost_usd":0.250}}"##,
    );
    check(
        "blocked-spec-gap",
        r##"{"kind":"task.blocked","from":"runner","to":["#0.0.8802709"],"task":"0.0.8802709","text":"The brief does not name the expiry of tokens.",
        "created":"2026-04-28T12:00:00Z","status":"blocked",
        "error":{"code":"spec_gap","message":"The brief does not name the expiry of tokens.","actions":["Ask Priya."]}}"##,
    );
    let claim = r#"{"kind":"task.claim","from":"quinn","to":["roles.developer"],"task":"0.0.8802709","created":"2026-04-28T12:00:00Z","status":"claimed"}"#;
    for name in ["claim", "claim-prefixed-role", "ledger-task-claim", "ledger-task-claimed"] {
        check(name, claim);
    }
}

#[test]
fn what_is_missing_is_taken_by_default_with_a_warning() {
    let document = parse(
        r#"{"wire":"1.0","type":"inbox","sender":"runner","ts":"2026-04-28T12:00:00Z","payload":{"to_agent":"mindy","message_type":"exec.gate","body":"Go?"}}"#,
    );
    assert!(!Wire.validate(&document).is_valid());
    let decoded = Wire.decode(&document, &Names::default()).unwrap();
    assert_eq!(decoded.message.priority.map(|priority| priority.name()), Some("critical"));
    let warnings = [
        "/payload/priority required schema",
        "/payload/subject required schema",
        "/payload/action_required required schema",
    ];
    assert_eq!(shown(&decoded.warnings), warnings);
}

#[test]
fn long_prose_is_read_with_a_warning() {
    let mut brief = vector("good/brief");
    put(&mut brief, "context", Value::from("w ".repeat(201)));
    let decoded = Wire.decode(&brief, &Names::default()).unwrap();
    assert!(shown(&decoded.warnings).contains(&"/payload/context too_many_words rule".to_owned()));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let cases = [
        (
            "complete",
            "verification",
            r#"{"mechanical":"pass","semantic":"fail","attempts":1}"#,
            "/payload/verification/semantic failed_verification rule",
        ),
        ("claim", "agent", "\"vikram\"", "/payload/agent not_the_sender rule"),
        ("inbox-info", "message_type", "\"chat\"", "/payload/message_type enum schema"),
        ("blocked-resource", "blocker_type", "\"other\"", "/payload/blocker_type enum schema"),
    ];
    for (name, key, value, error) in cases {
        let mut document = vector(&format!("good/{name}"));
        put(&mut document, key, parse(value));
        let errors = Wire.decode(&document, &Names::default()).unwrap_err();
        assert_eq!(shown(&errors), [error]);
    }
    assert!(Wire.decode(&Value::Null, &Names::default()).is_err());
}

/// Who shows one name cannot use another, and what was edited counts more than what we noted beside it.
#[test]
fn a_visible_field_counts_more_than_an_extension_that_disagrees() {
    let inbox = |extension: &str, value: &str| {
        let mut document = vector("good/inbox-info");
        put(&mut document, "body", Value::from("Hello there"));
        put(&mut document, extension, parse(value));
        decode(&document)
    };
    assert_eq!(inbox("x_from", "\"human\"").from.as_str(), "atlas");
    assert_eq!(inbox("x_to", r#"["mindy"]"#).to[0].to_string(), "human");
    assert_eq!(inbox("x_to", r#"["human","mindy"]"#).to.len(), 2);
    assert_eq!(inbox("x_to", r#"["human",1]"#).to.len(), 1);
    assert_eq!(inbox("x_priority", "\"low\"").priority.map(|priority| priority.name()), Some("low"));
    assert_eq!(inbox("x_priority", "\"high\"").priority.map(|priority| priority.name()), Some("normal"));
    assert_eq!(inbox("x_kind", "\"help.reply\"").kind.name(), "help.reply");
    assert_eq!(inbox("x_kind", "\"task.done\"").kind.name(), "note");
    assert_eq!(inbox("x_text", "\"Hello\"").text.as_deref(), Some("Hello"));
    assert_eq!(inbox("x_text", "\"Goodbye\"").text.as_deref(), Some("Hello there"));
    assert_eq!(inbox("x_task", "\"t-9\"").task.map(|task| task.to_string()).as_deref(), Some("t-9"));
    let mut claim = vector("good/claim");
    put(&mut claim, "x_task", Value::from("t-9"));
    assert_eq!(decode(&claim).task.map(|task| task.to_string()).as_deref(), Some("0.0.8802709"));
}

#[test]
fn the_registry_tells_who_is_meant() {
    let registry = r#"[{"slug":"ann","did":"did:plc:ann"},{"slug":"zoe","handle":"dreamborn:publisher"}]"#;
    let names = Names::from_value(&parse(registry)).unwrap();
    let mut document = vector("good/sender-publisher");
    put(&mut document, "to_agent", Value::from("did:plc:ann"));
    let message = Wire.decode(&document, &names).unwrap().message;
    assert_eq!((message.from.as_str(), message.to[0].to_string().as_str()), ("zoe", "ann"));
}

fn put(document: &mut Value<'static>, key: &str, value: Value<'static>) {
    let payload = document.as_object_mut().unwrap().get_mut("payload").unwrap();
    payload.as_object_mut().unwrap().insert(key.to_owned(), value);
}
