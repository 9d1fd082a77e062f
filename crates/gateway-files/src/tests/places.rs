//! What a file says where it lies: the text and what was parsed of it are the same document.

use json::{Limits, Value};
use proptest::prelude::*;

use crate::place::as_it_lies;

const CHANNEL: &str = "team-a";
const ID: &str = "msg-20261115-100000-ann-0a1b";

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_value_is_what_the_text_says(
        document in testkit::generate::channel::document(),
        session in proptest::option::of(proptest::sample::select(&[CHANNEL, "team-b"][..])),
        is_named in any::<bool>(),
    ) {
        let mut document = document;
        let members = document.as_object_mut().unwrap();
        members.remove("session_id");
        if let Some(session) = session {
            members.insert("session_id", Value::from(session));
        }
        if is_named {
            members.insert("id", Value::from(ID));
        }
        let says_so = members.get("id").and_then(Value::as_str) == Some(ID) && session == Some(CHANNEL);
        let bytes = format!(" {}\n", document.to_json());
        let located = as_it_lies(bytes.as_bytes(), CHANNEL, ID).unwrap();
        let read = json::parse_str(&located.text, Limits::DOCUMENT).unwrap();
        prop_assert_eq!(&read, &located.value);
        prop_assert_eq!(read.get("id").and_then(Value::as_str), Some(ID));
        prop_assert_eq!(read.get("session_id").and_then(Value::as_str), Some(CHANNEL));
        prop_assert_eq!(located.text == bytes, says_so, "only what says so itself is taken to the byte");
        prop_assert_eq!(located.other_channel.as_deref(), session.filter(|name| *name != CHANNEL));
    }
}

#[test]
fn what_is_no_object_or_becomes_too_large_is_not_taken() {
    let full = format!(r#"{{"text":"{}"}}"#, "a".repeat(Limits::DOCUMENT.bytes_max - 20));
    assert!(json::parse_str(&full, Limits::DOCUMENT).is_ok());
    for text in [r#"["id"]"#, "7", "{", full.as_str()] {
        assert!(as_it_lies(text.as_bytes(), CHANNEL, ID).is_none());
    }
}
