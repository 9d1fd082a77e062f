//! Presence: the small files by which agents say that they are there, whichever variant they write.

use dialect_channel::addressing::base_id;
use dialect_channel::presence::{self, Phase};
use json::{Object, Value};
use message::{PresenceState, Timestamp};
use rustix::process::{Pid, test_kill_process};

use crate::draft::written;
use crate::folder::Folder;
use crate::root::check_file_part;
use crate::{Root, RootError};

/// Bytes of a presence file.
const FILE_BYTES_MAX: u64 = 64 << 10;
/// Presence files that are read.
const FILES_MAX: usize = 10_000;

/// What is known of an agent's presence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The agent, by the id that is in use.
    pub agent: String,
    /// How it was when it wrote that.
    pub stated: PresenceState,
    /// Its own word for it.
    pub substate: Option<String>,
    /// The channel that it watches.
    pub channel: Option<String>,
    /// The process that watches.
    pub pid: Option<u32>,
    /// When it wrote that.
    pub at: Timestamp,
    /// Whether that is too old to count, or the process that wrote it is gone.
    pub is_stale: bool,
}

/// How an agent is, to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// The agent.
    pub agent: String,
    /// The word of `state`: `AWAKE` or `OFFLINE`.
    pub state: String,
    /// The word of `substate`: `IDLE`, `WORKING`, …
    pub substate: String,
    /// The process that watches.
    pub pid: Option<u32>,
    /// The channel that it watches.
    pub channel: String,
}

impl Seen {
    /// Returns how the agent is now: without a fresh sign of life it is not there.
    pub fn state(&self) -> PresenceState {
        if self.is_stale { PresenceState::Offline } else { self.stated }
    }
}

impl Heartbeat {
    /// Says where a watcher is in its life.
    pub fn of(agent: &str, phase: Phase, channel: &str, pid: Option<u32>) -> Self {
        let (state, substate) = phase.words();
        Heartbeat {
            agent: agent.to_owned(),
            state: state.to_owned(),
            substate: substate.to_owned(),
            pid,
            channel: channel.to_owned(),
        }
    }

    /// Says how an agent of the bus is.
    pub fn stating(agent: &str, state: PresenceState, substate: Option<&str>, channel: &str) -> Self {
        let (state, substate) = presence::words_of(state, substate);
        Heartbeat {
            agent: agent.to_owned(),
            state: state.to_owned(),
            substate: substate.to_owned(),
            pid: None,
            channel: channel.to_owned(),
        }
    }

    fn document(&self, agent: &str, now: Timestamp) -> String {
        let text = |text: &str| Value::from(text.to_owned());
        let mut document: Object<'static> = Object::new();
        document.insert("agent_id", text(agent));
        document.insert("timestamp", Value::from(written(now)));
        document.insert("state", text(&self.state));
        document.insert("substate", text(&self.substate));
        if let Some(pid) = self.pid {
            document.insert("watcher_pid", Value::from(u64::from(pid)));
        }
        document.insert("channel", text(&self.channel));
        Value::Object(document).to_json()
    }
}

impl Root {
    /// Returns who has said that it is there or gone, by name. Each agent counts once, by what it wrote last.
    pub fn presences(&self, now: Timestamp) -> Result<Vec<Seen>, RootError> {
        let mut seen: Vec<Seen> = Vec::new();
        let signals = self.folders().root.child("signals")?;
        let new = signals.map(|signals| signals.child("presence")).transpose()?.flatten();
        let old = self.folders().root.child("presence")?;
        for folder in [new, old].into_iter().flatten() {
            read_all(&folder, now, &mut seen)?;
        }
        // The newest of each agent comes first and stays.
        seen.sort_by(|left, right| left.agent.cmp(&right.agent).then(right.at.cmp(&left.at)));
        seen.dedup_by(|later, first| later.agent == first.agent);
        Ok(seen)
    }

    /// Writes how an agent is, in place of what it wrote before.
    pub fn write_presence(&self, heartbeat: &Heartbeat, now: Timestamp) -> Result<(), RootError> {
        let agent = base_id(&heartbeat.agent);
        check_file_part("agent", agent)?;
        let folder = self.folders().root.make("signals")?.make("presence")?;
        folder.replace(&format!("{agent}.json"), heartbeat.document(agent, now).as_bytes())
    }
}

fn read_all(folder: &Folder, now: Timestamp, seen: &mut Vec<Seen>) -> Result<(), RootError> {
    for name in json_files(folder, FILES_MAX)? {
        // Who cannot be read says nothing; presence is no message that could be missed.
        let Ok(Some(bytes)) = folder.read(&name, FILE_BYTES_MAX) else { continue };
        seen.extend(read(&bytes, now));
    }
    Ok(())
}

/// Lists the files of a folder that hold JSON, at most so many.
pub(crate) fn json_files(folder: &Folder, count_max: usize) -> Result<Vec<String>, RootError> {
    let mut names = Vec::new();
    folder.each(|name, _| {
        if let Ok(name) = name.to_str()
            && name.ends_with(".json")
            && !name.starts_with('.')
            && names.len() < count_max
        {
            names.push(name.to_owned());
        }
    })?;
    names.sort_unstable();
    Ok(names)
}

fn read(bytes: &[u8], now: Timestamp) -> Option<Seen> {
    let document = json::parse(bytes, json::Limits::DOCUMENT).ok()?;
    let reading = presence::read(document.as_object()?)?;
    let at: Timestamp = reading.timestamp?.parse().ok()?;
    let is_dead = reading.pid.is_some_and(|pid| !is_alive(pid));
    Some(Seen {
        agent: base_id(reading.agent).to_owned(),
        stated: reading.state,
        substate: reading.substate.map(str::to_owned),
        channel: reading.channel.map(str::to_owned),
        pid: reading.pid,
        at,
        is_stale: presence::is_stale(at, now) || is_dead,
    })
}

/// Tells whether a process of this machine lives. One that we may not signal does.
fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| !matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH)))
}
