//! Properties: every generated wire is valid and can be read, every message can be written, nothing panics.

use dialect::{Decoded, Dialect, Names, Routing};
use json::Value;
use message::{Guarantee, Kind, Message, Priority};
use proptest::prelude::*;
use testkit::generate;

use super::{decode, encode, shown};
use crate::Wire;

/// Checks the routing of a document: presence is at most once, the rest is as the message says.
fn check_routing(document: &Value<'_>) {
    let Decoded { message, routing, .. } = Wire.decode(document, &Names::default()).unwrap();
    let is_presence = matches!(message.kind, Kind::AgentHeartbeat | Kind::AgentStatus);
    let expected = Routing {
        priority: message.priority.unwrap_or(Priority::Normal),
        guarantee: if is_presence { Guarantee::AtMostOnce } else { Guarantee::AtLeastOnce },
        lifetime_ms: None,
        live_only: false,
    };
    assert_eq!(routing, expected);
}

fn canonical() -> impl Strategy<Value = Message> {
    generate::convoke::document().prop_map(|document| message::from_value(document).unwrap().message)
}

/// What a name becomes where a scheme cannot be said.
fn spoken(address: &str) -> String {
    Names::default().address(address).to_string()
}

/// Deletes or replaces a member, chosen by two numbers.
fn mutated(document: &Value<'static>, at: usize, replacement: Option<Value<'static>>) -> Value<'static> {
    let mut pointers = Vec::new();
    collect(document, String::new(), &mut pointers);
    let mut document = document.clone();
    let Some(pointer) = (!pointers.is_empty()).then(|| pointers[at % pointers.len()].clone()) else {
        return document;
    };
    let mut keys: Vec<&str> = pointer.split('/').skip(1).collect();
    let last = keys.pop().unwrap();
    let place = keys.into_iter().try_fold(&mut document, |place, key| match place {
        Value::Object(object) => object.get_mut(key),
        Value::Array(items) => items.get_mut(key.parse::<usize>().ok()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    });
    if let Some(Value::Object(object)) = place {
        match replacement {
            Some(value) => drop(object.insert(last.to_owned(), value)),
            None => drop(object.remove(last)),
        }
    }
    document
}

fn collect(value: &Value<'static>, pointer: String, pointers: &mut Vec<String>) {
    if let Value::Object(object) = value {
        for (key, value) in object.iter().filter(|(key, _)| !key.contains(['/', '~'])) {
            let pointer = format!("{pointer}/{key}");
            collect(value, pointer.clone(), pointers);
            pointers.push(pointer);
        }
    }
}

/// Does everything that can be done with a document; only the absence of panics is of interest.
fn exercise(document: &Value<'static>) {
    let names = Names::default();
    let is_valid = Wire.validate(document).is_valid();
    if let Value::Object(object) = document {
        Wire.recognizes(object);
        crate::wire_id(object);
        Wire.version(object);
    }
    if let Ok(decoded) = Wire.decode(document, &names) {
        check_routing(document);
        encode(&decoded.message);
    } else {
        assert!(!is_valid || document.get("card_version").is_some(), "valid, but not read: {document}");
    }
    crate::lint(document, None);
    drop(crate::Registry::from_value(document));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn generated_wires_are_valid_and_read(document in generate::wire::document()) {
        let verdict = Wire.validate(&document);
        prop_assert!(verdict.is_valid(), "{document}: {:?}", shown(&verdict.errors));
        prop_assert!(Wire.recognizes(document.as_object().unwrap()));
        let message = decode(&document);
        prop_assert_eq!(verdict.kind, Some(message.kind));
        check_routing(&document);
    }

    /// What was read and written again says the same, so going back and forth adds nothing.
    #[test]
    fn what_was_read_is_written_as_it_was_meant(document in generate::wire::document()) {
        let first = decode(&document);
        let second = decode(&encode(&first));
        let mut expected = first.clone();
        // A pointer gets an envelope, which says when; two of three fields of a brief's output say null for nothing.
        expected.created = second.created.clone();
        if first.error.is_none() && second.error.is_some() {
            // An inbox message that a task is stuck becomes the wire that says it of the task.
            expected.error = second.error.clone();
            expected.gate = None;
        }
        expected.title = expected.title.or_else(|| second.title.clone());
        expected.gate = expected.gate.or_else(|| second.gate.clone());
        expected.text = expected.text.or_else(|| second.text.clone());
        expected.metrics = second.metrics.clone().filter(|_| first.metrics.is_none()).or(expected.metrics);
        prop_assert_eq!(second.to_value(), expected.to_value());
    }

    #[test]
    fn every_message_is_written_validly_and_keeps_what_matters(sent in canonical()) {
        let document = encode(&sent);
        let read = decode(&document);
        check_routing(&document);
        prop_assert_eq!(read.kind, sent.kind);
        prop_assert_eq!(read.from.to_string(), Names::default().agent(sent.from.as_str()).to_string());
        let told: Vec<String> = sent.to.iter().map(|to| spoken(&to.to_string())).collect();
        prop_assert_eq!(read.to.iter().map(ToString::to_string).collect::<Vec<_>>(), told);
        if sent.task.is_some() {
            prop_assert_eq!(&read.task, &sent.task);
        }
        if sent.priority.is_some() {
            prop_assert_eq!(read.priority, sent.priority);
        }
        if sent.status.is_some() {
            prop_assert_eq!(read.status, sent.status);
        }
        prop_assert_eq!(&read.native_id, &sent.native_id);
        prop_assert_eq!(&read.thread, &sent.thread);
        prop_assert_eq!(&read.correlation, &sent.correlation);
        prop_assert_eq!(&read.reply_to, &sent.reply_to);
        prop_assert_eq!(&read.deadline, &sent.deadline);
        prop_assert_eq!(&read.severity, &sent.severity);
        if sent.created.is_some() {
            prop_assert_eq!(&read.created, &sent.created);
        }
        let has_letters = |text: &&String| text.contains(char::is_alphanumeric);
        if let Some(title) = sent.title.as_ref().filter(has_letters) {
            prop_assert_eq!(read.title.as_ref(), Some(title));
        }
        let limit = match document.get("type").and_then(Value::as_str) {
            Some("brief") => 200,
            Some("complete") => 150,
            _ => usize::MAX,
        };
        if let Some(text) = sent.text.as_ref().filter(|text| !text.is_empty() && dialect::words(text) <= limit) {
            prop_assert_eq!(read.text.as_ref(), Some(text));
        }
        let is_stuck = matches!(sent.kind, Kind::TaskFailed | Kind::TaskBlocked | Kind::TaskRejected | Kind::ErrorReport);
        if let Some(error) = sent.error.as_ref().filter(|_| is_stuck) {
            let read = read.error.unwrap_or_default();
            if error.code.is_some() {
                prop_assert_eq!(&read.code, &error.code);
            }
            if error.message.as_ref().is_some_and(|text| !text.is_empty()) {
                prop_assert_eq!(&read.message, &error.message);
            }
        }
    }

    /// Any text, any form of name and any task: what is written is valid, and says from whom, to whom and what.
    #[test]
    fn odd_texts_and_names_are_written_validly(
        kind in proptest::sample::select(Kind::ALL),
        from in "[a-z0-9][a-z0-9._-]{0,9}|did:plc:[A-Za-z0-9]{1,9}",
        to in "[a-z0-9][a-z0-9._-]{0,9}(#[1-9])?|#[a-z0-9]{1,9}|roles\\.[a-z0-9]{1,9}|did:web:[A-Za-z0-9.]{1,9}",
        task in proptest::option::of("[ -~é]{1,12}|0\\.0\\.[0-9]{1,4}"),
        text in any::<String>(),
        title in any::<String>(),
        code in any::<String>(),
    ) {
        let mut sent = super::message(&format!(r#"{{"kind":"{kind}","from":"ann","to":["bob"],"error":{{}}}}"#));
        let parsed = (from.parse(), to.parse());
        prop_assume!(parsed.0.is_ok() && parsed.1.is_ok());
        (sent.from, sent.to) = (parsed.0.unwrap(), vec![parsed.1.unwrap()]);
        sent.task = task.and_then(|task| task.parse().ok());
        if let Some(error) = sent.error.as_mut() {
            (error.code, error.message) = (Some(code), Some(title.clone()));
        }
        (sent.text, sent.title) = (Some(text.clone()), Some(title));
        let document = encode(&sent);
        let read = decode(&document);
        prop_assert_eq!((read.kind, &read.from, &read.to), (sent.kind, &sent.from, &sent.to));
        if sent.task.is_some() {
            prop_assert_eq!(&read.task, &sent.task);
        }
        if !text.is_empty() {
            prop_assert_eq!(read.text, Some(text));
        }
    }

    #[test]
    fn writing_again_changes_nothing(sent in canonical()) {
        let once = encode(&decode(&encode(&sent)));
        let twice = encode(&decode(&once));
        let (once, twice) = (once.to_string(), twice.to_string());
        let same = once.bytes().zip(twice.bytes()).take_while(|(one, other)| one == other).count();
        let from = same.saturating_sub(300);
        prop_assert!(once == twice, "{:?}\n{:?}", String::from_utf8_lossy(&once.as_bytes()[from..]), String::from_utf8_lossy(&twice.as_bytes()[from..]));
    }

    #[test]
    fn no_value_panics(document in generate::anything()) {
        exercise(&document);
    }

    #[test]
    fn no_mutation_panics(document in generate::wire::document(), at in any::<usize>(), value in proptest::option::of(generate::anything())) {
        exercise(&mutated(&document, at, value));
    }

    #[test]
    fn no_mutation_of_what_we_write_panics(sent in canonical(), at in any::<usize>(), value in proptest::option::of(generate::anything())) {
        exercise(&mutated(&encode(&sent), at, value));
    }

    #[test]
    fn no_mutation_of_a_card_panics(at in any::<usize>(), value in proptest::option::of(generate::anything())) {
        let card = super::vector("cards/good/quinn");
        let card = mutated(&card, at, value);
        crate::lint(&card, None);
        drop(crate::prompt::assemble(&card, &card, &[], None, std::slice::from_ref(&card)));
    }
}
