//! Properties: what holds for every record and every message.

use std::time::Duration;

use dialect::{Decoded, Dialect, Names, Recipients, is_cut};
use json::Value;
use message::{Address, Guarantee, Kind, Message, Priority};
use proptest::prelude::*;
use testkit::generate;

use super::{decoded, message, registry, shown};
use crate::view::View;
use crate::{Comms, Record};

proptest! {
    #[test]
    fn generated_records_are_valid_and_read(document in generate::comms::document()) {
        let verdict = Comms.validate(&document);
        prop_assert!(verdict.is_valid(), "{}: {:?}", document, shown(&verdict.errors));
        let read = decoded(&document, &registry());
        prop_assert_eq!(Some(read.message.kind), verdict.kind);
        prop_assert!(Comms.recognizes(document.as_object().unwrap()));
        let message = read.message.to_value();
        for link in &read.links {
            prop_assert!(document.pointer(&link.native).is_some(), "{} is not in {}", link.native, document);
            prop_assert!(message.pointer(&link.canonical).is_some(), "{} is not in {}", link.canonical, message);
        }
    }

    #[test]
    fn routing_recipients_and_message_agree(document in generate::comms::document()) {
        let names = registry();
        let Decoded { message: read, routing, .. } = decoded(&document, &names);
        let object = document.as_object().unwrap();
        prop_assert_eq!(routing.priority, read.priority.unwrap_or(Priority::Normal));
        let delivery = read.delivery.as_deref();
        prop_assert_eq!(routing.live_only, delivery.is_some_and(|delivery| delivery.live_only));
        let guarantee = delivery.and_then(|delivery| delivery.guarantee);
        prop_assert_eq!(routing.guarantee, guarantee.unwrap_or(Guarantee::AtLeastOnce));
        let (created, expires) = (read.created.map(|created| created.at()), read.expires.map(|end| end.at()));
        if let Some(lifetime_ms) = routing.lifetime_ms {
            let end = created.and_then(|created| created.checked_add(Duration::from_millis(lifetime_ms)));
            prop_assert!(end.is_none() || expires <= end, "{:?} is after {:?}", expires, end);
        }
        let view = View::of_lexicon(object).unwrap();
        let to: Vec<Address> = match crate::recipients(object).unwrap() {
            Recipients::One(one) => vec![names.agent(one).into()],
            Recipients::Everyone => vec![Address::All],
            Recipients::Anyone => vec!["roles.any".parse().unwrap()],
            Recipients::Each(items) => {
                items.iter().map(|item| view.address(item.as_str().unwrap(), &names)).collect()
            }
        };
        prop_assert!(to.iter().all(|address| read.to.contains(address)), "{:?} {:?}", to, read.to);
        prop_assert!(read.to.iter().all(|address| to.contains(address)), "{:?} {:?}", to, read.to);
    }

    #[test]
    fn what_is_written_is_valid_and_says_the_same(document in generate::convoke::document()) {
        check_round_trip(&message(&document), &Names::default());
        check_round_trip(&message(&document), &registry());
    }

    #[test]
    fn what_was_read_is_written_as_the_same_record(document in generate::comms::document()) {
        let names = registry();
        let read = decoded(&document, &names).message;
        check_round_trip(&read, &names);
    }

    #[test]
    fn messages_of_odd_agents_are_written(message in odd_message()) {
        check_round_trip(&message, &registry());
    }

    #[test]
    fn writing_twice_gives_the_same(document in generate::convoke::document()) {
        let (message, names) = (message(&document), registry());
        prop_assert_eq!(Comms.encode(&message, &names).document, Comms.encode(&message, &names).document);
    }
}

/// Writes a message, holds the record to the strict check, reads it and compares.
fn check_round_trip(message: &Message, names: &Names) {
    let encoded = Comms.encode(message, names);
    let document = Value::Object(encoded.document);
    let verdict = Comms.validate(&document);
    assert!(verdict.is_valid(), "{document}: {:?}", shown(&verdict.errors));
    assert_eq!(verdict.kind, Some(message.kind), "{document}");
    let places =
        encoded.links.iter().map(|link| &*link.native).chain(encoded.invented.iter().map(String::as_str));
    for native in places {
        assert!(document.pointer(native).is_some(), "{native} is not in {document}");
    }
    let read = decoded(&document, names).message;
    check_addresses(message, &read, names);
    check_texts(message, &read, &document);
    assert_eq!(read.priority.unwrap_or(Priority::Normal), message.priority.unwrap_or(implied(message)));
    if message.task.is_some() {
        assert_eq!(read.task, message.task, "{document}");
    }
    if message.status.is_some() {
        assert_eq!(read.status, message.status, "{document}");
    }
    if message.thread.is_some() {
        assert_eq!(read.thread, message.thread, "{document}");
    }
    if message.reply_to.is_some() {
        assert_eq!(read.reply_to, message.reply_to, "{document}");
    }
    if let Some(created) = &message.created {
        assert_eq!(read.created.as_ref().map(|read| read.at()), Some(created.at()), "{document}");
    }
    if let Some(deadline) = &message.deadline {
        assert_eq!(read.deadline.as_ref().map(|read| read.at()), Some(deadline.at()), "{document}");
    }
    assert_eq!(read.schema, message.schema, "{document}");
    assert_eq!(read.data.is_some(), message.data.is_some(), "{document}");
    assert_eq!(read.result.is_some(), message.result.is_some(), "{document}");
    if let Some(error) = message.error.as_deref() {
        let read = read.error.as_deref().unwrap_or_else(|| panic!("no error in {document}"));
        if error.code.as_deref().is_some_and(|code| !code.is_empty()) {
            assert_same_text(error.code.as_deref(), read.code.as_deref(), &document);
        }
        assert_same_text(error.message.as_deref(), read.message.as_deref(), &document);
        assert_eq!(read.retryable, error.retryable, "{document}");
    }
}

/// A broadcast says how urgent it is by how bad what it tells is.
fn implied(message: &Message) -> Priority {
    match message.severity.filter(|_| Record::of(message) == Record::Broadcast) {
        Some(message::Severity::Low) => Priority::Low,
        Some(message::Severity::Medium) | None => Priority::Normal,
        Some(message::Severity::High) => Priority::High,
        Some(message::Severity::Critical) => Priority::Critical,
    }
}

/// Agents come back as the one whom their DID names.
fn check_addresses(message: &Message, read: &Message, names: &Names) {
    let known = |agent: &str| names.agent(&crate::ids::did_of(agent, names).0);
    assert_eq!(read.from, known(message.from.as_str()));
    let mut to: Vec<Address> = Vec::new();
    for address in &message.to {
        let address = match address {
            Address::Agent(agent) => Address::Agent(known(agent.as_str())),
            Address::Session { .. }
            | Address::Role(_)
            | Address::Topic(_)
            | Address::Channel(_)
            | Address::All => address.clone(),
        };
        if !to.contains(&address) {
            to.push(address);
        }
    }
    assert_eq!(read.to, to);
}

fn check_texts(message: &Message, read: &Message, document: &Value<'_>) {
    assert_same_text(message.text.as_deref(), read.text.as_deref(), document);
    assert_same_text(message.title.as_deref(), read.title.as_deref(), document);
    assert_eq!(message.code, read.code, "{document}");
}

fn assert_same_text(written: Option<&str>, read: Option<&str>, document: &Value<'_>) {
    match read {
        Some(cut) if is_cut(cut) => {
            let head = cut.split("… [cut").next().unwrap();
            assert!(written.is_some_and(|text| text.starts_with(head)), "{document}");
        }
        read => assert_eq!(read, written, "{document}"),
    }
}

/// Messages of agents that the AT Protocol has no names for, to every sort of address, at odd times.
fn odd_message() -> impl Strategy<Value = Message> {
    let agent = prop_oneof![
        "did:[a-z0-9]{1,4}:[A-Za-z0-9._:%@#-]{1,20}",
        "[a-zA-Z][a-z0-9+.-]{0,5}://[!-~é😀]{1,20}",
        "did:plc:[a-z]{200,400}",
        "[a-z][a-z0-9._-]{0,62}",
        Just("net".to_owned()),
    ];
    let address = prop_oneof![
        3 => agent.clone(),
        1 => "roles\\.[a-z]{1,8}",
        1 => "#[a-c]{1,2}",
        1 => "channel:[a-c]{1,2}",
        1 => "[a-z]{1,8}#[1-9]",
        1 => Just("channel:all".to_owned()),
        1 => Just("channel:roles.x".to_owned()),
        1 => Just("all".to_owned()),
    ];
    let time =
        "20[0-9]{2}-0[1-9]-1[0-9][Tt]1[0-9]:[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,12})?([Zz]|[+-]0[0-9]:00)";
    let words = proptest::option::of("[ -~é😀]{0,30}|x{9990,10020}|y{510,520}|z{2040,2060}");
    (
        (proptest::sample::select(Kind::ALL), agent, proptest::collection::vec(address, 1..130)),
        (proptest::option::of(time), proptest::option::of(time), words.clone(), words.clone(), words),
        proptest::option::of("[!-~ é]{1,40}"),
        any::<bool>(),
    )
        .prop_filter_map(
            "addresses",
            |((kind, from, to), (created, expires, title, text, error), id, live)| {
                let to: Vec<Address> = to.iter().filter_map(|address| address.parse().ok()).collect();
                let mut message = Message::new(kind, from.parse().ok()?, to);
                message.created = created.and_then(|time| time.parse().ok());
                message.expires = expires.and_then(|time| time.parse().ok());
                message.reply_to = id.as_deref().and_then(|id| id.parse().ok());
                message.thread = id.as_deref().and_then(|id| id.parse().ok());
                (message.title, message.text) = (title, text);
                if let Some(words) = error {
                    let mut failure = message::Failure::default();
                    (failure.code, failure.message) = (Some(words.clone()), Some(words));
                    message.error = Some(Box::new(failure));
                }
                if live {
                    let mut delivery = message::DeliveryWishes::default();
                    delivery.live_only = true;
                    message.delivery = Some(Box::new(delivery));
                }
                (!message.to.is_empty()).then_some(message)
            },
        )
}
