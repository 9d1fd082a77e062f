//! Priority, guarantee, order and retries, with the vectors of the decisions.

use std::time::Duration;

use dialect::{Dialect, Names};
use message::{Guarantee, Priority};

use super::{good, object, value};
use crate::{
    Coord, MESSAGE_TYPES, MessageType, OrderKey, RetryConfig, backoff, backoff_with_jitter,
    effective_retries, guarantee, implied_priority, order_key,
};

#[test]
fn types_imply_a_priority_and_a_guarantee() {
    let cases = [
        (MessageType::ErrorReport, Priority::Critical, Guarantee::AtLeastOnce),
        (MessageType::TaskHandoff, Priority::High, Guarantee::AtLeastOnce),
        (MessageType::HelpRequest, Priority::High, Guarantee::AtLeastOnce),
        (MessageType::TaskAssignment, Priority::High, Guarantee::AtLeastOnce),
        (MessageType::TaskFailed, Priority::High, Guarantee::AtLeastOnce),
        (MessageType::HelpResponse, Priority::High, Guarantee::AtLeastOnce),
        (MessageType::TaskComplete, Priority::High, Guarantee::AtLeastOnce),
        (MessageType::StatusUpdate, Priority::Normal, Guarantee::AtMostOnce),
        (MessageType::TaskUpdate, Priority::Normal, Guarantee::AtMostOnce),
        (MessageType::Heartbeat, Priority::Low, Guarantee::AtMostOnce),
    ];
    assert_eq!(cases.len(), MessageType::ALL.len());
    for (message_type, priority, expected) in cases {
        assert_eq!(implied_priority(message_type), priority, "{message_type:?}");
        assert_eq!(guarantee(priority), expected, "{message_type:?}");
    }
    let names: Vec<&str> = MessageType::ALL.iter().map(|known| known.name()).collect();
    assert_eq!(names, MESSAGE_TYPES);
}

#[test]
fn a_stated_priority_wins_and_an_unknown_one_is_refused() {
    let cases = [
        ("error-report", None, Some((Priority::Critical, Guarantee::AtLeastOnce))),
        ("heartbeat", None, Some((Priority::Low, Guarantee::AtMostOnce))),
        ("task-complete", None, Some((Priority::High, Guarantee::AtLeastOnce))),
        ("status-update", Some("critical"), Some((Priority::Critical, Guarantee::AtLeastOnce))),
        ("error-report", Some("low"), Some((Priority::Low, Guarantee::AtMostOnce))),
        ("error-report", Some("urgent"), None),
    ];
    for (name, stated, expected) in cases {
        let mut document = good(name);
        let metadata =
            document.as_object_mut().unwrap().get_mut("metadata").unwrap().as_object_mut().unwrap();
        match stated {
            Some(word) => drop(metadata.insert("priority", word)),
            None => drop(metadata.remove("priority")),
        }
        let routing = Coord.decode(&document, &Names::default()).ok().map(|decoded| decoded.routing);
        let found = routing.map(|routing| (routing.priority, routing.guarantee));
        assert_eq!(found, expected, "{name} {stated:?}");
    }
}

#[test]
fn messages_are_ordered_by_task_then_correlation_then_way() {
    let cases = [
        (
            r#"{"type":"TASK_COMPLETE","from":"a","to":"b","payload":{"task_id":"t","context":{"task_id":"u"}},"metadata":{"correlation_id":"c"}}"#,
            Some(OrderKey::Task("t")),
        ),
        (
            r#"{"type":"TASK_HANDOFF","from":"a","to":"b","payload":{"context":{"task_id":"u"}},"metadata":{"correlation_id":"c"}}"#,
            Some(OrderKey::Task("u")),
        ),
        (
            r#"{"type":"TASK_ASSIGNMENT","from":"a","to":"b","payload":{"task":{"task_id":"v"}},"metadata":{}}"#,
            Some(OrderKey::Task("v")),
        ),
        (
            r#"{"type":"HELP_RESPONSE","from":"a","to":"b","payload":{},"metadata":{"correlation_id":"c"}}"#,
            Some(OrderKey::Correlation("c")),
        ),
        (
            r#"{"type":"HEARTBEAT","from":"a","to":"b","payload":{}}"#,
            Some(OrderKey::Pair { from: "a", to: "b" }),
        ),
        (r#"{"type":"HEARTBEAT","from":"a","payload":{}}"#, None),
        (r#"{"type":"odd","from":"a","to":"b"}"#, None),
    ];
    for (text, expected) in cases {
        assert_eq!(order_key(&object(text)), expected, "{text}");
    }
}

fn config(text: &str) -> RetryConfig {
    RetryConfig::from_value(&value(text)).unwrap()
}

#[test]
fn pauses_grow_to_their_limit() {
    let cases = [
        (
            r#"{"max_attempts":5,"base_delay_ms":100,"max_delay_ms":2000,"backoff_multiplier":2,"jitter":false}"#,
            vec![100, 200, 400, 800],
        ),
        (
            r#"{"max_attempts":4,"base_delay_ms":1000,"max_delay_ms":3000,"backoff_multiplier":3,"jitter":false}"#,
            vec![1000, 3000, 3000],
        ),
        ("{}", vec![1000, 2000, 4000, 8000]),
        (r#"{"max_attempts":3,"base_delay_ms":0,"backoff_multiplier":1e308}"#, vec![0, 0]),
        (r#"{"max_attempts":3,"backoff_multiplier":1e308}"#, vec![1000, 30000]),
        (r#"{"max_attempts":1}"#, vec![]),
    ];
    for (text, expected) in cases {
        let config = config(text);
        let pauses: Vec<u128> =
            (1..config.max_attempts).map(|attempt| backoff(&config, attempt).as_millis()).collect();
        assert_eq!(pauses, expected, "{text}");
    }
    assert_eq!(backoff(&config("{}"), u32::MAX), Duration::from_secs(30));
    assert_eq!(backoff(&config("{}"), 0), Duration::from_secs(1));
}

#[test]
fn jitter_cuts_a_pause_to_a_share() {
    let (jittery, steady) = (config("{}"), config(r#"{"jitter":false}"#));
    for (share, milliseconds) in
        [(0.0, 0), (0.25, 250), (0.5, 500), (1.0, 1000), (f64::NAN, 1000), (7.0, 1000)]
    {
        assert_eq!(backoff_with_jitter(&jittery, 1, share).as_millis(), milliseconds, "{share}");
        assert_eq!(backoff_with_jitter(&steady, 1, share).as_millis(), 1000, "{share}");
    }
}

#[test]
fn retries_are_what_both_sides_allow() {
    let config = config(r#"{"max_attempts":3}"#);
    for (asked, given) in [(0, 0), (1, 1), (2, 2), (3, 2), (u32::MAX, 2)] {
        assert_eq!(effective_retries(&config, asked), given, "{asked}");
    }
}

#[test]
fn a_wrong_configuration_is_refused() {
    let cases = [
        ("[]", " type"),
        (r#"{"max_attempts":0}"#, "/max_attempts range"),
        (r#"{"max_attempts":"5"}"#, "/max_attempts type"),
        (r#"{"base_delay_ms":-1}"#, "/base_delay_ms range"),
        (r#"{"max_delay_ms":null}"#, "/max_delay_ms type"),
        (r#"{"backoff_multiplier":-0.1}"#, "/backoff_multiplier range"),
        (r#"{"jitter":1}"#, "/jitter type"),
    ];
    for (text, expected) in cases {
        let errors = RetryConfig::from_value(&value(text)).unwrap_err();
        let shown: Vec<String> =
            errors.kept().iter().map(|finding| format!("{} {}", finding.path, finding.code)).collect();
        assert_eq!(shown, [expected], "{text}");
    }
}
