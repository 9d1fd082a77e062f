//! An agent as the shared state shows it: what it said of itself, and whether it was heard of lately.

use broker::Time;
use broker::query::agents::AgentDetails;
use json::{Object, Value};
use message::{PresenceState, Reachability};

use super::object_of;

/// After how long an agent that has no connection and says nothing counts as offline.
const SILENCE_MS: u64 = 300_000;
/// When an agent was heard of that never was.
const NEVER: Time = Time(0);

/// Tells whether an agent is offline: it says so, or nothing was heard of it for long and it has no connection.
pub fn is_offline(agent: &AgentDetails) -> bool {
    match agent.presence.as_ref().map(|presence| (presence.state, presence.at)) {
        Some((PresenceState::Offline, _)) => true,
        _ if agent.reachability != Reachability::Nobody => false,
        Some((_, at)) => agent.seen.ms_since(at) > SILENCE_MS,
        None => true,
    }
}

/// Writes the `AgentStatus` of an agent: its own figures, and what was changed of it in the shared state.
pub(super) fn agent_status(agent: &AgentDetails) -> String {
    let presence = agent.presence.as_ref();
    let said = presence.map_or(PresenceState::Idle, |presence| presence.state);
    let heard = presence.map_or(NEVER, |presence| presence.at);
    let detail = presence.map(|presence| &*presence.detail).unwrap_or_default();
    let state = if is_offline(agent) { PresenceState::Offline } else { said };
    let mut status: Object<'static> = Object::new();
    status.insert("state", Value::from(state.name().to_ascii_uppercase()));
    status.insert("capability_level", Value::from(100_u64));
    status.insert("error_rate", Value::from(0_u64));
    status.insert("avg_response_time_ms", Value::from(0_u64));
    for (key, value) in object_of(detail).iter() {
        status.insert(key.to_owned(), value.clone());
    }
    for (key, value) in object_of(&agent.work.overlay).iter().filter(|(key, _)| *key != "state") {
        status.insert(key.to_owned(), value.clone());
    }
    let held = agent.work.holds.iter().map(|task| Value::from(task.to_string())).collect();
    status.insert("current_tasks", Value::Array(held));
    status.insert("last_heartbeat", Value::from(heard.timestamp().to_string()));
    Value::Object(status).to_json()
}
