//! Properties: what is written is valid and comes back, routing agrees with messages, nothing panics.

use dialect::{Decoded, Dialect, Names, Routing};
use json::{Object, Value};
use message::{Address, Guarantee, Kind, Message, Priority};
use proptest::prelude::*;
use testkit::generate;

use super::{decode, show};
use crate::{Channel, heartbeat, presence};

fn try_everything(document: &Value<'_>) {
    let names = Names::default();
    Channel.validate(document);
    if let Some(object) = document.as_object() {
        Channel.recognizes(object);
    }
    if let Ok(decoded) = Channel.decode(document, &names) {
        let encoded = Channel.encode(&decoded.message, &names);
        let verdict = Channel.validate(&Value::Object(encoded.document));
        assert!(verdict.is_valid(), "{document}: {:?}", show(&verdict.errors));
    }
}

/// Takes a member out of a document or puts another value in its place, on the first or second level.
fn mutated(mut document: Value<'static>, place: usize, value: Option<Value<'static>>) -> Value<'static> {
    let mut target = document.as_object_mut().unwrap();
    let key = nth_key(target, place);
    let is_deep = place.is_multiple_of(2) && target.get(&key).is_some_and(|inner| has_members(inner));
    if is_deep {
        target = target.get_mut(&key).and_then(Value::as_object_mut).unwrap();
    }
    let key = nth_key(target, place);
    match value {
        Some(value) => drop(target.insert(key, value)),
        None => drop(target.remove(&key)),
    }
    document
}

fn has_members(value: &Value<'_>) -> bool {
    value.as_object().is_some_and(|object| !object.is_empty())
}

fn nth_key(object: &Object<'_>, place: usize) -> String {
    object.iter().nth(place / 2 % object.len()).unwrap().0.to_owned()
}

fn canonical() -> impl Strategy<Value = Message> {
    generate::convoke::document().prop_map(|document| message::from_value(document).unwrap().message)
}

/// Agents by the name that they have here; aliases without a registry are stood in for.
fn named(addresses: &[Address]) -> Vec<String> {
    let names = Names::default();
    addresses.iter().map(|address| names.slug(&names.address(&address.to_string()).to_string())).collect()
}

proptest! {
    #[test]
    fn generated_documents_are_valid_and_readable(document in generate::channel::document()) {
        let verdict = Channel.validate(&document);
        prop_assert!(verdict.is_valid(), "{document}: {:?}", show(&verdict.errors));
        prop_assert!(Channel.recognizes(document.as_object().unwrap()), "{document}");
        prop_assert_eq!(verdict.kind, Some(decode(&document).message.kind));
    }

    #[test]
    fn routing_and_messages_agree(document in generate::channel::document(), place: usize, value in proptest::option::of(generate::anything())) {
        for document in [document.clone(), mutated(document, place, value)] {
            let Ok(Decoded { message, routing, .. }) = Channel.decode(&document, &Names::default()) else { continue };
            let guarantee = message.delivery.as_ref().and_then(|wishes| wishes.guarantee);
            let reading = presence::read(document.as_object().unwrap());
            let expected = Routing {
                priority: message.priority.unwrap_or(Priority::Normal),
                guarantee: guarantee.unwrap_or(Guarantee::AtLeastOnce),
                lifetime_ms: reading.and_then(|reading| reading.ttl_ms),
                live_only: false,
            };
            prop_assert_eq!(routing, expected);
            let is_beat = reading.is_some() || message.kind == Kind::AgentHeartbeat;
            prop_assert_eq!(routing.guarantee == Guarantee::AtMostOnce, is_beat);
        }
    }

    #[test]
    fn any_message_is_written_validly_and_comes_back(message in canonical()) {
        let names = Names::default();
        let encoded = Channel.encode(&message, &names);
        let document = Value::Object(encoded.document);
        let verdict = Channel.validate(&document);
        prop_assert!(verdict.is_valid(), "{document}: {:?}", show(&verdict.errors));
        prop_assert!(Channel.recognizes(document.as_object().unwrap()), "{}", document);
        let read = decode(&document).message;
        prop_assert_eq!(read.kind, message.kind);
        prop_assert_eq!(names.slug(&names.agent(message.from.as_str()).to_string()), read.from.to_string());
        prop_assert_eq!(read.text.as_deref().unwrap_or_default(), message.text.as_deref().unwrap_or_default());
        prop_assert_eq!(&read.title, &message.title);
        prop_assert_eq!(&read.task, &message.task);
        prop_assert_eq!(read.priority, message.priority);
        prop_assert_eq!(read.severity, message.severity);
        prop_assert_eq!(read.status, message.status);
        prop_assert_eq!(&read.error, &message.error);
        prop_assert_eq!(&read.metrics, &message.metrics);
        prop_assert_eq!(&read.data, &message.data);
        if message.presence.is_some() {
            prop_assert_eq!(read.presence.map(|read| (read.state, read.tasks)), message.presence.clone().map(|sent| (sent.state, sent.tasks)));
        }
        if heartbeat::is_heartbeat(&message) {
            return Ok(());
        }
        prop_assert_eq!(named(&read.to), named(&message.to));
        prop_assert_eq!(&read.code, &message.code);
        prop_assert_eq!(&read.attachments, &message.attachments);
        prop_assert_eq!(&read.refs, &message.refs);
        prop_assert_eq!(&read.deadline, &message.deadline);
        prop_assert_eq!(&read.reply_to, &message.reply_to);
        prop_assert_eq!(&read.correlation, &message.correlation);
        prop_assert_eq!(&read.result, &message.result);
        prop_assert_eq!(&read.brief, &message.brief);
        prop_assert_eq!(&read.gate, &message.gate);
        prop_assert_eq!(&read.handoff, &message.handoff);
        if message.thread.is_some() {
            prop_assert_eq!(&read.thread, &message.thread);
        }
    }

    #[test]
    fn a_second_translation_changes_nothing(message in canonical()) {
        let names = Names::default();
        let once = Channel.encode(&message, &names).document;
        let read = decode(&Value::Object(once.clone())).message;
        let twice = Channel.encode(&read, &names).document;
        prop_assert_eq!(&once, &twice, "{} {}", once, twice);
    }

    #[test]
    fn native_documents_keep_their_visible_fields(document in generate::channel::message()) {
        let message = decode(&document).message;
        let written = Value::Object(Channel.encode(&message, &Names::default()).document);
        if message.kind == message::Kind::AgentHeartbeat {
            return Ok(());
        }
        prop_assert_eq!(written.get("id"), document.get("id"));
        if message.text.is_some() && message.title.is_none() && message.error.is_none() && message.to.len() == 1 {
            let text = written.pointer("/content/text").and_then(Value::as_str).unwrap();
            prop_assert!(text.ends_with(message.text.as_deref().unwrap()));
        }
    }

    #[test]
    fn nothing_panics_on_any_value(document in generate::any_object(), other in generate::anything()) {
        try_everything(&document);
        try_everything(&other);
    }

    #[test]
    fn nothing_panics_on_mutated_documents(document in generate::channel::document(), place: usize, value in proptest::option::of(generate::anything())) {
        try_everything(&mutated(document, place, value));
    }
}
