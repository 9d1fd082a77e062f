//! Skimming beside reading: whatever is skimmed is read without a word, and means the same.

use json::Limits;
use proptest::collection::vec;
use proptest::prelude::*;

use super::generators::message;
use super::properties::{damage, jumble};
use crate::{Message, decode, skim};

/// What a message is routed by, as reading finds it.
fn read(text: &str) -> Option<Message> {
    let decoded = decode(text.as_bytes(), Limits::DOCUMENT).ok().filter(|it| it.warnings.is_empty())?;
    let mut message = decoded.message;
    message.let_content_go();
    Some(message)
}

/// Tells whether a text was skimmed; then reading it must give the same.
fn agrees(text: &str) -> bool {
    let Some(skimmed) = skim(text, Limits::DOCUMENT) else { return false };
    assert_eq!(Some(*skimmed.message), read(text), "{text}");
    let trimmed = text.trim_matches([' ', '\t', '\n', '\r']);
    let is_compact = json::compact(trimmed) == trimmed;
    assert_eq!((skimmed.written.text, skimmed.written.is_compact), (trimmed, is_compact), "{text}");
    true
}

#[test]
fn vectors_mean_the_same_either_way() {
    let mut count = 0;
    for folder in ["good", "bad"] {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors").join(folder);
        for entry in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read(entry.unwrap().path()).unwrap();
            count += std::str::from_utf8(&text).map_or(0, |text| u32::from(agrees(text)));
        }
    }
    assert!(count > 3, "only {count} vectors were skimmed");
}

#[test]
fn ordinary_messages_are_skimmed() {
    for text in [
        r#"{"kind":"note","from":"ann","to":["bob"]}"#,
        r#" { "convoke" : 1, "kind":"question","from":"did:plc:abc","to":["roles.dev","all"],"text":"a\nb \u00e9" } "#,
        r#"{"convoke":1,"id":"0192e4a0-7d3c-7abc-8def-0123456789ab","native_id":"n","kind":"task.request",
            "from":"ann","to":["bob#2"],"thread":"t","reply_to":"r","correlation":"c","task":"k","title":"x",
            "code":"y","data":{"a":[1,{"b":null}]},"mime":"text/plain","blob":"file:///x","refs":["a","b"],
            "priority":"high","severity":"high","created":"2026-11-15T10:00:00Z",
            "expires":"2026-11-15T11:00:00Z","deadline":"2026-11-15T11:00:00Z","status":"running","result":7,
            "delivery":{"mode":"async","guarantee":"at_most_once","timeout":"10s","retries":3,"backoff":"linear",
            "fallback":["cid"],"live_only":true,"hold":false},"error":null,"own":{"x":1}}"#,
    ] {
        assert!(read(text).is_some(), "{text}");
        assert!(agrees(text), "{text}");
    }
}

#[test]
fn what_is_odd_is_left_to_reading() {
    let with = |member: &str| format!(r#"{{"kind":"note","from":"ann","to":["bob"],{member}}}"#);
    for member in [
        r#""convoke":2"#,
        r#""id":"7b0e4c52-1d3a-4f6b-9c8e-00000000000c""#,
        r#""created":"2026-11-15T10:00:00Z","expires":"2026-11-15T09:00:00Z""#,
        r#""created":"2026-11-15T10:00:00Z","deadline":"2026-11-15T09:00:00Z""#,
        r#""schema":7"#,
        r#""attachments":[{"name":"no place"}]"#,
        r#""brief":[]"#,
        r#""origin":{}"#,
        r#""text":7"#,
        r#""text":"\ud800""#,
        r#""delivery":{"other":1}"#,
        r#""delivery":{"retries":1001}"#,
        r#""refs":["a",7]"#,
        r#""kind":"note""#,
    ] {
        assert_eq!(skim(&with(member), Limits::DOCUMENT), None, "{member}");
    }
    for text in [r#"{"kind":"note","from":"ann","to":[]}"#, r#"{"kind":"note","from":"ann","to":"bob"}"#] {
        assert_eq!(skim(text, Limits::DOCUMENT), None, "{text}");
    }
}

proptest! {
    #[test]
    fn messages_mean_the_same_either_way(message in message(), damages in vec(damage(), 0..4)) {
        let mut bytes = message.encode().into_bytes();
        damages.iter().for_each(|damage| damage.apply(&mut bytes));
        if let Ok(text) = std::str::from_utf8(&bytes) {
            agrees(text);
        }
    }

    #[test]
    fn a_jumble_means_the_same_either_way(document in jumble(), damages in vec(damage(), 0..3)) {
        let mut bytes = document.to_string().into_bytes();
        damages.iter().for_each(|damage| damage.apply(&mut bytes));
        if let Ok(text) = std::str::from_utf8(&bytes) {
            agrees(text);
        }
    }
}
