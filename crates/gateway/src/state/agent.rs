//! An agent as the shared state shows it: what it said of itself, and whether it was heard of lately.

use broker::{AgentKey, AgentView, Time};
use json::{Object, Value};
use message::{PresenceState, Reachability};
use node::Turn;

use super::object_of;

/// After how long an agent that has no connection and says nothing counts as offline.
const SILENCE_MS: u64 = 300_000;
/// When an agent was heard of that never was.
const NEVER: Time = Time(0);

/// Tells whether an agent is offline: it says so, or nothing was heard of it for long and it has no connection.
pub fn is_offline(view: &AgentView<'_>, now: Time) -> bool {
    match view.presence {
        Some((PresenceState::Offline, _, _)) => true,
        _ if view.reachability != Reachability::Nobody => false,
        Some((_, at, _)) => now.ms_since(at) > SILENCE_MS,
        None => true,
    }
}

/// Writes the `AgentStatus` of an agent: its own figures, and what was changed of it in the shared state.
pub fn agent_status(turn: &Turn<'_>, agent: AgentKey) -> Option<String> {
    let broker = turn.broker();
    let view = broker.look_at(agent)?;
    let (said, heard, detail) = view.presence.unwrap_or((PresenceState::Idle, NEVER, b""));
    let state = if is_offline(&view, turn.now()) { PresenceState::Offline } else { said };
    let mut status: Object<'static> = Object::new();
    status.insert("state", Value::from(state.name().to_ascii_uppercase()));
    status.insert("capability_level", Value::from(100_u64));
    status.insert("error_rate", Value::from(0_u64));
    status.insert("avg_response_time_ms", Value::from(0_u64));
    for (key, value) in object_of(detail).iter() {
        status.insert(key.to_owned(), value.clone());
    }
    let work = broker.agent_work(agent);
    for (key, value) in object_of(work.overlay).iter().filter(|(key, _)| *key != "state") {
        status.insert(key.to_owned(), value.clone());
    }
    let held = work.holds.iter().map(|task| Value::from((*task).to_owned())).collect();
    status.insert("current_tasks", Value::Array(held));
    status.insert("last_heartbeat", Value::from(heard.timestamp().to_string()));
    Some(Value::Object(status).to_json())
}
