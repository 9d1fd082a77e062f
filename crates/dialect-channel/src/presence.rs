//! Presence: what the heartbeats of watchers, daemons and pollers say, in the words of the bus.

use std::time::Duration;

use json::{Object, Value};
use message::{PresenceState, Timestamp};

use crate::form::Form;

/// How old a heartbeat may be before nobody knows how its agent is.
pub const STALE_AFTER: Duration = Duration::from_secs(300);
/// How often a heartbeat is written anew.
pub const REFRESH_AFTER: Duration = Duration::from_secs(10);
/// How long a typing indicator counts if it does not say so.
pub const TYPING_TTL_MS: u64 = 3_000;

/// What a presence document says, whichever variant it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading<'v> {
    /// Whose presence it is.
    pub agent: &'v str,
    /// The channel that it watches.
    pub channel: Option<&'v str>,
    /// When it was written.
    pub timestamp: Option<&'v str>,
    /// How the agent is.
    pub state: PresenceState,
    /// The agent's own word for it.
    pub substate: Option<&'v str>,
    /// The process that watches.
    pub pid: Option<u32>,
    /// How long the document counts, where it says so.
    pub ttl_ms: Option<u64>,
}

/// Where a watcher is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Awake and waiting.
    Idle,
    /// Awake and working.
    Working,
    /// Gone.
    Offline,
}

/// What happens in the life of a watcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It starts.
    Started,
    /// It takes a message.
    Received,
    /// It has posted its answer.
    Posted,
    /// It could not answer; it is ready for the next message all the same.
    Failed,
    /// It stops.
    Stopped,
}

/// Reads a presence document; `None` if it is none, or has no agent or no state that is known.
pub fn read<'v>(document: &'v Object<'v>) -> Option<Reading<'v>> {
    let text = |key: &str| document.get(key).and_then(Value::as_str);
    let reading = |agent, channel, state, substate| Reading {
        agent,
        channel,
        timestamp: text("timestamp"),
        state,
        substate,
        pid: None,
        ttl_ms: None,
    };
    match Form::of(document) {
        Form::Message | Form::Registration => None,
        Form::Heartbeat => {
            let substate = text("substate");
            let state = state_of(text("state")?, substate)?;
            let pid = document.get("watcher_pid").and_then(Value::as_integer);
            let pid = pid.and_then(|pid| u32::try_from(pid).ok());
            Some(Reading { pid, ..reading(text("agent_id")?, text("channel"), state, substate) })
        }
        Form::Poller => {
            let status = text("status").filter(|status| *status == "active")?;
            Some(reading(text("agent")?, text("session"), PresenceState::Idle, Some(status)))
        }
        Form::Typing => {
            let ttl_ms = document.get("ttl_ms").and_then(Value::as_integer);
            let ttl_ms = ttl_ms.and_then(|ttl_ms| u64::try_from(ttl_ms).ok()).unwrap_or(TYPING_TTL_MS);
            let typing = reading(text("agent")?, text("session"), PresenceState::Busy, Some("typing"));
            Some(Reading { ttl_ms: Some(ttl_ms), ..typing })
        }
    }
}

/// Returns how an agent is that writes these words; `None` if the state is unknown.
///
/// Gone is written in three ways: `OFFLINE`, `AWAKE/OFFLINE` and `SLEEPING/SHUTDOWN`.
pub fn state_of(state: &str, substate: Option<&str>) -> Option<PresenceState> {
    match state {
        "OFFLINE" | "SLEEPING" => Some(PresenceState::Offline),
        "AWAKE" => Some(match substate {
            None | Some("IDLE" | "WAITING") => PresenceState::Idle,
            Some("OFFLINE" | "SHUTDOWN") => PresenceState::Offline,
            Some(_) => PresenceState::Busy,
        }),
        _ => None,
    }
}

/// Returns state and substate to write for an agent; its own word is taken where it does not contradict.
///
/// An agent with an error is awake and idle, as the specification has it; one in maintenance is not there.
pub fn words_of(state: PresenceState, own: Option<&str>) -> (&'static str, &str) {
    let (word, substate, written) = match state {
        PresenceState::Idle | PresenceState::Error => ("AWAKE", "IDLE", PresenceState::Idle),
        PresenceState::Busy => ("AWAKE", "WORKING", PresenceState::Busy),
        PresenceState::Offline | PresenceState::Maintenance => ("OFFLINE", "OFFLINE", PresenceState::Offline),
    };
    let fits = |own: &&str| !own.is_empty() && state_of(word, Some(own)) == Some(written);
    (word, own.filter(fits).unwrap_or(substate))
}

/// Tells whether a heartbeat is too old to count. One from the future is not.
pub fn is_stale(written: Timestamp, now: Timestamp) -> bool {
    now.duration_since(written).is_some_and(|age| age > STALE_AFTER)
}

/// Returns how an agent is now, by what it wrote then: without a fresh heartbeat it is not there.
pub fn state_now(stated: PresenceState, written: Timestamp, now: Timestamp) -> PresenceState {
    if is_stale(written, now) { PresenceState::Offline } else { stated }
}

impl Phase {
    /// Returns the phase after an event; what cannot happen in a phase changes nothing.
    pub fn after(self, event: Event) -> Phase {
        match (self, event) {
            (_, Event::Stopped) => Phase::Offline,
            (Phase::Offline, Event::Started) => Phase::Idle,
            (Phase::Idle, Event::Received) => Phase::Working,
            (Phase::Working, Event::Posted | Event::Failed) => Phase::Idle,
            (
                Phase::Idle | Phase::Working | Phase::Offline,
                Event::Started | Event::Received | Event::Posted | Event::Failed,
            ) => self,
        }
    }

    /// Returns state and substate as a heartbeat has them.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Phase::Idle => ("AWAKE", "IDLE"),
            Phase::Working => ("AWAKE", "WORKING"),
            Phase::Offline => ("OFFLINE", "OFFLINE"),
        }
    }
}
