//! Queries about agents.

use message::{Dialect, PresenceState, Reachability, Seq};
use smol_str::SmolStr;

use crate::{AgentKey, AgentView, Breaker, Broker, Micros, Time};

/// How an agent said that it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presence {
    /// How it is.
    pub state: PresenceState,
    /// When it said so.
    pub at: Time,
    /// What else it said.
    pub detail: Box<[u8]>,
}

/// An agent in the registry: what changes only when somebody changes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisteredAgent {
    /// Its number.
    pub agent: AgentKey,
    /// Its name.
    pub name: SmolStr,
    /// The language that it speaks.
    pub dialect: Dialect,
    /// What the gateways keep of it.
    pub profile: Box<[u8]>,
    /// How it said that it is, and when.
    pub presence: Option<(PresenceState, Time)>,
    /// The roles, topics and channels in which it is.
    pub memberships: Vec<SmolStr>,
}

/// An agent as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentDetails {
    /// Its number.
    pub agent: AgentKey,
    /// Its name.
    pub name: SmolStr,
    /// Its other names.
    pub aliases: Vec<SmolStr>,
    /// The language that it speaks.
    pub dialect: Dialect,
    /// What the gateways keep of it.
    pub profile: Box<[u8]>,
    /// How it can be reached now.
    pub reachability: Reachability,
    /// How it said that it is.
    pub presence: Option<Presence>,
    /// How many messages wait for it.
    pub waiting: u64,
    /// The roles, topics and channels in which it is.
    pub memberships: Vec<SmolStr>,
    /// What it works on.
    pub work: WorkDetails,
    /// The bus's time when it was looked at.
    pub seen: Time,
}

/// What an agent works on, and what that costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkDetails {
    /// What it can do.
    pub capabilities: Vec<SmolStr>,
    /// How well it says that it works now, in millionths.
    pub quality: Option<u32>,
    /// From when on it takes work.
    pub from: Time,
    /// Whether it is given work.
    pub breaker: Breaker,
    /// What its work has cost.
    pub spent: Micros,
    /// What is set aside for its work.
    pub reserved: Micros,
    /// The tokens that it used.
    pub tokens: u64,
    /// The tasks that it has.
    pub holds: Vec<SmolStr>,
    /// The version of what the shared state says of it.
    pub version: u32,
    /// What the shared state says of it: a JSON object, or nothing.
    pub overlay: Box<[u8]>,
}

/// Agents in the order of their numbers, and after which of them the next page begins; nothing after the last page.
///
/// A page looks at `max` numbers. It has fewer agents where some of them are gone.
#[derive(Clone, Copy, Debug)]
pub struct AgentPage {
    /// After which agent the page begins.
    pub after: Option<AgentKey>,
    /// How many numbers are looked at.
    pub max: usize,
}

query!(AgentPage -> (Vec<AgentDetails>, Option<AgentKey>), "agent-page", |this, state, at| {
    state.page_of_agents(this.after, this.max, |view| details(state, view, at.now))
});

/// The same page of what the registry alone knows, for those who keep a copy of it.
#[derive(Clone, Copy, Debug)]
pub struct RegistryPage {
    /// After which agent the page begins.
    pub after: Option<AgentKey>,
    /// How many numbers are looked at.
    pub max: usize,
}

query!(RegistryPage -> (Vec<RegisteredAgent>, Option<AgentKey>), "registry-page", |this, state, _at| {
    state.page_of_registry(this.after, this.max)
});

/// One agent as others see it.
#[derive(Clone, Copy, Debug)]
pub struct FindAgent {
    /// The agent.
    pub agent: AgentKey,
}

query!(FindAgent -> Option<AgentDetails>, "agent", |this, state, at| {
    state.look_at(this.agent).map(|view| details(state, &view, at.now))
});

/// One agent by its name, also one that is gone.
#[derive(Clone, Debug)]
pub struct FindAgentKey {
    /// Its name or an alias.
    pub name: SmolStr,
}

query!(FindAgentKey -> Option<AgentKey>, "agent-key", |this, state, _at| state.agents.find(&this.name));

/// What the registry knows of an agent, and the event up to which that is true.
#[derive(Clone, Debug)]
pub struct FindRegistered {
    /// Its name or an alias.
    pub name: SmolStr,
}

query!(FindRegistered -> (Option<RegisteredAgent>, Seq), "registered-agent", |this, state, _at| {
    let agent = state.agent(&this.name).and_then(|agent| state.registered(agent));
    (agent, state.last())
});

impl Broker {
    /// Returns what is made of the agents on a page, and after which agent the next page begins.
    fn page_of<R>(
        &self,
        after: Option<AgentKey>,
        max: usize,
        make: impl Fn(AgentKey) -> Option<R>,
    ) -> (Vec<R>, Option<AgentKey>) {
        let first = after.map_or(0, |after| after.index() + 1);
        let end = first.saturating_add(max.max(1)).min(self.agents.len());
        let mut keys = (first..end).filter_map(|index| u32::try_from(index).ok()).map(AgentKey);
        let found = keys.clone().filter_map(make).collect();
        (found, keys.next_back().filter(|_| end < self.agents.len()))
    }

    pub(crate) fn page_of_agents<R>(
        &self,
        after: Option<AgentKey>,
        max: usize,
        make: impl Fn(&AgentView<'_>) -> R,
    ) -> (Vec<R>, Option<AgentKey>) {
        self.page_of(after, max, |agent| self.look_at(agent).map(|view| make(&view)))
    }

    fn page_of_registry(
        &self,
        after: Option<AgentKey>,
        max: usize,
    ) -> (Vec<RegisteredAgent>, Option<AgentKey>) {
        self.page_of(after, max, |agent| self.registered(agent))
    }

    fn registered(&self, key: AgentKey) -> Option<RegisteredAgent> {
        let agent = self.agent_at(key).ok()?;
        Some(RegisteredAgent {
            agent: key,
            name: SmolStr::new(&agent.name),
            dialect: agent.dialect,
            profile: agent.profile.clone(),
            presence: agent.presence.as_ref().map(|note| (note.state, note.at)),
            memberships: self.memberships(agent).map(SmolStr::new).collect(),
        })
    }
}

fn details(state: &Broker, view: &AgentView<'_>, now: Time) -> AgentDetails {
    let texts = |texts: &[&str]| texts.iter().map(SmolStr::new).collect();
    let work = state.agent_work(view.agent);
    AgentDetails {
        agent: view.agent,
        name: SmolStr::new(view.name),
        aliases: texts(&view.aliases),
        dialect: view.dialect,
        profile: view.profile.into(),
        reachability: view.reachability,
        presence: view.presence.map(|(state, at, detail)| Presence { state, at, detail: detail.into() }),
        waiting: view.waiting,
        memberships: texts(&view.memberships),
        work: WorkDetails {
            capabilities: texts(&work.capabilities),
            quality: work.quality,
            from: work.from,
            breaker: work.breaker,
            spent: work.spent,
            reserved: work.reserved,
            tokens: work.tokens,
            holds: texts(&work.holds),
            version: work.version,
            overlay: work.overlay.into(),
        },
        seen: now,
    }
}
