//! File names: the specification's samples, what is refused, and the order.

use std::cmp::Ordering;

use message::Timestamp;
use proptest::prelude::*;

use crate::file_name::{FileName, id_for, order};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn samples_are_read_and_written_again() {
    let samples = [
        ("msg-20260111-163315-claude-4c78", "163315", "claude", "4c78"),
        ("msg-20260111-163321-codex-9099", "163321", "codex", "9099"),
        ("msg-20260111-163326-supervisor-4e99", "163326", "supervisor", "4e99"),
        ("msg-20260111-155709-qc-1-b4f6", "155709", "qc-1", "b4f6"),
        ("msg-20260111-163315-claude-1-4c78", "163315", "claude-1", "4c78"),
        ("msg-20260111-163315-a-beef-4c78", "163315", "a-beef", "4c78"),
        ("msg-20260111-163315---4c78", "163315", "-", "4c78"),
        ("msg-20260111-163315-claude-4c78a0", "163315", "claude", "4c78a0"),
    ];
    for (stem, time, agent, hex) in samples {
        let file = format!("{stem}.json");
        for name in [stem, &file] {
            let parsed = FileName::parse(name).unwrap();
            assert_eq!(
                (&*parsed.date, &*parsed.time, &*parsed.agent, &*parsed.hex),
                ("20260111", time, agent, hex)
            );
            assert_eq!((parsed.to_string().as_str(), parsed.file()), (stem, file.clone()));
        }
    }
}

#[test]
fn what_is_no_file_of_a_message() {
    let others = [
        "msg-20260111-163315-claude-4C78.json",
        "msg-20260111-163315-claude-4c7.json",
        "20260111-163315-claude-4c78.json",
        "msg-20260111-163315-claude-4c78.tmp",
        "msg-20260111-163315-claude-4c78.json.tmp",
        ".msg-20260111-163315-claude-4c78.tmp",
        ".tmp-msg-20260111-163315-claude-4c78.json",
        "msg-20260111-163315-4c78.json",
        "msg-20260111-163315--4c78.json",
        "msg-2026011-163315-claude-4c78.json",
        "msg-20260111-1633150-claude-4c78.json",
        "msg-20260111-163315-a/b-4c78.json",
        "msg-20260111-163315-a\nb-4c78.json",
        "msg-２0260111-163315-claude-4c78.json",
        "msg-",
        "",
    ];
    for name in others {
        assert_eq!(FileName::parse(name), None, "{name:?}");
    }
}

#[test]
fn names_are_made_from_the_floor_of_the_second() {
    let name = FileName::make(at("2026-01-11T16:33:15.999Z"), "qc-1", 0xab);
    assert_eq!(name.file(), "msg-20260111-163315-qc-1-00ab.json");
    let odd = FileName::make(at("0000-01-01T00:00:00Z"), "../a b\u{0}é", 0xffff);
    assert_eq!(odd.to_string(), "msg-00000101-000000-..-a-b---ffff");
    assert_eq!(
        FileName::make(at("2026-01-11T16:33:15Z"), "", 0).to_string(),
        "msg-20260111-163315-agent-0000"
    );
}

#[test]
fn the_id_of_the_worked_example() {
    let id = id_for("msg_1719000000000_abcd123", at("2025-02-01T10:00:00Z"), "orchestrator");
    assert_eq!(id, "msg-20250201-100000-orchestrator-13f8");
}

#[test]
fn files_are_ordered_by_time_and_then_by_name() {
    let second = at("2026-01-11T10:00:00.001Z");
    let cases = [
        (
            "2026-01-11T10:00:00Z",
            "msg-20260111-100000-claude-0001",
            "2026-01-11T10:00:30Z",
            "msg-20260111-100030-codex-0002",
            Ordering::Less,
        ),
        (
            "2026-01-11T10:00:45Z",
            "msg-20260111-100045-gemini-0003",
            "2026-01-11T10:00:30Z",
            "msg-20260111-100030-codex-0002",
            Ordering::Greater,
        ),
        // Names alone would say otherwise.
        (
            "2026-01-11T10:00:00.900Z",
            "msg-20260111-100000-ann-0001",
            "2026-01-11T10:00:00.100Z",
            "msg-20260111-100000-zoe-0001",
            Ordering::Greater,
        ),
        // Within a millisecond only the name counts.
        (
            "2026-01-11T10:00:00.000900Z",
            "msg-20260111-100000-ann-0001",
            "2026-01-11T10:00:00.000100Z",
            "msg-20260111-100000-ann-0002",
            Ordering::Less,
        ),
    ];
    for (left, left_name, right, right_name, expected) in cases {
        assert_eq!(
            order((at(left), left_name), (at(right), right_name)),
            expected,
            "{left_name} {right_name}"
        );
    }
    assert_eq!(order((second, "a"), (second, "a")), Ordering::Equal);
}

proptest! {
    #[test]
    fn what_is_made_can_be_read(micros in -62_167_219_200_000_000_i64..253_402_300_799_000_000, agent in any::<String>(), hex: u16) {
        let at = Timestamp::from_unix_micros(micros).unwrap();
        let made = FileName::make(at, &agent, hex);
        let stem = made.to_string();
        prop_assert_eq!(FileName::parse(&stem), Some(made.clone()));
        prop_assert_eq!(made.states_second_of(&at.to_string()), Some(true));
        prop_assert!(made.has_hex4());
    }

    #[test]
    fn any_name_is_read_or_refused(name in "(msg-)?[0-9]{7,9}-[0-9]{5,7}-[a-z/é-]{0,6}-?[0-9a-fA-F]{2,6}(.json|.tmp)?") {
        if let Some(parsed) = FileName::parse(&name) {
            prop_assert_eq!(parsed.to_string(), name.trim_end_matches(".json"));
        }
    }
}
