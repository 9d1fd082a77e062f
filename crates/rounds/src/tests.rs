//! The checker itself: histories that were made up, each with one promise broken, and a good one.

mod made_up;

use std::collections::BTreeMap;

use crate::checker::{Promise, check};
use crate::history::{Event, Guarantee, Record};

use made_up::{Story, recipient};

#[test]
fn a_good_history_is_clean() {
    assert_eq!(check(&Story::good().record), []);
}

/// What is done to the good history, and which promises are broken then; one thing may break several.
#[test]
fn each_broken_promise_is_found() {
    for (name, spoil, expected) in SPOILT {
        let mut story = Story::good();
        spoil(&mut story);
        let found = check(&story.record);
        for promise in *expected {
            assert!(found.iter().any(|found| found.promise == *promise), "{name}: only {found:?}");
        }
    }
}

type Spoil = fn(&mut Story);

const SPOILT: &[(&str, Spoil, &[Promise])] = &[
    ("lost", |story| story.ends("a-1", None), &[Promise::Durable]),
    ("gone from the endings", |story| story.record.endings = BTreeMap::new(), &[Promise::Durable]),
    ("given up", |story| story.ends("a-2", Some("unconfirmed")), &[Promise::AtLeastOnce, Promise::Receipts]),
    ("once comes twice", |story| story.comes("o-1", "bob", 2), &[Promise::AtMostOnce, Promise::Receipts]),
    (
        "again without a mark",
        |story| {
            story.comes("a-3", "bob", 1);
            story.comes("a-3", "bob", 1);
        },
        &[Promise::Flagged, Promise::Receipts],
    ),
    (
        "again with a smaller number",
        |story| {
            story.comes("a-3", "bob", 3);
            story.comes("a-3", "bob", 2);
        },
        &[Promise::Flagged, Promise::Receipts],
    ),
    (
        "out of order",
        |story| {
            story.sends("a-4", Some(4));
            story.sends("a-5", Some(5));
            story.comes("a-5", "bob", 1);
            story.comes("a-4", "bob", 1);
            story.waits("a-4");
            story.waits("a-5");
        },
        &[Promise::Ordered],
    ),
    (
        "back to an earlier one",
        |story| {
            story.sends("a-4", Some(4));
            story.comes("a-4", "bob", 1);
            story.comes("a-3", "bob", 1);
            story.waits("a-4");
            story.more_attempts("a-3", 5);
        },
        &[Promise::Ordered],
    ),
    ("never sent", |story| story.comes("x-1", "bob", 1), &[Promise::Genuine]),
    (
        "to somebody else",
        |story| {
            story.comes("a-3", "eve", 1);
        },
        &[Promise::Genuine],
    ),
    ("changed", |story| story.comes_changed("a-3"), &[Promise::Genuine]),
    (
        "refused and it came",
        |story| {
            let code = "invalid".to_owned();
            story.record.events.push(Event::Refused { name: "a-2".to_owned(), code });
        },
        &[Promise::Genuine],
    ),
    (
        "two ids",
        |story| {
            let (name, id) = ("a-1".to_owned(), "other".to_owned());
            story.record.events.push(Event::Accepted { name, id: id.clone() });
            let ending = story.record.endings["id-a-1"].clone();
            story.record.endings.insert(id, ending);
        },
        &[Promise::Idempotent],
    ),
    (
        "again after its acknowledgement",
        |story| {
            story.comes("a-1", "bob", 2);
            story.more_attempts("a-1", 2);
        },
        // It is also behind what was sent after it.
        &[Promise::Ordered, Promise::Settled],
    ),
    ("queued nowhere", |story| story.ends("a-3", Some("stored")), &[Promise::Accounted]),
    ("expired too early", |story| story.ends("a-3", Some("expired")), &[Promise::Accounted, Promise::Told]),
    ("dead and not there", |story| story.ends("d-1", Some("dead")), &[Promise::Accounted]),
    (
        "nobody was told",
        |story| story.record.events.retain(|event| !matches!(event, Event::Noticed { .. })),
        &[Promise::Told],
    ),
    ("acknowledged by nobody", |story| story.ends("a-3", Some("acknowledged")), &[Promise::Receipts]),
    (
        "acknowledged, says the consumer",
        |story| story.ends("a-2", Some("stored")),
        &[Promise::Accounted, Promise::Receipts],
    ),
    (
        "somebody else's answer",
        |story| {
            let answer = "the answer to a-3".to_owned();
            story.record.events.push(Event::Answered { question: "q-1".to_owned(), answer });
        },
        &[Promise::Replies],
    ),
    ("a record of which nobody was told", |story| story.is_record("a-1"), &[Promise::Followed]),
    (
        "a record that was told of twice",
        |story| {
            story.is_record("a-1");
            story.follows("a-1");
            story.follows("a-1");
        },
        &[Promise::Followed],
    ),
    (
        "records that were told of the other way round",
        |story| {
            story.follows("a-2");
            story.follows("a-1");
        },
        &[Promise::Followed],
    ),
    ("a record that nobody wrote", |story| story.follows("x-1"), &[Promise::Followed]),
    (
        "answered, but the receipt does not know",
        |story| story.ends("q-1", Some("acknowledged")),
        &[Promise::Receipts],
    ),
];

/// Two takes that were under way at once may be noted in either order: nothing follows from that.
#[test]
fn what_overlaps_is_not_out_of_order() {
    let mut story = Story::good();
    let asked = story.record.events.len();
    story.sends("a-4", Some(4));
    story.sends("a-5", Some(5));
    story.comes_asked("a-5", 1, asked);
    story.comes_asked("a-4", 1, asked);
    story.waits("a-4");
    story.waits("a-5");
    assert_eq!(check(&story.record), []);
}

/// What may be given up, or end by itself, is no violation.
#[test]
fn ends_that_are_promised_are_accepted() {
    let mut record = Record::clone(&Story::good().record);
    for (name, guarantee, may_expire, stage) in [
        ("e-1", Guarantee::AtMostOnce, false, "unconfirmed"),
        ("e-2", Guarantee::AtMostOnce, true, "expired"),
        ("e-3", Guarantee::AtMostOnce, false, "dead"),
    ] {
        let mut story = Story { record };
        story.sends(name, None);
        record = story.record;
        let letter = record.letters.get_mut(name).unwrap();
        (letter.guarantee, letter.may_expire) = (guarantee, may_expire);
        record.endings.get_mut(&format!("id-{name}")).unwrap().recipients =
            Some(vec![recipient("bob", stage, 0)]);
    }
    assert_eq!(check(&record), []);
}
