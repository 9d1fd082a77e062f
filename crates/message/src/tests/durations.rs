//! Durations: forms, exactness, canonical text.

use std::time::Duration;

use proptest::prelude::*;

use crate::{DurationError, WrittenDuration, format_duration, parse_duration};

#[test]
fn texts_have_their_length_and_their_canonical_form() {
    let cases = [
        ("300s", 300_000_000_000, "5m"),
        ("60s", 60_000_000_000, "1m"),
        ("61s", 61_000_000_000, "61s"),
        ("30m", 1_800_000_000_000, "30m"),
        ("500ms", 500_000_000, "500ms"),
        ("2h", 7_200_000_000_000, "2h"),
        ("1.5s", 1_500_000_000, "1500ms"),
        ("1d", 86_400_000_000_000, "1d"),
        ("36h", 129_600_000_000_000, "36h"),
        ("0ms", 0, "0s"),
        ("0.000s", 0, "0s"),
        ("007s", 7_000_000_000, "7s"),
        ("0.5ms", 500_000, "0.5ms"),
        ("0.000001ms", 1, "0.000001ms"),
        ("0.00000000005m", 3, "0.000003ms"),
        ("0.0000000000003125d", 27, "0.000027ms"),
        ("1.25d", 108_000_000_000_000, "30h"),
    ];
    for (text, nanos, canonical) in cases {
        let duration = parse_duration(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(duration, Duration::from_nanos(nanos), "{text}");
        assert_eq!(format_duration(duration), canonical, "{text}");
    }
}

#[test]
fn what_is_no_duration_is_refused_for_the_right_reason() {
    let cases = [
        ("", "Number"),
        ("s", "Number"),
        ("1.s", "Number"),
        ("1.", "Number"),
        (".5s", "Number"),
        ("-1s", "Number"),
        ("+1s", "Number"),
        (" 1s", "Number"),
        ("１s", "Number"),
        ("300", r#"NoUnit { number: "300" }"#),
        ("1.5", r#"NoUnit { number: "1.5" }"#),
        ("5 minutes", r#"Unit { unit: " minutes" }"#),
        ("1s ", r#"Unit { unit: "s " }"#),
        ("1S", r#"Unit { unit: "S" }"#),
        ("1us", r#"Unit { unit: "us" }"#),
        ("1w", r#"Unit { unit: "w" }"#),
        ("1e3s", r#"Unit { unit: "e3s" }"#),
        ("1h30m", r#"Unit { unit: "h30m" }"#),
        ("1.5.5s", r#"Unit { unit: ".5s" }"#),
        ("18446744073709551616s", "TooLarge"),
        ("999999999999999999999999999999999999999s", "TooLarge"),
        ("9999999999999999999999999999999999999999s", "TooLarge"),
        ("0.0000000001s", "TooFine"),
        ("0.0000001ms", "TooFine"),
        ("0.00000000000000001d", "TooFine"),
    ];
    for (text, expected) in cases {
        let error = parse_duration(text).expect_err(text);
        assert_eq!(format!("{error:?}"), expected, "{text}");
    }
    let hint = parse_duration("300").unwrap_err().to_string();
    assert_eq!(hint, "a duration needs its unit: write `300s` for seconds, or ms, m, h, d");
}

#[test]
fn the_limits_hold() {
    let longest = format!("{}1s", "0".repeat(62));
    assert_eq!(parse_duration(&longest), Ok(Duration::from_secs(1)));
    let error = parse_duration(&format!("0{longest}")).unwrap_err();
    assert_eq!(error, DurationError::TooLong { bytes: 65, bytes_max: 64 });
    assert_eq!(parse_duration("18446744073709551615s"), Ok(Duration::from_secs(u64::MAX)));
    assert_eq!(parse_duration(&format_duration(Duration::MAX)), Ok(Duration::MAX));
}

#[test]
fn what_was_written_is_kept() {
    let written: WrittenDuration = "300s".parse().unwrap();
    assert_eq!((written.text(), written.duration()), ("300s", Duration::from_secs(300)));
    assert_eq!(WrittenDuration::from(Duration::from_secs(300)).text(), "5m");
}

proptest! {
    #[test]
    fn durations_survive(seconds: u64, nanos in 0..1_000_000_000_u32, whole: bool) {
        let duration = Duration::new(seconds, if whole { 0 } else { nanos });
        prop_assert_eq!(parse_duration(&format_duration(duration)), Ok(duration));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[0-9]{0,25}\\.?[0-9]{0,20}(ms|s|m|h|d)?|.*") {
        if let Ok(duration) = parse_duration(&text) {
            prop_assert_eq!(parse_duration(&format_duration(duration)), Ok(duration));
        }
    }
}
