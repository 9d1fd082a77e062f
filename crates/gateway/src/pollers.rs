//! Agents that come by themselves: whoever looked or took a while ago counts as reachable by polling.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use broker::{AgentKey, SessionKey};

/// How long after its last visit an agent counts as coming by itself.
pub(crate) const IDLE: Duration = Duration::from_secs(10 * 60);

/// Who came when.
#[derive(Default)]
pub(crate) struct Pollers {
    seen: Mutex<HashMap<AgentKey, Visit>>,
}

struct Visit {
    at: Duration,
    session: Option<SessionKey>,
}

impl Pollers {
    /// Notes a visit, and tells whether it is the first for a while.
    pub(crate) fn visit(&self, agent: AgentKey, now: Duration) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let known = seen.get_mut(&agent).map(|visit| visit.at = now);
        if known.is_none() {
            seen.insert(agent, Visit { at: now, session: None });
        }
        known.is_none()
    }

    /// Notes under which number the broker knows that an agent comes by itself.
    pub(crate) fn name(&self, agent: AgentKey, session: SessionKey) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(visit) = seen.get_mut(&agent) {
            visit.session = Some(session);
        }
    }

    /// Forgets who has not come for a while.
    pub(crate) fn forget(&self, now: Duration) -> Vec<SessionKey> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_idle = |visit: &Visit| now.saturating_sub(visit.at) > IDLE;
        let gone = seen.values().filter(|visit| is_idle(visit)).filter_map(|visit| visit.session).collect();
        seen.retain(|_, visit| !is_idle(visit));
        gone
    }
}
