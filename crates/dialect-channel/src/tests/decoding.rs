//! Reading documents: what each becomes, and what a tolerant reader lets pass.

use dialect::{Dialect, Names};
use json::Value;

use super::{decode, good, show, value};
use crate::Channel;

fn canonical(name: &str) -> String {
    decode(&good(name)).message.encode()
}

fn edited(name: &str, edits: &[(&str, &str)]) -> Value<'static> {
    let mut document = good(name).as_object().unwrap().clone();
    for (key, text) in edits {
        if text.is_empty() {
            document.remove(key);
        } else {
            document.insert((*key).to_owned(), value(text));
        }
    }
    Value::Object(document)
}

#[test]
fn the_message_of_the_specification() {
    assert_eq!(
        canonical("message"),
        r#"{"convoke":1,"native_id":"msg-20260111-163315-claude-4c78","kind":"note","from":"claude","to":["codex"],"thread":"agent-os-paper","reply_to":"msg-20260111-163300-codex-a1b2","text":"Your message text here","created":"2026-01-11T16:33:15.123Z"}"#
    );
}

#[test]
fn documents_become_messages() {
    #[rustfmt::skip]
    let cases = [
        ("broadcast", r#"{"convoke":1,"native_id":"msg-20260111-163321-codex-9099","kind":"note","from":"codex","to":["channel:agent-os-paper"],"thread":"agent-os-paper","text":"Team update: Phase 1 complete","created":"2026-01-11T16:33:21.000Z"}"#),
        ("task-assign", r#"{"convoke":1,"native_id":"msg-20260111-100000-supervisor-0001","kind":"task.request","from":"supervisor","to":["codex"],"thread":"agent-os-paper","text":"@codex Write the parser","data":{"acceptance":["all vectors pass"]},"attachments":[{"uri":"src/parser.rs"},{"uri":"docs/grammar.md","mime":"text/markdown","size":1200}],"created":"2026-01-11T10:00:00.000Z"}"#),
        ("task-result", r#"{"convoke":1,"native_id":"msg-20260111-100030-codex-0002","kind":"task.done","from":"codex","to":["supervisor"],"thread":"agent-os-paper","reply_to":"msg-20260111-100000-supervisor-0001","text":"Done, 14 tests pass","code":"fn main() {}\n","created":"2026-01-11T10:00:30.000Z"}"#),
        ("supervisor-to-human", r#"{"convoke":1,"native_id":"msg-20260111-155713-supervisor-b4f6","kind":"note","from":"supervisor","to":["human"],"thread":"human-supervisor","text":"Phase 1 is done","created":"2026-01-11T15:57:13.000Z"}"#),
        ("watcher-reply", r#"{"convoke":1,"native_id":"msg-20260111-155715-codex-7fff","kind":"note","from":"codex","to":["channel:agent-os-paper"],"thread":"agent-os-paper","reply_to":"msg-20260111-155714-supervisor-b4f6","text":"On it 👍","created":"2026-01-11T15:57:15.000Z"}"#),
        ("unknown-type", r#"{"convoke":1,"native_id":"msg-20260111-155717-claude-7ffd","kind":"note","from":"claude","to":["channel:team-ideas-2"],"thread":"team-Ideas 2","text":"What if channels were trees?","created":"2026-01-11T15:57:17.000Z"}"#),
        ("ours", r#"{"convoke":1,"native_id":"msg-20260111-155719-ann-7ffb","kind":"task.progress","from":"ann","to":["bob","cyd"],"thread":"at://did:plc:zoe/x/1","task":"t-9","title":"status","text":"half way","data":{"percent":50.0},"priority":"high","created":"2026-01-11T15:57:19.000Z","deadline":"2026-01-12T00:00:00Z","status":"running","error":{"code":"SLOW"}}"#),
        ("heartbeat", r#"{"convoke":1,"kind":"agent.heartbeat","from":"codex","to":["system"],"thread":"agent-os-paper","created":"2026-01-11T16:30:00.000Z","delivery":{"guarantee":"at_most_once"},"presence":{"state":"idle","sub":"IDLE","pid":12345}}"#),
        ("heartbeat-daemon-stopped", r#"{"convoke":1,"kind":"agent.heartbeat","from":"gemini","to":["system"],"thread":"agent-os-paper","created":"2026-01-11T16:30:00.123Z","delivery":{"guarantee":"at_most_once"},"presence":{"state":"offline","sub":"SHUTDOWN"}}"#),
        ("heartbeat-poller", r#"{"convoke":1,"kind":"agent.heartbeat","from":"claude","to":["system"],"thread":"agent-os-paper","created":"2026-01-11T16:30:00Z","delivery":{"guarantee":"at_most_once"},"presence":{"state":"idle","sub":"active"}}"#),
        ("typing", r#"{"convoke":1,"kind":"agent.status","from":"claude","to":["system"],"thread":"agent-os-paper","created":"2026-01-11T16:30:00.500Z","expires":"2026-01-11T16:30:03.500Z","delivery":{"guarantee":"at_most_once"},"presence":{"state":"busy","sub":"typing"}}"#),
    ];
    for (name, expected) in cases {
        assert_eq!(canonical(name), expected, "{name}");
    }
}

#[test]
fn types_tell_kinds() {
    let cases = [
        ("chat", "note"),
        ("task_assign", "task.request"),
        ("task_result", "task.done"),
        ("review_vote", "review.verdict"),
        ("ha_report", "report"),
        ("bag_analysis", "report"),
        ("incident", "error.report"),
        ("docs", "report"),
        ("qc_review", "review.verdict"),
        ("review", "review.verdict"),
        ("triage", "error.report"),
        ("code-review", "review.verdict"),
        ("code", "note"),
        ("supervisor", "note"),
        ("directive", "task.request"),
        ("brainstorm", "note"),
    ];
    for (name, kind) in cases {
        let document = edited("message", &[("type", &format!("{name:?}"))]);
        assert_eq!(decode(&document).message.kind.name(), kind, "{name}");
        assert_eq!(Channel.validate(&document).kind.map(|kind| kind.name()), Some(kind), "{name}");
    }
}

#[test]
fn incidents_state_their_severity_in_words() {
    let cases = [
        ("incident", "P2: out of disk", Some("high")),
        ("triage", "INC-2026-0111-001 is P3.", Some("medium")),
        ("incident", "(P1) and P4", Some("critical")),
        ("incident", "P10 is no severity, nor is XP1", None),
        ("chat", "P1: just talk", None),
    ];
    for (name, text, severity) in cases {
        let content = format!("{{\"text\":{text:?}}}");
        let document = edited("message", &[("type", &format!("{name:?}")), ("content", &content)]);
        assert_eq!(decode(&document).message.severity.map(|severity| severity.name()), severity, "{text}");
    }
}

#[test]
fn a_tolerant_reader_warns_of_what_a_strict_one_refuses() {
    #[rustfmt::skip]
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[("id", "")], "/id required schema"),
        (&[("id", r#""x""#)], "/id id_form rule"),
        (&[("id", r#""msg-20260111-163316-claude-4c78""#)], "/id id_time rule"),
        (&[("timestamp", "")], "/timestamp required schema"),
        (&[("timestamp", r#""2026-01-11T18:33:15+02:00""#)], "/timestamp timestamp_utc rule"),
        (&[("to", "")], "/to required schema"),
        (&[("type", "")], "/type required schema"),
        (&[("session_id", r#""a/b""#)], "/session_id channel_name rule"),
        (&[("content", r#"{"text":"x","artifacts":[1]}"#)], "/content/artifacts/0 artifact_form rule"),
        (&[("content", r#"{"text":"x","artifacts":["a\u0000b"]}"#)], "/content/artifacts/0 artifact_form rule"),
        (&[("id", r#""a\u0000b""#)], "/id not_an_id rule"),
    ];
    for (edits, warning) in cases {
        let decoded = decode(&edited("message", edits));
        assert!(
            show(&decoded.warnings).contains(&(*warning).to_owned()),
            "{edits:?}: {:?}",
            decoded.warnings
        );
    }
    let nobody = decode(&edited("message", &[("to", "")])).message;
    assert_eq!(nobody.to[0].to_string(), "channel:agent-os-paper");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let cases = [
        ("message", "from", ""),
        ("message", "session_id", ""),
        ("message", "content", ""),
        ("message", "content", r#"{"text":1}"#),
        ("message", "timestamp", r#""yesterday""#),
        ("message", "session_id", r#""a\u0000b""#),
        ("heartbeat", "state", r#""DREAMING""#),
        ("heartbeat", "agent_id", "1"),
        ("heartbeat-poller", "status", r#""gone""#),
    ];
    for (name, key, text) in cases {
        let document = edited(name, &[(key, text)]);
        let errors = Channel.decode(&document, &Names::default()).unwrap_err();
        assert!(show(&errors)[0].starts_with(&format!("/{key}")), "{document}: {errors:?}");
    }
    let errors = Channel.decode(&good("registration"), &Names::default()).unwrap_err();
    assert_eq!(show(&errors), [" not_a_message rule"]);
}

#[test]
fn our_own_fields_count_only_where_the_visible_ones_leave_room() {
    let ours = |to: &str, metadata: &str| {
        let document = edited("message", &[("to", to), ("metadata", metadata)]);
        let message = decode(&document).message;
        let to: Vec<String> = message.to.iter().map(ToString::to_string).collect();
        (to.join(" "), message.thread.unwrap().to_string())
    };
    let channel = "channel:agent-os-paper".to_owned();
    let own = "agent-os-paper".to_owned();
    assert_eq!(ours(r#""all""#, r#"{"x_thread":"t"}"#), (channel.clone(), own.clone()));
    assert_eq!(ours(r#""all""#, r##"{"x_to":["#d"],"x_thread":"t"}"##), ("#d".into(), "t".into()));
    assert_eq!(ours(r#""ann""#, r#"{"x_to":["bob"],"x_thread":"t"}"#), ("ann".into(), "t".into()));
    assert_eq!(ours(r#""ann""#, r#"{"x_to":["ann#2"]}"#), ("ann#2".into(), own.clone()));
    assert_eq!(ours(r#""ann""#, r#"{"x_to":["bob#2"]}"#), ("ann".into(), own.clone()));
    assert_eq!(ours(r#""all""#, r#"{"x_to":[1]}"#), (channel, own));
}
