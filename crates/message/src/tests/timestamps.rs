//! Timestamps: forms, edges of the range, arithmetic.

use std::time::Duration;

use proptest::prelude::*;

use crate::{Timestamp, TimestampError, WrittenTimestamp};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refusal(text: &str) -> TimestampError {
    text.parse::<Timestamp>().expect_err(text)
}

#[test]
fn texts_have_their_instant_and_their_canonical_form() {
    let cases = [
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
        ("2026-11-15t10:00:00z", "2026-11-15T10:00:00Z"),
        ("2026-11-15T10:00:00+00:00", "2026-11-15T10:00:00Z"),
        ("2026-11-15T10:00:00-00:00", "2026-11-15T10:00:00Z"),
        ("2026-11-15T10:00:00+02:30", "2026-11-15T07:30:00Z"),
        ("2026-11-15T22:00:00-23:59", "2026-11-16T21:59:00Z"),
        ("2026-11-15T10:00:00.5Z", "2026-11-15T10:00:00.500Z"),
        ("2026-11-15T10:00:00.000Z", "2026-11-15T10:00:00Z"),
        ("2026-11-15T10:00:00.1234Z", "2026-11-15T10:00:00.123400Z"),
        ("2026-11-15T10:00:00.000000001Z", "2026-11-15T10:00:00.000000001Z"),
        ("2026-11-15T10:00:00.1234567899999Z", "2026-11-15T10:00:00.123456789Z"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
        ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"),
        ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
        ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"),
        ("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z"),
    ];
    for (text, canonical) in cases {
        assert_eq!(at(text).to_string(), canonical, "{text}");
        assert_eq!(at(canonical), at(text));
    }
    assert_eq!(at("0000-01-01T00:00:00Z"), Timestamp::MIN);
    assert_eq!(at("9999-12-31T23:59:59.999999999Z"), Timestamp::MAX);
}

#[test]
fn what_is_no_timestamp_is_refused_for_the_right_reason() {
    let format = [
        "",
        "now",
        "2026-11-15",
        "2026-11-15 10:00:00Z",
        "2026-11-15T10:00Z",
        "2026-11-15T10:00:00,5Z",
        "2026-11-15T10:00:00.Z",
        "2026-11-15T10:00:00ZZ",
        "2026-11-15T10:00:00+02",
        "2026-11-15T10:00:00+0200",
        "2026-11-15T10:00:00 Z",
        "+2026-11-15T10:00:00Z",
        "-001-11-15T10:00:00Z",
        "12026-11-15T10:00:00Z",
        "2026-1-15T10:00:00Z",
        "20261115T100000Z",
        "2026-11-15T10:00:00Z[UTC]",
        "2026-11-15T10:00:00é",
        "２０２６-11-15T10:00:00Z",
    ];
    for text in format {
        assert_eq!(refusal(text), TimestampError::Format, "{text}");
    }
    let calendar = [
        "2026-00-15T10:00:00Z",
        "2026-13-15T10:00:00Z",
        "2026-02-29T10:00:00Z",
        "2026-11-00T10:00:00Z",
        "2026-11-31T10:00:00Z",
        "2026-11-15T24:00:00Z",
        "2026-11-15T10:60:00Z",
        "2026-11-15T10:00:61Z",
        "2026-11-15T10:00:00+24:00",
        "2026-11-15T10:00:00+02:60",
    ];
    for text in calendar {
        assert_eq!(refusal(text), TimestampError::Calendar, "{text}");
    }
    assert_eq!(refusal("2026-11-15T10:00:00"), TimestampError::NoOffset);
    assert_eq!(refusal("2026-11-15T10:00:00.123"), TimestampError::NoOffset);
    assert_eq!(refusal("0000-01-01T00:00:00+00:01"), TimestampError::Range);
    assert_eq!(refusal("9999-12-31T23:59:59-00:01"), TimestampError::Range);
    let long = format!("2026-11-15T10:00:00.{}Z", "0".repeat(44));
    assert_eq!(refusal(&long), TimestampError::TooLong { bytes: 65, bytes_max: 64 });
}

#[test]
fn micros_outside_of_the_range_are_refused() {
    let (first, last) = (Timestamp::MIN.unix_micros(), Timestamp::MAX.unix_micros());
    assert_eq!(Timestamp::from_unix_micros(first).unwrap(), Timestamp::MIN);
    assert_eq!(Timestamp::from_unix_micros(last).unwrap().to_string(), "9999-12-31T23:59:59.999999Z");
    for micros in [first - 1, last + 1, i64::MIN, i64::MAX] {
        assert_eq!(Timestamp::from_unix_micros(micros), Err(TimestampError::Range));
    }
}

#[test]
fn arithmetic_carries_borrows_and_ends() {
    let noon = at("2026-11-15T12:00:00.5Z");
    let later = noon.checked_add(Duration::from_millis(700)).unwrap();
    assert_eq!(later, at("2026-11-15T12:00:01.2Z"));
    assert_eq!(later.checked_sub(Duration::from_millis(700)).unwrap(), noon);
    assert_eq!(later.duration_since(noon), Some(Duration::from_millis(700)));
    assert_eq!(noon.duration_since(later), None);
    assert_eq!(noon.duration_since(noon), Some(Duration::ZERO));
    assert_eq!(Timestamp::MAX.checked_add(Duration::from_nanos(1)), None);
    assert_eq!(Timestamp::MIN.checked_sub(Duration::from_nanos(1)), None);
    assert_eq!(noon.checked_add(Duration::MAX), None);
    assert_eq!(noon.checked_sub(Duration::MAX), None);
}

#[test]
fn what_was_written_is_kept() {
    let written: WrittenTimestamp = "2026-11-15t12:00:00.50+02:00".parse().unwrap();
    assert_eq!(written.text(), "2026-11-15t12:00:00.50+02:00");
    assert_eq!(written.at(), at("2026-11-15T10:00:00.5Z"));
    assert_eq!(WrittenTimestamp::from(written.at()).text(), "2026-11-15T10:00:00.500Z");
}

proptest! {
    #[test]
    fn micros_survive(micros in Timestamp::MIN.unix_micros()..=Timestamp::MAX.unix_micros()) {
        let instant = Timestamp::from_unix_micros(micros).unwrap();
        prop_assert_eq!(instant.unix_micros(), micros);
        prop_assert_eq!(instant.to_string().parse::<Timestamp>().unwrap(), instant);
    }

    #[test]
    fn differences_add_up(
        first in Timestamp::MIN.unix_micros()..=Timestamp::MAX.unix_micros(),
        second in Timestamp::MIN.unix_micros()..=Timestamp::MAX.unix_micros(),
    ) {
        let early = Timestamp::from_unix_micros(first.min(second)).unwrap();
        let late = Timestamp::from_unix_micros(first.max(second)).unwrap();
        let between = late.duration_since(early).unwrap();
        prop_assert_eq!(between.as_micros(), u128::from(first.abs_diff(second)));
        prop_assert_eq!(early.checked_add(between), Some(late));
        prop_assert_eq!(late.checked_sub(between), Some(early));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9:.]{5,12}[Zz+-]?[0-9:]{0,5}|.*") {
        if let Ok(instant) = text.parse::<Timestamp>() {
            prop_assert_eq!(instant.to_string().parse::<Timestamp>().unwrap(), instant);
        }
    }
}
