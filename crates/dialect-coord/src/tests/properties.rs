//! Properties: nothing panics, what is written is valid, and what this dialect can say survives.

use std::time::Duration;

use dialect::{Decoded, Dialect, Names};
use json::Value;
use message::{Guarantee, Message};
use proptest::prelude::*;
use testkit::generate::{anything, convoke, coord};

use crate::Coord;

/// Replaces or removes the member that a path of numbers leads to.
fn mutated(mut document: Value<'static>, steps: &[usize], new: Option<Value<'static>>) -> Value<'static> {
    let mut at = &mut document;
    for (nth, step) in steps.iter().enumerate() {
        let is_last = nth + 1 == steps.len();
        match at {
            Value::Object(object) if !object.is_empty() => {
                let key = object.iter().nth(step % object.len()).unwrap().0.to_owned();
                if is_last {
                    match new {
                        Some(new) => drop(object.insert(key, new)),
                        None => drop(object.remove(&key)),
                    }
                    return document;
                }
                at = object.get_mut(&key).unwrap();
            }
            Value::Array(items) if !items.is_empty() => {
                let index = step % items.len();
                at = &mut items[index];
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => return document,
        }
    }
    document
}

/// Uses everything; none of it may panic, and whatever is read can be written.
fn exercise(document: &Value<'_>) {
    let verdict = Coord.validate(document);
    let decoded = Coord.decode(document, &Names::default());
    if let Some(object) = document.as_object() {
        Coord.recognizes(object);
        crate::order_key(object);
    }
    if verdict.is_valid() {
        assert!(decoded.is_ok(), "{document}: {:?}", decoded.unwrap_err());
    }
    if let Ok(decoded) = decoded {
        let written = Coord.encode(&decoded.message, &Names::default());
        let verdict = Coord.validate(&Value::Object(written.document));
        assert!(verdict.is_valid(), "{document}: {:?}", verdict.errors);
    }
}

/// Checks that the routing of a document agrees with its message.
fn check_routing(document: &Value<'_>) {
    let Decoded { message, routing, .. } = Coord.decode(document, &Names::default()).unwrap();
    assert_eq!(Some(routing.priority), message.priority);
    let delivery = message.delivery.unwrap_or_default();
    assert_eq!(routing.guarantee, delivery.guarantee.unwrap_or(Guarantee::AtLeastOnce));
    assert_eq!(routing.guarantee, crate::guarantee(routing.priority));
    assert_eq!(routing.live_only, delivery.live_only);
    let created = message.created.map(|created| created.at());
    let expires = routing.lifetime_ms.and_then(|ms| created?.checked_add(Duration::from_millis(ms)));
    assert_eq!(expires, message.expires.map(|expires| expires.at()));
}

fn kept(message: &Message) {
    let names = Names::default();
    let encoded = Coord.encode(message, &names);
    let document = Value::Object(encoded.document);
    let verdict = Coord.validate(&document);
    assert!(verdict.is_valid(), "{document}: {:?}", verdict.errors);
    assert_eq!(verdict.kind, Some(message.kind), "{document}");
    let back = Coord.decode(&document, &names).unwrap().message;
    assert_eq!(back.kind, message.kind);
    assert_eq!(back.from, names.agent(message.from.as_str()));
    assert_eq!(back.to, [names.address(&message.to[0].to_string())]);
    let checks = [
        ("text", message.text.is_none() || back.text == message.text),
        ("title", message.title.is_none() || back.title == message.title),
        ("task", message.task.is_none() || back.task == message.task),
        ("priority", message.priority.is_none() || back.priority == message.priority),
        ("status", message.status.is_none() || back.status == message.status),
        ("created", message.created.is_none() || back.created == message.created),
        ("deadline", message.deadline.is_none() || back.deadline == message.deadline),
        ("result", message.result.is_none() || back.result == message.result),
        ("attachments", back.attachments.len() == message.attachments.len()),
        ("refs", back.refs == message.refs),
        ("code", back.code == message.code),
        ("thread", message.thread.is_none() || back.thread == message.thread),
    ];
    for (field, holds) in checks {
        assert!(holds, "{field}: {} became {} by {document}", message.encode(), back.encode());
    }
    if let Some(error) = &message.error {
        let became = back.error.unwrap_or_default();
        assert!(error.code.is_none() || became.code == error.code, "{document}");
        assert!(error.message.is_none() || became.message == error.message, "{document}");
        assert!(error.retryable == became.retryable && error.actions == became.actions, "{document}");
    }
    if let Some(brief) = &message.brief {
        let became = back.brief.unwrap_or_default();
        assert!(brief.task_type.is_none() || became.task_type == brief.task_type, "{document}");
        assert!(brief.criteria.is_empty() || became.criteria == brief.criteria, "{document}");
        assert_eq!(became.dependencies, brief.dependencies, "{document}");
    }
}

proptest! {
    #[test]
    fn generated_documents_are_valid_and_read(document in coord::document()) {
        let verdict = Coord.validate(&document);
        prop_assert!(verdict.is_valid(), "{document}: {:?}", verdict.errors);
        prop_assert!(verdict.kind.is_some());
        let object = document.as_object().unwrap();
        prop_assert!(Coord.recognizes(object));
        check_routing(&document);
        exercise(&document);
    }

    #[test]
    fn broken_documents_do_no_harm(
        document in coord::document(),
        steps in proptest::collection::vec(any::<usize>(), 1..5),
        new in proptest::option::of(anything()),
    ) {
        exercise(&mutated(document, &steps, new));
    }

    #[test]
    fn arbitrary_values_do_no_harm(document in anything()) {
        exercise(&document);
    }

    #[test]
    fn messages_of_any_kind_survive(document in convoke::document()) {
        kept(&message::from_value(document).unwrap().message);
    }

    #[test]
    fn writing_is_the_same_every_time(document in convoke::document()) {
        let message = message::from_value(document).unwrap().message;
        let (first, second) = (Coord.encode(&message, &Names::default()), Coord.encode(&message, &Names::default()));
        prop_assert_eq!(first.document.to_string(), second.document.to_string());
        prop_assert_eq!(first.invented, second.invented);
    }
}
