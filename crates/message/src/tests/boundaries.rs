//! Limits: at the limit a document is good, one beyond it is refused with the right code.

use std::mem::size_of;

use json::Limits;

use super::{minimal, refusals};
use crate::limits::{
    ALIAS_BYTES_MAX, DURATION_BYTES_MAX, FALLBACKS_MAX, FINDINGS_MAX, ID_BYTES_MAX, LIST_ITEMS_MAX,
    MEMBERS_MAX, NAME_BYTES_MAX, RECIPIENTS_MAX, TIMESTAMP_BYTES_MAX, URI_BYTES_MAX,
};
use crate::{Message, decode};

/// Writes a message with one more member.
fn with(member: &str) -> String {
    format!(r#"{{"kind":"note","from":"ann","to":["bob"],{member}}}"#)
}

/// Repeats an item as a JSON list.
fn items(item: &str, count: usize) -> String {
    format!("[{}]", vec![item; count].join(","))
}

/// Checks that the limit is where it is said to be.
fn check(expected: &str, limit: usize, document: impl Fn(usize) -> String) {
    let at_limit = decode(document(limit).as_bytes(), Limits::DOCUMENT);
    assert!(at_limit.is_ok(), "{expected}: {:?}", at_limit.unwrap_err());
    assert_eq!(refusals(&document(limit + 1)), [expected]);
}

#[test]
fn strings_end_at_their_limit() {
    check("/from too_long", NAME_BYTES_MAX, |n| {
        format!(r#"{{"kind":"note","to":["bob"],"from":"{}"}}"#, "a".repeat(n))
    });
    check("/from too_long", ALIAS_BYTES_MAX, |n| {
        format!(r#"{{"kind":"note","to":["bob"],"from":"x://{}"}}"#, "a".repeat(n - 4))
    });
    for key in ["native_id", "thread", "reply_to", "correlation", "task"] {
        let expected = format!("/{key} too_long");
        check(&expected, ID_BYTES_MAX, |n| with(&format!(r#""{key}":"{}""#, "i".repeat(n))));
        check(&expected, ID_BYTES_MAX / 2, |n| with(&format!(r#""{key}":"{}""#, "é".repeat(n))));
    }
    check("/blob too_long", URI_BYTES_MAX, |n| with(&format!(r#""blob":"{}""#, "u".repeat(n))));
    check("/refs/0 too_long", URI_BYTES_MAX, |n| with(&format!(r#""refs":["{}"]"#, "u".repeat(n))));
    check("/attachments/0/uri too_long", URI_BYTES_MAX, |n| {
        with(&format!(r#""attachments":[{{"uri":"{}"}}]"#, "u".repeat(n)))
    });
    check("/delivery/timeout too_long", DURATION_BYTES_MAX, |n| {
        with(&format!(r#""delivery":{{"timeout":"{}s"}}"#, "0".repeat(n - 1)))
    });
    for key in ["created", "expires", "deadline"] {
        check(&format!("/{key} too_long"), TIMESTAMP_BYTES_MAX, |n| {
            with(&format!(r#""{key}":"2026-11-15T10:00:00.{}Z""#, "0".repeat(n - 21)))
        });
    }
    check("/brief/dependencies/0 too_long", ID_BYTES_MAX, |n| {
        with(&format!(r#""brief":{{"dependencies":["{}"]}}"#, "i".repeat(n)))
    });
}

#[test]
fn lists_and_objects_end_at_their_limit() {
    check("/to too_many", RECIPIENTS_MAX, |n| {
        format!(r#"{{"kind":"note","from":"ann","to":{}}}"#, items(r#""bob""#, n))
    });
    check("/delivery/fallback too_many", FALLBACKS_MAX, |n| {
        with(&format!(r#""delivery":{{"fallback":{}}}"#, items(r#""cyd""#, n)))
    });
    check("/refs too_many", LIST_ITEMS_MAX, |n| with(&format!(r#""refs":{}"#, items(r#""r""#, n))));
    check("/attachments too_many", LIST_ITEMS_MAX, |n| {
        with(&format!(r#""attachments":{}"#, items(r#"{"uri":"u"}"#, n)))
    });
    let nested =
        ["error/actions", "error/attempts", "brief/constraints", "brief/criteria", "brief/dependencies"];
    for (part, key) in nested.map(|path| path.split_once('/').unwrap()) {
        check(&format!("/{part}/{key} too_many"), LIST_ITEMS_MAX, |n| {
            with(&format!(r#""{part}":{{"{key}":{}}}"#, items(r#""x""#, n)))
        });
    }
    check("/presence/tasks too_many", LIST_ITEMS_MAX, |n| {
        with(&format!(r#""presence":{{"state":"idle","tasks":{}}}"#, items(r#""t""#, n)))
    });
    let unknown = |n: usize| (0..n).map(|nth| format!(r#""x{nth}":0"#)).collect::<Vec<_>>().join(",");
    check(" too_many", MEMBERS_MAX, |n| with(&unknown(n - 3)));
    check("/metrics too_many", MEMBERS_MAX, |n| with(&format!(r#""metrics":{{{}}}"#, unknown(n))));
    let data = with(&format!(r#""data":{{{}}}"#, unknown(MEMBERS_MAX + 1)));
    assert!(decode(data.as_bytes(), Limits::DOCUMENT).is_ok());
}

#[test]
fn integers_end_at_their_limit() {
    let cases = [
        ("/delivery/retries", r#""delivery":{"retries":N}"#, ["0", "1000", "1e3"], ["1001", "-1", "0.5"]),
        (
            "/presence/pid",
            r#""presence":{"state":"idle","pid":N}"#,
            ["0", "4294967295", "1.0"],
            ["4294967296", "-1", "1e40"],
        ),
        (
            "/attachments/0/size",
            r#""attachments":[{"uri":"u","size":N}]"#,
            ["0", "9223372036854775807", "12"],
            ["9223372036854775808", "-1", "1.25"],
        ),
    ];
    for (path, member, inside, outside) in cases {
        for number in inside {
            let document = with(&member.replace('N', number));
            assert!(decode(document.as_bytes(), Limits::DOCUMENT).is_ok(), "{path} {number}");
        }
        for number in outside {
            assert_eq!(refusals(&with(&member.replace('N', number))), [format!("{path} range")], "{number}");
        }
    }
}

#[test]
fn findings_beyond_the_limit_are_counted() {
    let findings = decode(with(&format!(r#""refs":{}"#, items("7", 300))).as_bytes(), Limits::DOCUMENT);
    let findings = findings.unwrap_err();
    assert_eq!(findings.len(), FINDINGS_MAX + 1);
    let last = findings.last().unwrap();
    assert_eq!((last.path.as_str(), last.code), ("", "too_many"));
    assert_eq!(last.message, "44 more findings are not listed");
}

#[test]
fn the_documents_own_limits_are_the_callers() {
    let text = minimal().encode();
    let limits = Limits { bytes_max: text.len(), ..Limits::DOCUMENT };
    assert!(decode(text.as_bytes(), limits).is_ok());
    let findings = decode(text.as_bytes(), Limits { bytes_max: text.len() - 1, ..limits }).unwrap_err();
    assert_eq!((findings.len(), findings[0].code), (1, "too_large"));
}

#[test]
fn a_message_is_small() {
    assert!(size_of::<Message>() <= 640, "{}", size_of::<Message>());
}
