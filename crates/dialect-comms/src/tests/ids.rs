//! Derived ids, audiences, lifetimes.

use atproto_syntax::Tid;
use dialect::Names;
use message::{Kind, Message};
use proptest::prelude::*;

use super::object;
use crate::{
    Record, Selector, address_of, audience_of, expiry_of, extension_of, is_live_only, record_key, tid_of,
};

#[test]
fn a_record_key_is_the_time_and_the_hash_of_the_native_id() {
    let mut message = Message::new(Kind::TaskRequest, "ann".parse().unwrap(), vec!["bob".parse().unwrap()]);
    message.created = Some("2025-02-01T10:00:00Z".parse().unwrap());
    // The digest of this id starts with 13f8, whose first three digits are 319.
    message.native_id = Some("msg_1719000000000_abcd123".parse().unwrap());
    let key = record_key(&message);
    assert_eq!((key.as_str(), key.clock_id()), ("3lh4awieu22dz", 319));
    message.native_id = None;
    let of_content = record_key(&message);
    assert_eq!(of_content, record_key(&message));
    message.text = Some("other".to_owned());
    assert_ne!(of_content, record_key(&message));
    message.created = None;
    assert_eq!(record_key(&message).micros(), 0);
    message.created = Some("9999-12-31T23:59:59Z".parse().unwrap());
    assert_eq!(record_key(&message).micros(), atproto_syntax::tid::MICROS_MAX);
}

#[test]
fn texts_get_tids_of_their_own() {
    assert_eq!(tid_of("3jzfcijpj2z2a").as_str(), "3jzfcijpj2z2a");
    assert_eq!(tid_of("0193abcd-0000-7000-8000-000000000000").micros(), 0x0193_abcd_0000 * 1_000);
    assert_eq!(tid_of("task-9"), tid_of("task-9"));
    assert_ne!(tid_of("task-9"), tid_of("task-8"));
}

#[test]
fn selectors_are_told_by_their_form() {
    let cases = [
        ("did:plc:ann", None, Selector::Agent("did:plc:ann"), "did:plc:ann"),
        ("#deploys", None, Selector::Tag("deploys"), "#deploys"),
        ("deploys", Some("deploys"), Selector::Tag("deploys"), "#deploys"),
        ("deploys", Some("other"), Selector::Group("deploys"), "channel:deploys"),
        ("Big Team", None, Selector::Group("Big Team"), "channel:big-team"),
        ("roles.developer", None, Selector::Group("roles.developer"), "roles.developer"),
        ("channel:x", None, Selector::Group("channel:x"), "channel:x"),
        ("all", None, Selector::Group("all"), "all"),
        ("", None, Selector::Group(""), "channel:agent-"),
        ("#", None, Selector::Tag(""), "#agent-"),
        ("codex://ann", None, Selector::Group("codex://ann"), "channel:ann"),
    ];
    for (item, topic, selector, address) in cases {
        assert_eq!(Selector::of(item, topic), selector, "{item}");
        assert_eq!(address_of(item, topic, &Names::default()).to_string(), address, "{item}");
    }
    let broadcast = object(r#"{"topic":"x","audience":["x","y",5]}"#);
    assert_eq!(audience_of(&broadcast), [Selector::Tag("x"), Selector::Group("y")]);
    assert_eq!(audience_of(&object(r#"{"audience":[]}"#)), []);
    assert_eq!(audience_of(&object("{}")), []);
}

#[test]
fn a_broadcast_ends_at_the_earlier_of_two_times() {
    let created = r#""createdAt":"2026-11-15T10:00:00+01:00""#;
    let cases = [
        ("", None),
        (r#","ttlSeconds":60"#, Some("2026-11-15T09:01:00Z")),
        (r#","ttlSeconds":60,"expiresAt":"2026-11-15T09:00:30Z""#, Some("2026-11-15T09:00:30Z")),
        (r#","ttlSeconds":60,"expiresAt":"2026-11-15T09:01:00.0Z""#, Some("2026-11-15T09:01:00.0Z")),
        (r#","ttlSeconds":60,"expiresAt":"2026-11-15T09:01:01Z""#, Some("2026-11-15T09:01:00Z")),
        (r#","expiresAt":"2026-11-15T12:00:00+02:00""#, Some("2026-11-15T12:00:00+02:00")),
        (r#","ttlSeconds":0"#, None),
        (r#","ttlSeconds":0,"expiresAt":"2026-11-15T12:00:00Z""#, Some("2026-11-15T12:00:00Z")),
        (r#","ttlSeconds":604801"#, None),
        (r#","ttlSeconds":-1"#, None),
    ];
    for (rest, end) in cases {
        let broadcast = object(&format!("{{{created}{rest}}}"));
        assert_eq!(expiry_of(&broadcast).as_ref().map(|end| end.text()), end, "{rest}");
        assert_eq!(is_live_only(&broadcast), rest.contains(r#"ttlSeconds":0"#), "{rest}");
    }
    assert_eq!(expiry_of(&object(r#"{"createdAt":"9999-12-31T23:59:59Z","ttlSeconds":60}"#)), None);
}

#[test]
fn every_kind_has_the_extension_of_its_record() {
    for kind in Kind::ALL {
        let message = Message::new(*kind, "ann".parse().unwrap(), vec!["bob".parse().unwrap()]);
        let name = extension_of(Record::of(&message), *kind).unwrap();
        assert!(atproto_syntax::nsid::check(&name).is_ok(), "{name}");
        let many = vec!["#x".parse().unwrap(), "all".parse().unwrap()];
        let message = Message::new(*kind, "ann".parse().unwrap(), many);
        assert!(extension_of(Record::of(&message), *kind).is_some(), "{kind}");
    }
    assert_eq!(extension_of(Record::Response, Kind::TaskClaim).as_deref(), Some("agent.comms.ext.claim"));
    assert_eq!(extension_of(Record::Request, Kind::TaskClaim), None);
}

proptest! {
    #[test]
    fn any_text_gets_a_tid(text in any::<String>()) {
        let tid = tid_of(&text);
        prop_assert!(tid.as_str().parse::<Tid>().is_ok());
        prop_assert_eq!(tid_of(tid.as_str()), tid);
    }

    #[test]
    fn any_selector_is_an_address(item in any::<String>(), topic in proptest::option::of(any::<String>())) {
        let address = address_of(&item, topic.as_deref(), &Names::default());
        prop_assert!(address.to_string().parse::<message::Address>().is_ok(), "{}", address);
    }
}
