//! Presence: the variants in one vocabulary, staleness, and the life of a watcher.

use message::{PresenceState, Timestamp};

use super::good;
use crate::presence::{Event, Phase, is_stale, read, state_now, state_of, words_of};

#[test]
fn variants_say_the_same_in_one_vocabulary() {
    let cases = [
        ("heartbeat", "codex", PresenceState::Idle, "IDLE", Some(12_345), None),
        ("heartbeat-working", "qc-1", PresenceState::Busy, "REVIEWING", Some(1), None),
        ("heartbeat-stopped", "codex", PresenceState::Offline, "OFFLINE", Some(12_345), None),
        ("heartbeat-offline", "codex", PresenceState::Offline, "", None, None),
        ("heartbeat-daemon", "gemini", PresenceState::Busy, "WORKING", None, None),
        ("heartbeat-daemon-stopped", "gemini", PresenceState::Offline, "SHUTDOWN", None, None),
        ("heartbeat-poller", "claude", PresenceState::Idle, "active", None, None),
        ("typing", "claude", PresenceState::Busy, "typing", None, Some(3_000)),
    ];
    for (name, agent, state, substate, pid, ttl_ms) in cases {
        let document = good(name);
        let reading = read(document.as_object().unwrap()).unwrap();
        assert_eq!((reading.agent, reading.channel), (agent, Some("agent-os-paper")), "{name}");
        assert_eq!((reading.state, reading.substate.unwrap_or_default()), (state, substate), "{name}");
        assert_eq!((reading.pid, reading.ttl_ms), (pid, ttl_ms), "{name}");
        assert!(reading.timestamp.is_some(), "{name}");
    }
    assert_eq!(read(good("message").as_object().unwrap()), None);
    assert_eq!(read(good("registration").as_object().unwrap()), None);
}

#[test]
fn words_that_are_written_are_read_as_the_same_state() {
    for state in PresenceState::ALL.iter().copied() {
        for own in [None, Some("IDLE"), Some("WORKING"), Some("REVIEWING"), Some("OFFLINE"), Some("")] {
            let (word, substate) = words_of(state, own);
            let expected = match state {
                PresenceState::Idle | PresenceState::Error => PresenceState::Idle,
                PresenceState::Busy => PresenceState::Busy,
                PresenceState::Offline | PresenceState::Maintenance => PresenceState::Offline,
            };
            assert_eq!(state_of(word, Some(substate)), Some(expected), "{state} {own:?}");
        }
    }
    assert_eq!(words_of(PresenceState::Busy, Some("REVIEWING")), ("AWAKE", "REVIEWING"));
    assert_eq!(words_of(PresenceState::Busy, Some("IDLE")), ("AWAKE", "WORKING"));
    assert_eq!(state_of("DREAMING", None), None);
    assert_eq!(state_of("AWAKE", None), Some(PresenceState::Idle));
}

#[test]
fn a_heartbeat_is_stale_after_300_seconds_and_not_before() {
    let at = |text: &str| text.parse::<Timestamp>().unwrap();
    let written = at("2026-01-11T16:30:00.000Z");
    let cases = [
        ("2026-01-11T16:30:00.000Z", false),
        ("2026-01-11T16:35:00.000Z", false),
        ("2026-01-11T16:35:00.001Z", true),
        ("2026-01-11T16:29:00.000Z", false),
    ];
    for (now, stale) in cases {
        assert_eq!(is_stale(written, at(now)), stale, "{now}");
        let expected = if stale { PresenceState::Offline } else { PresenceState::Busy };
        assert_eq!(state_now(PresenceState::Busy, written, at(now)), expected, "{now}");
    }
}

#[test]
fn the_life_of_a_watcher() {
    let mut phase = Phase::Offline;
    let life = [
        (Event::Started, ("AWAKE", "IDLE")),
        (Event::Received, ("AWAKE", "WORKING")),
        (Event::Received, ("AWAKE", "WORKING")),
        (Event::Posted, ("AWAKE", "IDLE")),
        (Event::Posted, ("AWAKE", "IDLE")),
        (Event::Received, ("AWAKE", "WORKING")),
        (Event::Failed, ("AWAKE", "IDLE")),
        (Event::Stopped, ("OFFLINE", "OFFLINE")),
        (Event::Received, ("OFFLINE", "OFFLINE")),
    ];
    for (event, words) in life {
        phase = phase.after(event);
        assert_eq!(phase.words(), words, "after {event:?}");
    }
    for awake in [Phase::Idle, Phase::Working] {
        assert_eq!(awake.after(Event::Stopped), Phase::Offline);
    }
}
