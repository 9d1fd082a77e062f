//! Presence: every variant that is written in the wild, both places, and who is no longer there.

use std::fs;

use dialect_channel::presence::Phase;
use message::PresenceState;

use super::{at, root};
use crate::{Heartbeat, Registered};

#[test]
fn all_variants_in_both_places_are_read_and_the_newest_counts() {
    let (_folder, root) = root();
    let (old, new) = (root.path().join("presence"), root.path().join("signals/presence"));
    fs::create_dir(&old).unwrap();
    let dead = std::process::Command::new("true").spawn().and_then(|mut child| {
        let pid = child.id();
        child.wait().map(|_| pid)
    });
    let (live, dead) = (std::process::id(), dead.unwrap());
    let time = "2026-01-11T12:00:00.000Z";
    let files = [
        (&new, "busy", format!(r#"{{"agent_id":"busy","timestamp":"{time}","state":"AWAKE","substate":"REVIEWING","watcher_pid":{live},"channel":"a"}}"#)),
        (&new, "left", format!(r#"{{"agent_id":"left","timestamp":"{time}","state":"AWAKE","substate":"OFFLINE","watcher_pid":{live},"channel":"a"}}"#)),
        (&new, "sleeps", format!(r#"{{"agent_id":"sleeps","state":"SLEEPING","substate":"SHUTDOWN","timestamp":"{time}","channel":"a","mode":"daemon","session_persistent":true}}"#)),
        (&old, "polls", format!(r#"{{"agent":"polls","session":"a","timestamp":"{time}","status":"active"}}"#)),
        (&new, "dead", format!(r#"{{"agent_id":"dead","timestamp":"{time}","state":"AWAKE","substate":"IDLE","watcher_pid":{dead},"channel":"a"}}"#)),
        (&new, "stale", r#"{"agent_id":"stale","timestamp":"2026-01-11T11:50:00.000Z","state":"AWAKE","substate":"IDLE","channel":"a"}"#.to_owned()),
        (&old, "both", format!(r#"{{"agent_id":"both","timestamp":"{time}","state":"AWAKE","substate":"IDLE","channel":"new"}}"#)),
        (&new, "both", r#"{"agent_id":"both","timestamp":"2026-01-11T11:59:00.000Z","state":"OFFLINE","channel":"old"}"#.to_owned()),
        (&new, "claude-1", format!(r#"{{"agent_id":"claude-1","timestamp":"{time}","state":"AWAKE","channel":"a"}}"#)),
        (&new, "broken", "{".to_owned()),
    ];
    for (folder, name, text) in &files {
        fs::write(folder.join(format!("{name}.json")), text).unwrap();
    }
    let seen = root.presences(at("2026-01-11T12:01:00Z")).unwrap();
    let shown: Vec<String> = seen
        .iter()
        .map(|seen| {
            let channel = seen.channel.as_deref().unwrap_or("-");
            format!(
                "{} {} {channel}{}",
                seen.agent,
                seen.state().name(),
                if seen.is_stale { " stale" } else { "" }
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            "both idle new",
            "busy busy a",
            "claude idle a",
            "dead offline a stale",
            "left offline a",
            "polls idle a",
            "sleeps offline a",
            "stale offline a stale",
        ]
    );
}

#[test]
fn a_watcher_writes_its_life() {
    let (_folder, root) = root();
    let now = at("2026-01-11T12:00:00Z");
    for (phase, state) in [
        (Phase::Idle, PresenceState::Idle),
        (Phase::Working, PresenceState::Busy),
        (Phase::Offline, PresenceState::Offline),
    ] {
        root.write_presence(&Heartbeat::of("codex", phase, "a", Some(std::process::id())), now).unwrap();
        let seen = root.presences(now).unwrap();
        assert_eq!((seen.len(), seen[0].state(), seen[0].at), (1, state, now));
    }
    let text = fs::read_to_string(root.path().join("signals/presence/codex.json")).unwrap();
    assert!(
        text.starts_with(r#"{"agent_id":"codex","timestamp":"2026-01-11T12:00:00.000Z","state":"OFFLINE""#),
        "{text}"
    );
    assert!(root.write_presence(&Heartbeat::of("../x", Phase::Idle, "a", None), now).is_err());
}

#[test]
fn the_registry_tells_roles() {
    let (_folder, root) = root();
    assert!(root.registry().unwrap().is_empty());
    let folder = root.path().join("registry/agents");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("qc-1.json"), r#"{"id":"qc-1","model":"m","provider":"p","role":"verifier"}"#)
        .unwrap();
    fs::write(folder.join("x.json"), "[]").unwrap();
    let expected = Registered {
        agent: "qc-1".to_owned(),
        role: Some("verifier".to_owned()),
        model: Some("m".to_owned()),
    };
    assert_eq!(root.registry().unwrap(), [expected]);
}
