//! Pauses, lifetimes, correlation and fallback copies.

use std::time::Duration;

use dialect::{Dialect, Recipients};
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
            assert_eq!(Bus.route(&document).unwrap().guarantee, guarantee, "{name} {priority} {retries}");
        }
    }
}

#[test]
fn a_route_borrows_what_the_bus_needs() {
    let document = edited("task-request", &[("/metadata/in_reply_to", "\"msg_0\"")], &[]);
    let route = Bus.route(&document).unwrap();
    assert_eq!(route.native_id, Some("msg_1719000000000_abcd123"));
    assert_eq!(route.from, Some("claude-code://orchestrator"));
    assert_eq!(route.to, Recipients::One("opencode://code-reviewer"));
    assert_eq!((route.task, route.reply_to), (Some("task_12345"), Some("msg_0")));
    assert_eq!((route.thread, route.priority), (Some("sess_feature_x"), Priority::High));
    assert_eq!((route.timeout, route.retries, route.is_sync), (Some("300s"), Some(2), false));
    assert_eq!((route.lifetime_ms, route.expires), (Some(600_000), None));
    assert_eq!(Bus.route(&edited("heartbeat", &[], &[])).unwrap().to, Recipients::One("system"));
    assert_eq!(Bus.route(&edited("hinted-report", &[], &[])).unwrap().to, Recipients::Everyone);
    assert!(Bus.route(&edited("descriptor", &[], &[])).is_none());
    assert!(Bus.route(&edited("task-request", &[("/priority", "\"normal\"")], &[])).is_none());
}
