//! Writing messages: the worked translation, each kind, and what people read.

use dialect::{Dialect, Names};
use json::Value;
use message::Kind;

use super::{decode, message, show};
use crate::Channel;

fn encode(text: &str) -> Value<'static> {
    let encoded = Channel.encode(&message(text), &Names::default());
    let document = Value::Object(encoded.document);
    let verdict = Channel.validate(&document);
    assert!(verdict.is_valid(), "{document}: {:?}", show(&verdict.errors));
    document
}

fn at<'v>(document: &'v Value<'_>, pointer: &str) -> &'v str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[test]
fn the_worked_translation() {
    let document = encode(
        r#"{"native_id":"msg_1719000000000_abcd123","kind":"task.request","from":"claude-code://orchestrator","to":["opencode://code-reviewer"],"thread":"sess_feature_x","task":"task_12345","priority":"high","created":"2025-02-01T10:00:00Z","attachments":[{"uri":"src/api/user-service.ts"}],"brief":{"task_type":"code_review","criteria":["no high severity lint issues"]}}"#,
    );
    assert_eq!(
        document.to_string(),
        r#"{"id":"msg-20250201-100000-orchestrator-13f8","timestamp":"2025-02-01T10:00:00.000Z","session_id":"sess_feature_x","from":"orchestrator","to":"code-reviewer","type":"task_assign","content":{"text":"@code-reviewer code_review: src/api/user-service.ts","artifacts":["src/api/user-service.ts"]},"metadata":{"x_priority":"high","x_task":"task_12345","x_brief":{"task_type":"code_review","criteria":["no high severity lint issues"]},"x_lead":"@code-reviewer code_review: src/api/user-service.ts"}}"#
    );
}

#[test]
fn what_people_read() {
    #[rustfmt::skip]
    let cases = [
        (r#""kind":"note","to":["bob"],"text":"hi""#, "hi"),
        (r#""kind":"note","to":["bob","cyd"],"text":"hi""#, "@bob @cyd hi"),
        (r#""kind":"note","to":["bob","cyd"],"text":"hi @cyd""#, "@bob hi @cyd"),
        (r#""kind":"task.request","to":["bob"],"title":"Parser","text":"Please write it""#, "@bob Parser: Please write it"),
        (r#""kind":"task.request","to":["bob"],"title":"Parser","text":"Parser, please""#, "@bob Parser, please"),
        (r#""kind":"task.request","to":["channel:dev"],"title":"Parser""#, "Parser"),
        (r#""kind":"task.request","to":["human"],"title":"Parser""#, "Parser"),
        (r#""kind":"question","to":["claude-1"],"text":"Why?""#, "@claude Why?"),
        (r#""kind":"task.failed","to":["bob"],"task":"t-1","error":{"code":"TIMEOUT","message":"no answer"}"#, "task.failed t-1: error TIMEOUT: no answer"),
        (r#""kind":"task.failed","to":["bob"],"text":"gave up","error":{"code":"TIMEOUT"}"#, "error TIMEOUT\n\ngave up"),
        (r#""kind":"error.report","to":["bob"],"text":"TIMEOUT: no answer","error":{"code":"TIMEOUT","message":"no answer"}"#, "TIMEOUT: no answer"),
        (r#""kind":"task.done","to":["bob"],"task":"t-1","result":{"ok":1.50}"#, r#"task.done t-1: {"ok":1.50}"#),
        (r#""kind":"gate","to":["human"],"title":"Deploy","gate":{"action_required":false,"decision":"rejected","reason":"Friday"}"#, "Deploy: rejected: Friday"),
        (r#""kind":"handoff.offer","to":["bob"],"title":"Parser","handoff":{"reason":"overload"}"#, "@bob Parser: overload"),
        (r#""kind":"note","to":["bob"],"data":{"a":1}"#, r#"{"a":1}"#),
        (r#""kind":"note","to":["bob"]"#, ""),
        (r#""kind":"state.sync","to":["bob"]"#, "state.sync"),
    ];
    for (rest, expected) in cases {
        let document = encode(&format!(r#"{{"from":"ann",{rest}}}"#));
        assert_eq!(at(&document, "/content/text"), expected, "{rest}");
    }
}

#[test]
fn every_kind_has_a_document_and_comes_back() {
    for kind in Kind::ALL {
        let document = encode(&format!(r#"{{"kind":"{kind}","from":"ann","to":["bob"],"text":"x"}}"#));
        assert_eq!(decode(&document).message.kind, *kind, "{document}");
    }
}

#[test]
fn where_a_message_stands() {
    #[rustfmt::skip]
    let cases = [
        (r#""to":["bob"]"#, "direct-ann-bob", "bob"),
        (r#""to":["bob"],"thread":"t-1""#, "t-1", "bob"),
        (r#""to":["bob"],"thread":"Sess X""#, "sess-x", "bob"),
        (r#""to":["bob"],"thread":"../..""#, "direct-ann-bob", "bob"),
        (r#""to":["bob"],"thread":"../etc/passwd""#, "etc-passwd", "bob"),
        (r#""to":["bob"],"thread":"日本""#, "direct-ann-bob", "bob"),
        (r#""to":["channel:team-a"]"#, "team-a", "all"),
        (r#""to":["channel:team-a"],"thread":"t-1""#, "team-a", "all"),
        (r#""to":["channel:team-a"],"thread":"Team-A""#, "Team-A", "all"),
        (r##""to":["#deploys"]"##, "deploys", "all"),
        (r#""to":["all"]"#, "direct-ann-all", "all"),
        (r#""to":["roles.dev"]"#, "direct-ann-all", "all"),
        (r#""to":["bob","cyd"]"#, "direct-ann-all", "all"),
        (r#""to":["human"]"#, "direct-ann-human", "human"),
        (r#""to":["claude#2"]"#, "direct-ann-claude", "claude"),
        (r#""to":["claude-1"]"#, "direct-ann-claude", "claude"),
    ];
    for (rest, session_id, to) in cases {
        let text = format!(r#"{{"kind":"note","from":"ann","text":"x",{rest}}}"#);
        let document = encode(&text);
        assert_eq!((at(&document, "/session_id"), at(&document, "/to")), (session_id, to), "{rest}");
        let (sent, read) = (message(&text), decode(&document).message);
        if !rest.contains("claude-1") {
            assert_eq!(read.to, sent.to, "{document}");
        }
        if let Some(thread) = sent.thread {
            assert_eq!(read.thread, Some(thread), "{document}");
        }
    }
}

#[test]
fn ids_and_times_of_our_own_are_kept() {
    let same = encode(
        r#"{"native_id":"msg-20260111-163315-qc-b4f6","kind":"note","from":"qc-1","to":["bob"],"created":"2026-01-11T16:33:15.123456Z"}"#,
    );
    assert_eq!(at(&same, "/id"), "msg-20260111-163315-qc-b4f6");
    assert_eq!(at(&same, "/timestamp"), "2026-01-11T16:33:15.123456Z");
    let moved = encode(
        r#"{"native_id":"msg-20260111-163315-qc-b4f6","kind":"note","from":"qc-1","to":["bob"],"created":"2026-01-11T17:33:15+02:00"}"#,
    );
    assert_eq!(at(&moved, "/timestamp"), "2026-01-11T15:33:15.000Z");
    assert!(at(&moved, "/id").starts_with("msg-20260111-153315-qc-1-"), "{moved}");
    let leap = encode(r#"{"kind":"note","from":"ann","to":["bob"],"created":"2016-12-31T23:59:60.500Z"}"#);
    assert_eq!(at(&leap, "/timestamp"), "2016-12-31T23:59:59.500Z");
    let none = message(r#"{"kind":"note","from":"ann","to":["bob"]}"#);
    let encoded = Channel.encode(&none, &Names::default());
    assert_eq!(encoded.invented, ["/id", "/timestamp", "/session_id", "/content/text"]);
    assert_eq!(at(&Value::Object(encoded.document), "/timestamp"), "1970-01-01T00:00:00.000Z");
}

#[test]
fn states_become_heartbeats() {
    #[rustfmt::skip]
    let cases = [
        (r#""kind":"agent.heartbeat""#, r#"{"agent_id":"ann","timestamp":"2026-01-11T16:30:00.000Z","state":"AWAKE","substate":"IDLE","channel":"direct-ann-system"}"#),
        (r#""kind":"agent.heartbeat","thread":"dev","presence":{"state":"busy","sub":"REVIEWING","pid":7}"#, r#"{"agent_id":"ann","timestamp":"2026-01-11T16:30:00.000Z","state":"AWAKE","substate":"REVIEWING","watcher_pid":7,"channel":"dev"}"#),
        (r#""kind":"agent.status","thread":"dev","presence":{"state":"offline"}"#, r#"{"agent_id":"ann","timestamp":"2026-01-11T16:30:00.000Z","state":"OFFLINE","substate":"OFFLINE","channel":"dev","metadata":{"x_kind":"agent.status"}}"#),
        (r#""kind":"agent.status","thread":"dev","presence":{"state":"error","tasks":["t-1"]}"#, r#"{"agent_id":"ann","timestamp":"2026-01-11T16:30:00.000Z","state":"AWAKE","substate":"IDLE","channel":"dev","metadata":{"x_presence":{"state":"error","tasks":["t-1"]},"x_kind":"agent.status"}}"#),
    ];
    for (rest, expected) in cases {
        let text = format!(r#"{{"from":"ann","to":["system"],"created":"2026-01-11T16:30:00Z",{rest}}}"#);
        let document = encode(&text);
        assert_eq!(document.to_string(), expected, "{rest}");
        let (sent, read) = (message(&text), decode(&document).message);
        assert_eq!((read.kind, &read.from, &read.to), (sent.kind, &sent.from, &sent.to), "{document}");
        if let Some(presence) = sent.presence {
            assert_eq!(read.presence.as_ref().map(|read| read.state), Some(presence.state), "{document}");
        }
    }
    let spoken = encode(
        r#"{"kind":"agent.status","from":"ann","to":["bob"],"text":"lunch","presence":{"state":"idle"}}"#,
    );
    assert_eq!((at(&spoken, "/type"), at(&spoken, "/content/text")), ("ha_report", "lunch"));
    assert_eq!(decode(&spoken).message.presence.unwrap().state.name(), "idle");
}

#[test]
fn an_edited_text_or_state_wins_over_our_own_fields() {
    let mut document = encode(r#"{"kind":"task.request","from":"ann","to":["bob"],"text":"write it"}"#);
    let edit = |document: &mut Value<'static>, parent: &str, key: &str, text: &str| {
        let mut object = document.as_object().unwrap().clone();
        if parent.is_empty() {
            object.insert(key.to_owned(), Value::from(text.to_owned()));
        } else {
            let inner = object.get_mut(parent).and_then(Value::as_object_mut).unwrap();
            inner.insert(key.to_owned(), Value::from(text.to_owned()));
        }
        *document = Value::Object(object);
    };
    edit(&mut document, "content", "text", "@cyd write it");
    assert_eq!(decode(&document).message.text.as_deref(), Some("@cyd write it"));
    let mut beat = encode(
        r#"{"kind":"agent.heartbeat","from":"ann","to":["system"],"presence":{"state":"error","tasks":["t"]}}"#,
    );
    edit(&mut beat, "", "substate", "WORKING");
    assert_eq!(decode(&beat).message.presence.unwrap().state.name(), "busy");
}
