//! Agents as those who work: what they can do, how good they are, from when on they take work.

use message::PresenceState;

use super::Fact;
use crate::broker::{Broker, Decided, Decision};
use crate::{AgentKey, Event, Refusal, Time};

/// Capabilities of one agent.
const CAPABILITIES_MAX: usize = 200;
/// Bytes of one.
const CAPABILITY_BYTES_MAX: usize = 128;

impl Broker {
    /// Notes what an agent can do.
    /// Refuses more than is noted of what one agent can do.
    pub(crate) fn check_capabilities(&self, capabilities: &[Box<str>]) -> Result<(), Refusal> {
        let (count, count_max) = (capabilities.len() as u64, CAPABILITIES_MAX as u64);
        if count > count_max {
            return Err(Refusal::TooMany { what: "capabilities", count, count_max });
        }
        match capabilities.iter().find(|text| text.len() > CAPABILITY_BYTES_MAX) {
            Some(long) => {
                let (bytes, bytes_max) = (long.len(), CAPABILITY_BYTES_MAX);
                Err(Refusal::TooLong { what: "capability", bytes, bytes_max })
            }
            None => Ok(()),
        }
    }

    /// Returns what an agent can do.
    pub(crate) fn capabilities_of(&self, agent: AgentKey) -> &[Box<str>] {
        self.work.worker(agent).map(|worker| worker.capabilities.as_slice()).unwrap_or_default()
    }

    pub(crate) fn equip<'a>(&self, agent: AgentKey, capabilities: &'a [Box<str>]) -> Decided<'a> {
        self.agent_at(agent)?;
        self.check_capabilities(capabilities)?;
        if self.capabilities_of(agent) == capabilities {
            return Ok(Decision::done(Vec::new()));
        }
        let fact = Fact::Equipped { agent, capabilities: capabilities.iter().map(|text| &**text).collect() };
        Ok(Decision::done(vec![Event::Work(fact)]))
    }

    /// Notes how good an agent is and from when on it takes work.
    pub(crate) fn fit<'a>(&self, agent: AgentKey, quality: Option<u32>, from: Time) -> Decided<'a> {
        self.agent_at(agent)?;
        if self.fitness(agent) == (quality, from) {
            return Ok(Decision::done(Vec::new()));
        }
        Ok(Decision::done(vec![Event::Work(Fact::Fitness { agent, quality, from })]))
    }

    /// Returns how good an agent says that it is, and from when on it takes work.
    pub(crate) fn fitness(&self, agent: AgentKey) -> (Option<u32>, Time) {
        self.work.worker(agent).map_or((None, Time(0)), |worker| (worker.quality, worker.from))
    }

    /// Returns how an agent says that it is.
    pub(super) fn presence_of(&self, agent: AgentKey) -> Option<PresenceState> {
        self.agents.get(agent)?.presence.as_ref().map(|note| note.state)
    }
}
