//! The forms of the running network: read with a warning, refused by the strict check.

use dialect::{Dialect, Names};
use json::Value;
use proptest::prelude::*;

use super::{decoded, shown, value};
use crate::{Comms, codes};

const HEAD: &str = r#""sender":"did:cf:abc","createdAt":"2026-11-15T10:00:00Z""#;

#[test]
fn drifted_records_are_read_as_they_are_meant() {
    let cases = [
        (
            r#""$type":"agent.comms.task","recipient":"did:cf:def@net","replyTo":"did:cf:abc/agent.comms.message/0m3abc1x9y8z7w","task":"Review","params":[1.5],"resultVisibility":"private""#,
            r#"{"kind":"task.request","from":"did:cf:abc","to":["did:cf:def@net"],"reply_to":"did:cf:abc/agent.comms.message/0m3abc1x9y8z7w","correlation":"did:cf:abc/agent.comms.message/0m3abc1x9y8z7w","title":"Review","data":[1.5]}"#,
            &["/$type", "/recipient", "/replyTo", "/params"][..],
        ),
        (
            r#""$type":"agent.comms.response","recipient":"did:cf:def","requestUri":"at://did:cf:def/agent.comms.task/0m3abc1x9y8z7w","status":"completed","result":"all good""#,
            r#"{"kind":"task.done","from":"did:cf:abc","to":["did:cf:def"],"reply_to":"at://did:cf:def/agent.comms.task/0m3abc1x9y8z7w","correlation":"at://did:cf:def/agent.comms.task/0m3abc1x9y8z7w","task":"at://did:cf:def/agent.comms.task/0m3abc1x9y8z7w","status":"done","result":"all good"}"#,
            &["/request", "/recipient", "/requestUri", "/status", "/result"],
        ),
        (
            r#""$type":"agent.comms.response","requestUri":"did:cf:def/agent.comms.task/x","status":"failed","error":"no access""#,
            r#"{"kind":"task.failed","from":"did:cf:abc","to":["did:cf:def"],"reply_to":"did:cf:def/agent.comms.task/x","correlation":"did:cf:def/agent.comms.task/x","task":"did:cf:def/agent.comms.task/x","status":"failed","error":{"message":"no access"}}"#,
            &["/request", "/requestUri", "/status", "/error"],
        ),
        (
            r#""$type":"agent.comms.response","recipient":"did:cf:def","requestUri":"did:cf:def/agent.comms.task/x","status":"accepted""#,
            r#"{"kind":"task.claim","from":"did:cf:abc","to":["did:cf:def"],"reply_to":"did:cf:def/agent.comms.task/x","correlation":"did:cf:def/agent.comms.task/x","task":"did:cf:def/agent.comms.task/x","status":"claimed"}"#,
            &["/request", "/recipient", "/requestUri", "/status"],
        ),
        (
            r#""$type":"agent.comms.handoff","from":"did:cf:abc@a","to":"did:cf:def@b","reason":"out of budget","context":[{"recordId":"did:cf:abc/x/y","encryptedDek":"AA"}]"#,
            r#"{"kind":"handoff.offer","from":"did:cf:abc@a","to":["did:cf:def@b"],"text":"out of budget","handoff":{"reason":"out of budget"}}"#,
            &["/from", "/to", "/summary", "/reason", "/context/0"],
        ),
        (
            r#""$type":"agent.comms.broadcast","senderName":"Abc","recipient":"did:cf:def","intent":"alert","content":{"kind":"text","text":"Stop"}"#,
            r#"{"kind":"announce","from":"did:cf:abc","to":["did:cf:def"],"text":"Stop"}"#,
            &["/recipient", "/intent"],
        ),
        (
            r#""$type":"agent.comms.message","recipient":"did:cf:def","thread":"thread-0m3abc1x9y8z7w","content":{"kind":"ref","uri":"did:cf:abc/agent.memory.note/x"},"priority":1"#,
            r#"{"kind":"note","from":"did:cf:abc","to":["did:cf:def"],"thread":"thread-0m3abc1x9y8z7w","blob":"did:cf:abc/agent.memory.note/x","attachments":[{"uri":"did:cf:abc/agent.memory.note/x"}],"priority":"low"}"#,
            &["/thread", "/content/kind"],
        ),
        (
            r#""$type":"agent.comms.message","recipient":"did:cf:def","thread":"0m3abc1x9y8z7w","content":{"kind":"json","data":["a",2.5]}"#,
            r#"{"kind":"note","from":"did:cf:abc","to":["did:cf:def"],"thread":"0m3abc1x9y8z7w","data":["a",2.5]}"#,
            &["/thread", "/content/data"],
        ),
    ];
    for (fields, expected, drifted) in cases {
        let document = value(&format!("{{{HEAD},{fields}}}"));
        let read = decoded(&document, &Names::default());
        let mut expected = value(expected);
        if let Some(object) = expected.as_object_mut() {
            object.insert("convoke", 1_i64);
            object.insert("created", "2026-11-15T10:00:00Z");
        }
        assert_eq!(read.message.to_value(), expected, "{document}");
        let warned: Vec<&str> = read
            .warnings
            .kept()
            .iter()
            .filter(|finding| finding.code == codes::DRIFTED)
            .map(|finding| finding.path.as_str())
            .collect();
        for path in drifted {
            assert!(warned.contains(path), "{path} is not in {warned:?} of {document}");
        }
        let only_unknown_fields = fields.contains("intent");
        assert_eq!(Comms.validate(&document).is_valid(), only_unknown_fields, "{document}");
    }
}

#[test]
fn what_nobody_writes_is_refused() {
    let message = format!(
        r#"{{"$type":"agent.comms.message",{HEAD},"recipient":"did:plc:b","content":{{"kind":"text","text":"x"}}}}"#
    );
    let response = format!(
        r#"{{"$type":"agent.comms.response",{HEAD},"request":"at://did:plc:b/agent.comms.request/x","status":"ok"}}"#
    );
    let cases: &[(&str, &str, &str, &str)] = &[
        (&message, "/$type", r#""agent.comms.other""#, "/$type unknown_lexicon schema"),
        (&message, "/$type", r#""agent.comms.message#main""#, "/$type type_field schema"),
        (&message, "/sender", r#""ann""#, "/sender format schema"),
        (&message, "/sender", r#""did:cf:a b""#, "/sender format schema"),
        (&message, "/sender", "null", "/sender null schema"),
        (&message, "/recipient", "5", "/recipient type schema"),
        (&message, "/content", r#"{"kind":"audio"}"#, "/content/kind enum schema"),
        (&message, "/content", r#"{"kind":"ref"}"#, "/content/kind enum schema"),
        (&message, "/content", r#"{}"#, "/content/kind required schema"),
        (
            &message,
            "/content",
            r#"{"kind":"binary","blob":{"$type":"blob"}}"#,
            "/content/blob/ref blob schema",
        ),
        (&message, "/priority", "6", "/priority maximum schema"),
        (&message, "/priority", "1.5", "/priority float schema"),
        (&message, "/createdAt", r#""yesterday""#, "/createdAt format schema"),
        (&message, "/thread", r#""""#, "/thread format schema"),
        (&message, "/context", r#"["https://example.com"]"#, "/context/0 format schema"),
        (&response, "/status", r#""done""#, "/status enum schema"),
        (&response, "/request", r#""/x/y""#, "/request format schema"),
        (&response, "/error", "5", "/error type schema"),
        (&response, "/artifacts", r#"[{}]"#, "/artifacts/0 type schema"),
    ];
    for (base, place, new, error) in cases {
        let mut document = value(base);
        document.as_object_mut().unwrap().insert(place[1..].to_owned(), value(new));
        let errors = Comms.decode(&document, &Names::default()).unwrap_err();
        assert!(shown(&errors).contains(&(*error).to_owned()), "{document}: {:?}", shown(&errors));
    }
    for text in ["[]", "{}", "null", r#"{"$type":"agent.comms.task"}"#] {
        assert!(Comms.decode(&value(text), &Names::default()).is_err(), "{text}");
    }
}

#[test]
fn what_is_only_untidy_is_read_with_a_warning() {
    let long = "x".repeat(10_001);
    let cases: &[(&str, Value<'static>, &str)] = &[
        ("senderHandle", Value::from("no handle"), "/senderHandle format schema"),
        ("senderHandle", Value::Null, "/senderHandle null schema"),
        ("expiresAt", Value::from("2026-11-15T10:00:01z"), "/expiresAt drifted schema"),
        ("expiresAt", Value::from("2026-11-15T09:00:00Z"), "/expiresAt expires_before_created rule"),
        ("createdAt", Value::Null, "/createdAt null schema"),
        ("x", value("1.5"), "/x float schema"),
        (
            "content",
            value(&format!(r#"{{"kind":"text","text":"{long}"}}"#)),
            "/content/text max_length schema",
        ),
        ("content", value(r#"{"kind":"text"}"#), "/content/text content_required rule"),
        ("inReplyTo", Value::from("did:cf:abc/agent.comms.message/x"), "/inReplyTo drifted schema"),
        (
            "inReplyTo",
            Value::from(format!("at://did:plc:{}/agent.comms.message/x", "a".repeat(600))),
            "/inReplyTo left_out rule",
        ),
    ];
    for (key, new, warning) in cases {
        let mut document = value(
            r#"{"$type":"agent.comms.message","sender":"did:plc:a","recipient":"did:plc:b","content":{"kind":"text","text":"x"},"createdAt":"2026-11-15T10:00:00Z"}"#,
        );
        document.as_object_mut().unwrap().insert((*key).to_owned(), new.clone());
        let read = decoded(&document, &Names::default());
        assert!(shown(&read.warnings).contains(&(*warning).to_owned()), "{:?}", shown(&read.warnings));
    }
}

proptest! {
    #[test]
    fn drifted_records_are_always_read(document in testkit::generate::comms::drifted()) {
        decoded(&document, &Names::default());
        prop_assert!(crate::recipients(document.as_object().unwrap()).is_some());
    }
}
