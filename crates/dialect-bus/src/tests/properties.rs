//! Properties of every document and every message.

use dialect::{Decoded, Dialect, Link, Names, Routing};
use json::{Object, Value};
use message::{Guarantee, Kind, Message, Priority};
use proptest::prelude::*;
use proptest::sample::Index;
use testkit::generate::{anything, bus, convoke};

use super::shown;
use crate::kinds::{self, MessageType};
use crate::{Bus, correlation, for_fallback, lifetime};

proptest! {
    #[test]
    fn generated_documents_are_valid_and_can_be_read(document in bus::document()) {
        let verdict = Bus.validate(&document);
        prop_assert!(verdict.is_valid(), "{document}: {:?}", shown(&verdict.errors));
        prop_assert!(Bus.recognizes(document.as_object().unwrap()));
        let decoded = Bus.decode(&document, &Names::default());
        prop_assert!(decoded.is_ok(), "{document}: {:?}", shown(&decoded.unwrap_err()));
        prop_assert_eq!(verdict.kind, Some(decoded.unwrap().message.kind));
    }

    #[test]
    fn generated_identities_are_valid(document in bus::identity()) {
        let verdict = Bus.validate(&document);
        prop_assert!(verdict.is_valid(), "{document}: {:?}", shown(&verdict.errors));
        prop_assert!(Bus.recognizes(document.as_object().unwrap()));
    }

    #[test]
    fn the_routing_agrees_with_the_message(document in bus::document()) {
        let decoded = Bus.decode(&document, &Names::default()).unwrap();
        check_routing(&document, &decoded)?;
    }

    #[test]
    fn what_is_written_is_valid_and_says_the_same(document in convoke::document()) {
        let message = message::from_value(document).unwrap().message;
        written_and_read(&message)?;
    }

    #[test]
    fn what_was_read_can_be_written_again(document in bus::document()) {
        let message = Bus.decode(&document, &Names::default()).unwrap().message;
        let back = written_and_read(&message)?;
        prop_assert_eq!(&back.data, &message.data);
        prop_assert_eq!(&back.result, &message.result);
        same_brief(&back, &message)?;
        prop_assert_eq!(&back.metrics, &message.metrics);
        prop_assert_eq!(&back.gate, &message.gate);
        prop_assert_eq!(back.presence.map(|it| (it.state, it.sub)), message.presence.map(|it| (it.state, it.sub)));
    }

    #[test]
    fn every_link_and_invention_is_there(document in bus::document(), message in convoke::document()) {
        let decoded = Bus.decode(&document, &Names::default()).unwrap();
        linked(&document, &decoded.message, &decoded.links)?;
        let message = message::from_value(message).unwrap().message;
        for message in [&message, &decoded.message] {
            let encoded = Bus.encode(message, &Names::default());
            let document = Value::Object(encoded.document);
            linked(&document, message, &encoded.links)?;
            for place in encoded.invented {
                prop_assert!(document.pointer(&place).is_some(), "{} is not in {}", place, document);
            }
        }
    }

    #[test]
    fn nothing_panics_on_any_document(document in anything()) {
        survives(&document);
    }

    #[test]
    fn nothing_panics_on_broken_documents(
        mut document in bus::document(),
        breaks in proptest::collection::vec((any::<Index>(), proptest::option::of(anything())), 1..4),
    ) {
        for (index, value) in breaks {
            break_one(&mut document, index, value);
        }
        survives(&document);
        if let Ok(decoded) = Bus.decode(&document, &Names::default()) {
            check_routing(&document, &decoded)?;
        }
    }
}

/// Asks everything of a document; what can be read must have been recognised.
fn survives(document: &Value<'_>) {
    let verdict = Bus.validate(document);
    let decoded = Bus.decode(document, &Names::default());
    let is_read = decoded.is_ok();
    assert!(is_read || !decoded.unwrap_err().is_empty());
    let Value::Object(document) = document else {
        assert!(!verdict.is_valid());
        return;
    };
    assert!(Bus.recognizes(document) || !is_read);
    let copy = for_fallback(document, "codex://x");
    assert_eq!(correlation(document), correlation(&copy));
    assert_eq!(lifetime(document), lifetime(&copy));
}

/// Deletes or replaces one member, of the document or of one of its parts.
fn break_one(document: &mut Value<'static>, index: Index, value: Option<Value<'static>>) {
    let Value::Object(object) = document else { return };
    if object.is_empty() {
        return;
    }
    let nth = index.index(object.len() * 2);
    let key = object.iter().nth(nth / 2).map(|(key, _)| key.to_owned()).unwrap_or_default();
    let is_part =
        object.get(&key).is_some_and(|value| value.as_object().is_some_and(|part| !part.is_empty()));
    if nth % 2 == 1 && is_part {
        if let Some(part) = object.get_mut(&key) {
            break_one(part, index, value);
        }
        return;
    }
    match value {
        Some(value) => drop(object.insert(key, value)),
        None => drop(object.remove(&key)),
    }
}

fn linked(document: &Value<'_>, message: &Message, links: &[Link]) -> Result<(), TestCaseError> {
    let message = message.to_value();
    for link in links {
        prop_assert!(document.pointer(&link.native).is_some(), "{:?} is not in {}", link, document);
        prop_assert!(message.pointer(&link.canonical).is_some(), "{:?} is not in {}", link, message);
    }
    Ok(())
}

/// Checks that the routing agrees with the message, and with the lifetime that the document gives it.
fn check_routing(document: &Value<'_>, decoded: &Decoded) -> Result<(), TestCaseError> {
    let Decoded { message, routing, .. } = decoded;
    let wishes = message.delivery.as_deref();
    let is_message = message.kind != Kind::AgentStatus || document.get("message_type").is_some();
    let lifetime = document.as_object().filter(|_| is_message).and_then(lifetime);
    let lifetime_ms = lifetime.map(|lifetime| u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX));
    let guarantee = wishes.and_then(|wishes| wishes.guarantee).unwrap_or(Guarantee::AtLeastOnce);
    let priority = message.priority.unwrap_or(Priority::Normal);
    prop_assert_eq!(*routing, Routing { priority, guarantee, lifetime_ms, live_only: false });
    Ok(())
}

/// Writes a message, reads it again and compares all that this dialect can say.
fn written_and_read(message: &Message) -> Result<Message, TestCaseError> {
    let names = Names::default();
    let encoded = Bus.encode(message, &names);
    let again = Bus.encode(message, &names);
    prop_assert_eq!(encoded.document.clone(), again.document, "the same message, the same document");
    let document = Value::Object(encoded.document);
    let verdict = Bus.validate(&document);
    prop_assert!(verdict.is_valid(), "{}: {:?}", document, shown(&verdict.errors));
    let says_shutdown = verdict.warnings.kept().iter().any(|it| it.code == crate::codes::SHUTDOWN_IGNORED);
    prop_assert!(!says_shutdown, "{}", document);
    let decoded = Bus.decode(&document, &names);
    prop_assert!(decoded.is_ok(), "{}: {:?}", document, shown(&decoded.unwrap_err()));
    let back = decoded.unwrap().message;
    prop_assert_eq!(back.kind, message.kind);
    prop_assert_eq!(back.from.clone(), names.agent(message.from.as_str()));
    prop_assert_eq!(back.to.clone(), vec![names.address(&message.to[0].to_string())]);
    prop_assert_eq!(&back.text, &message.text);
    prop_assert_eq!(&back.task, &message.task);
    prop_assert_eq!(&back.thread, &message.thread);
    prop_assert_eq!(&back.reply_to, &message.reply_to);
    prop_assert_eq!(&back.deadline, &message.deadline);
    prop_assert_eq!(&back.expires, &message.expires);
    prop_assert_eq!(&back.code, &message.code);
    prop_assert_eq!(&back.data, &message.data);
    if message.title.is_some() {
        prop_assert_eq!(&back.title, &message.title);
    }
    if message.priority.is_some() {
        prop_assert_eq!(back.priority, message.priority);
    }
    if message.status.is_some() {
        prop_assert_eq!(back.status, message.status);
    }
    let uris = |message: &Message| message.attachments.iter().map(|it| it.uri.clone()).collect::<Vec<_>>();
    prop_assert_eq!(uris(&back), uris(message));
    same_error(&back, message)?;
    same_delivery(&back, message)?;
    Ok(back)
}

fn same_error(back: &Message, message: &Message) -> Result<(), TestCaseError> {
    let Some(error) = &message.error else { return Ok(()) };
    let found = back.error.clone().unwrap_or_default();
    prop_assert_eq!(&found.code, &error.code);
    // Whether to try again means nothing without something that failed.
    let is_failure = matches!(message.kind, Kind::TaskFailed | Kind::ErrorReport);
    if is_failure || error.code.is_some() || error.message.is_some() {
        prop_assert_eq!(found.retryable, error.retryable);
    }
    prop_assert_eq!(&found.actions, &error.actions);
    if error.message.is_some() {
        prop_assert_eq!(&found.message, &error.message);
    }
    Ok(())
}

/// A title of one word names the sort of work where nothing else does; otherwise briefs are the same.
fn same_brief(back: &Message, message: &Message) -> Result<(), TestCaseError> {
    let brief = message.brief.as_deref().cloned().unwrap_or_default();
    let mut found = back.brief.as_deref().cloned().unwrap_or_default();
    if brief.task_type.is_none() && found.task_type == message.title {
        found.task_type = None;
    }
    prop_assert_eq!(found, brief);
    Ok(())
}

fn same_delivery(back: &Message, message: &Message) -> Result<(), TestCaseError> {
    let Some(delivery) = &message.delivery else { return Ok(()) };
    let found = back.delivery.clone().unwrap();
    prop_assert!(delivery.mode.is_none() || found.mode == delivery.mode);
    prop_assert!(delivery.timeout.is_none() || found.timeout == delivery.timeout);
    prop_assert!(delivery.retries.is_none() || found.retries == delivery.retries);
    prop_assert!(delivery.backoff.is_none() || found.backoff == delivery.backoff);
    let names = Names::default();
    let fallback: Vec<_> = delivery.fallback.iter().map(|agent| names.agent(agent.as_str())).collect();
    prop_assert_eq!(found.fallback, fallback);
    Ok(())
}

#[test]
fn every_kind_has_a_type_that_its_hint_fits() {
    for kind in Kind::ALL {
        let message_type = MessageType::for_kind(*kind, false);
        let payload: Object<'_> = [("kind", kind.name())].into_iter().collect();
        let mut document: Object<'_> = Object::new();
        document.insert("message_type", message_type.name());
        document.insert("payload", payload);
        assert_eq!(kinds::kind_of(&document), Some(*kind));
        document.insert("message_type", "nonsense");
        assert_eq!(kinds::kind_of(&document), None);
    }
}
