//! How an agent is, between the health words of heartbeats with their number of tasks and the canonical states.

use message::PresenceState;

/// What agents write as their status, and the state that it means. `healthy` depends on the work at hand.
const STATES: [(&str, PresenceState); 15] = [
    ("degraded", PresenceState::Error),
    ("unhealthy", PresenceState::Error),
    ("error", PresenceState::Error),
    ("idle", PresenceState::Idle),
    ("available", PresenceState::Idle),
    ("ready", PresenceState::Idle),
    ("waiting", PresenceState::Idle),
    ("busy", PresenceState::Busy),
    ("working", PresenceState::Busy),
    ("active", PresenceState::Busy),
    ("offline", PresenceState::Offline),
    ("stopped", PresenceState::Offline),
    ("session_terminated", PresenceState::Offline),
    ("maintenance", PresenceState::Maintenance),
    ("paused", PresenceState::Maintenance),
];

/// Tells the state from the word of a status and the number of tasks at hand.
pub(crate) fn state(status: &str, active_tasks: Option<i64>) -> Option<PresenceState> {
    if status == "healthy" {
        let is_busy = active_tasks.is_some_and(|count| count > 0);
        return Some(if is_busy { PresenceState::Busy } else { PresenceState::Idle });
    }
    STATES.iter().find(|(word, _)| *word == status).map(|(_, state)| *state)
}

/// Returns the health word that is nearest to a state; the agent's own word wins where it is one.
pub(crate) fn health(state: PresenceState, own: Option<&str>) -> &'static str {
    match (state, own) {
        (PresenceState::Idle | PresenceState::Busy, _) => "healthy",
        (PresenceState::Error, Some("degraded")) | (PresenceState::Maintenance, _) => "degraded",
        (PresenceState::Error | PresenceState::Offline, _) => "unhealthy",
    }
}

/// Tells whether the word of a status says more than the state that it means.
pub(crate) fn is_finer(status: &str, state: PresenceState) -> bool {
    status != state.name() && status != health(state, None)
}

/// Returns the number of tasks that a state says, if it says one.
pub(crate) fn active_tasks(state: PresenceState, listed: usize) -> Option<u64> {
    match state {
        PresenceState::Idle => Some(0),
        PresenceState::Busy => Some(listed.max(1) as u64),
        PresenceState::Error | PresenceState::Offline | PresenceState::Maintenance => None,
    }
}
