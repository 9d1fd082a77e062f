//! Pauses, lifetimes, correlation and fallback copies.

use std::time::Duration;

use dialect::{Dialect, Names, Routing};
use json::{Object, Value};
use message::{Backoff, Guarantee, Priority};

use super::{edited, parse};
use crate::{Bus, backoff, correlation, for_fallback, is_for_the_bus, lifetime};

#[test]
fn pauses_grow_up_to_half_a_minute() {
    let pauses = |policy| [0, 1, 2, 3, 5, 6, 30, 31, 33, u32::MAX].map(|n| backoff(policy, n).as_millis());
    assert_eq!(
        pauses(Backoff::Linear),
        [0, 1_000, 2_000, 3_000, 5_000, 6_000, 30_000, 30_000, 30_000, 30_000]
    );
    assert_eq!(
        pauses(Backoff::Exponential),
        [0, 1_000, 2_000, 4_000, 16_000, 30_000, 30_000, 30_000, 30_000, 30_000]
    );
}

#[test]
fn a_timeout_is_in_its_unit_and_counts_once_for_each_who_may_take_the_message() {
    let cases = [
        ("300s", 300_000),
        ("60s", 60_000),
        ("30m", 1_800_000),
        ("500ms", 500),
        ("2h", 7_200_000),
        ("1.5s", 1_500),
    ];
    for (timeout, millis) in cases {
        let document = edited("task-response", &[("/routing/timeout", &format!("{timeout:?}"))], &[]);
        assert_eq!(lifetime(&document), Some(Duration::from_millis(millis)), "{timeout}");
    }
    for timeout in ["\"300\"", "\"5 minutes\"", "\"-1s\"", "300"] {
        let document = edited("task-response", &[("/routing/timeout", timeout)], &[]);
        assert_eq!(lifetime(&document), None, "{timeout}");
        assert!(!Bus.validate(&document.into()).is_valid(), "{timeout}");
    }
    assert_eq!(lifetime(&edited("task-request", &[], &[])), Some(Duration::from_secs(600)));
    assert_eq!(lifetime(&edited("task-request", &[], &["/routing"])), Some(Duration::from_secs(300)));
    let endless = edited("task-request", &[("/routing/timeout", "\"18446744073709551615s\"")], &[]);
    assert_eq!(lifetime(&endless), Some(Duration::MAX));
}

#[test]
fn documents_are_linked_by_message_first_and_by_task_second() {
    let all = [
        ("/metadata/in_reply_to", "\"1\""),
        ("/metadata/original_message_id", "\"2\""),
        ("/metadata/task_id", "\"3\""),
        ("/payload/task_id", "\"4\""),
    ];
    for (skipped, found) in ["1", "2", "3", "4"].into_iter().enumerate() {
        let document = edited("task-response", &all[skipped..], &[]);
        let document = match skipped {
            3 => {
                let mut document = document;
                document.remove("metadata");
                document
            }
            _ => document,
        };
        assert_eq!(correlation(&document), Some(found));
    }
    assert_eq!(correlation(&edited("task-response", &[], &[])), Some("task_12345"));
    assert_eq!(correlation(&edited("task-response", &[], &["/metadata"])), None);
    assert_eq!(correlation(&edited("task-response", &[("/metadata/task_id", "7")], &[])), None);
}

#[test]
fn the_bus_has_three_names() {
    for name in ["communication-bus", "system", "*"] {
        assert!(is_for_the_bus(name));
    }
    for name in ["", "all", "bus", "Communication-Bus", "codex://system"] {
        assert!(!is_for_the_bus(name));
    }
}

#[test]
fn a_fallback_copy_differs_in_its_recipient_alone() {
    let document = edited("task-request", &[("/recipient/session_id", "\"s\"")], &[]);
    let copy = for_fallback(&document, "codex://fullstack-reviewer");
    let expected = edited(
        "task-request",
        &[
            ("/recipient", r#"{"agent_id":"codex://fullstack-reviewer","framework":"codex"}"#),
            ("/metadata/original_recipient", r#""opencode://code-reviewer""#),
        ],
        &[],
    );
    assert_eq!(copy, expected);
    assert!(Bus.validate(&copy.clone().into()).is_valid());
    let second = for_fallback(&copy, "plain");
    assert_eq!(second.get("metadata"), copy.get("metadata"), "the first recipient stays the original");
    assert_eq!(second.get("recipient"), Some(&parse(r#"{"agent_id":"plain","framework":"unknown"}"#)));
    let bare = for_fallback(&edited("status-update", &[], &[]), "b");
    assert_eq!(
        bare.get("metadata").map(ToString::to_string).as_deref(),
        Some(r#"{"original_recipient":"claude-code://orchestrator"}"#)
    );
    assert!(for_fallback(&json::Object::new(), "b").contains_key("recipient"));
}

#[test]
fn urgent_messages_and_those_with_retries_are_handed_out_until_they_are_acknowledged() {
    let cases = [
        ("critical", 0, Guarantee::AtLeastOnce),
        ("high", 0, Guarantee::AtLeastOnce),
        ("medium", 0, Guarantee::AtMostOnce),
        ("low", 0, Guarantee::AtMostOnce),
        ("medium", 1, Guarantee::AtLeastOnce),
        ("low", 1, Guarantee::AtLeastOnce),
    ];
    for (priority, retries, guarantee) in cases {
        let set = [
            ("/priority", format!("{priority:?}")),
            ("/routing/retry_policy/max_retries", retries.to_string()),
        ];
        let set = set.each_ref().map(|(place, value)| (*place, value.as_str()));
        for (name, guarantee) in [("task-request", guarantee), ("heartbeat", Guarantee::AtMostOnce)] {
            let document = edited(name, &set, &[]);
            assert_eq!(routing(&document).guarantee, guarantee, "{name} {priority} {retries}");
        }
    }
}

#[test]
fn messages_are_delivered_as_their_documents_ask() {
    let (normal, high) = (Priority::Normal, Priority::High);
    let (once, again) = (Guarantee::AtMostOnce, Guarantee::AtLeastOnce);
    let cases = [
        (edited("task-request", &[], &[]), (high, again, Some(600_000))),
        (edited("task-request", &[], &["/routing"]), (high, again, Some(300_000))),
        (edited("task-request", &[], &["/priority"]), (normal, again, Some(600_000))),
        (edited("heartbeat", &[], &[]), (Priority::Low, once, Some(30_000))),
        (edited("health", &[], &[]), (normal, once, None)),
    ];
    for (document, (priority, guarantee, lifetime_ms)) in cases {
        let expected = Routing { priority, guarantee, lifetime_ms, live_only: false };
        assert_eq!(routing(&document), expected, "{document:?}");
    }
    let document = Value::Object(edited("task-request", &[("/priority", "\"normal\"")], &[]));
    assert!(Bus.decode(&document, &Names::default()).is_err(), "the canonical word is none of this dialect");
}

fn routing(document: &Object<'static>) -> Routing {
    Bus.decode(&Value::Object(document.clone()), &Names::default()).unwrap().routing
}
