//! The registry: which agents there are, by what names they go, and how they are.
//!
//! A name belongs to its agent for ever: an agent that comes back after it was removed has the number that it had,
//! so that nothing that was said before is put into another's mouth.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

use message::{Dialect, PresenceState};

use crate::broker::{Applied, Broker, Decided, Decision};
use crate::effect::Effects;
use crate::entry::{End, State};
use crate::mailbox::{Mailbox, Queue};
use crate::{AgentKey, EntryKey, Event, GroupKey, Misfit, Refusal, Register, Reply, SessionKey, Sign, Time};

/// Agents that every bus has.
const RESERVED: u64 = 3;
/// How many names are remembered for each agent that there may be.
const NAMES_PER_AGENT: u64 = 10;

#[derive(Default)]
pub(crate) struct Agents {
    agents: Vec<Agent>,
    /// Names and aliases. Only looked up, never gone through, so its order does not matter.
    names: HashMap<Box<str>, AgentKey, BuildHasherDefault<DefaultHasher>>,
    /// How many are not gone.
    pub(crate) present: u64,
}

pub(crate) struct Agent {
    pub(crate) name: Box<str>,
    pub(crate) aliases: Vec<Box<str>>,
    pub(crate) dialect: Dialect,
    pub(crate) profile: Box<[u8]>,
    pub(crate) is_gone: bool,
    pub(crate) presence: Option<Box<PresenceNote>>,
    pub(crate) queue: Queue,
    pub(crate) groups: Vec<GroupKey>,
    pub(crate) sessions: Vec<SessionKey>,
    /// How many messages it was handed, of which every eighth is the oldest.
    pub(crate) picked: u32,
}

pub(crate) struct PresenceNote {
    pub(crate) state: PresenceState,
    pub(crate) at: Time,
    pub(crate) detail: Box<[u8]>,
}

impl Agents {
    /// Makes the registry that every bus starts with: the operator, the bus itself and the runner.
    pub(crate) fn reserved() -> Self {
        let mut agents = Agents::default();
        for name in ["human", "system", "runner"] {
            agents.add(Agent::new(name));
        }
        agents
    }

    pub(crate) fn add(&mut self, agent: Agent) -> AgentKey {
        let key = AgentKey(u32::try_from(self.agents.len()).unwrap_or(u32::MAX));
        self.names.insert(agent.name.clone(), key);
        for alias in &agent.aliases {
            self.names.insert(alias.clone(), key);
        }
        self.present += u64::from(!agent.is_gone);
        self.agents.push(agent);
        key
    }

    pub(crate) fn get(&self, key: AgentKey) -> Option<&Agent> {
        self.agents.get(key.index())
    }

    pub(crate) fn get_mut(&mut self, key: AgentKey) -> Option<&mut Agent> {
        self.agents.get_mut(key.index())
    }

    /// Finds an agent by name or alias, also one that is gone.
    pub(crate) fn find(&self, name: &str) -> Option<AgentKey> {
        self.names.get(name).copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (AgentKey, &Agent)> {
        (0..).map(AgentKey).zip(&self.agents)
    }

    pub(crate) fn len(&self) -> usize {
        self.agents.len()
    }

    fn rename(&mut self, key: AgentKey, aliases: Vec<Box<str>>) {
        let Some(agent) = self.agents.get_mut(key.index()) else { return };
        for alias in std::mem::take(&mut agent.aliases) {
            self.names.remove(&alias);
        }
        for alias in &aliases {
            self.names.insert(alias.clone(), key);
        }
        agent.aliases = aliases;
    }
}

impl Agent {
    pub(crate) fn new(name: &str) -> Self {
        Agent {
            name: name.into(),
            aliases: Vec::new(),
            dialect: Dialect::Convoke,
            profile: Box::default(),
            is_gone: false,
            presence: None,
            queue: Queue::default(),
            groups: Vec::new(),
            sessions: Vec::new(),
            picked: 0,
        }
    }
}

impl Broker {
    /// Returns an agent that is there.
    pub(crate) fn agent_at(&self, agent: AgentKey) -> Result<&Agent, Refusal> {
        self.agents.get(agent).filter(|agent| !agent.is_gone).ok_or(Refusal::UnknownAgent)
    }

    pub(crate) fn name_of(&self, agent: AgentKey) -> &str {
        self.agents.get(agent).map_or("?", |agent| &agent.name)
    }

    /// Finds an agent that is there, by name or alias.
    pub fn agent(&self, name: &str) -> Option<AgentKey> {
        self.agents.find(name).filter(|agent| self.agent_at(*agent).is_ok())
    }

    pub(crate) fn register<'a>(&self, register: &'a Register) -> Decided<'a> {
        let limits = &self.settings.limits;
        let Register { name, aliases, dialect, profile, .. } = register;
        let known = self.agents.find(name.as_str());
        if name.is_reserved() {
            return Err(Refusal::NameReserved { name: name.to_string() });
        }
        if let Some(owner) = known.filter(|owner| self.name_of(*owner) != name.as_str()) {
            return Err(self.taken(name.as_str(), owner));
        }
        if aliases.len() as u64 > limits.aliases_max {
            let (count, count_max) = (aliases.len() as u64, limits.aliases_max);
            return Err(Refusal::TooMany { what: "aliases", count, count_max });
        }
        let mut distinct: Vec<&'a str> = Vec::with_capacity(aliases.len());
        for alias in aliases.iter().map(|alias| &**alias).filter(|alias| *alias != name.as_str()) {
            self.check_text("alias", alias)?;
            match self.agents.find(alias) {
                Some(owner) if Some(owner) != known => return Err(self.taken(alias, owner)),
                Some(_) | None if !distinct.contains(&alias) => distinct.push(alias),
                Some(_) | None => {}
            }
        }
        if profile.len() as u64 > limits.body_bytes_max {
            let (bytes, bytes_max) = (profile.len() as u64, limits.body_bytes_max);
            return Err(Refusal::TooLarge { bytes, bytes_max });
        }
        let is_new = known.is_none_or(|agent| self.agent_at(agent).is_err());
        let (count, count_max) = (self.agents.present.saturating_sub(RESERVED), limits.agents_max);
        if is_new && count >= count_max {
            return Err(Refusal::TooMany { what: "agents", count, count_max });
        }
        let (count, count_max) =
            (self.agents.len() as u64, limits.agents_max.saturating_mul(NAMES_PER_AGENT));
        if known.is_none() && count >= count_max {
            return Err(Refusal::TooMany {
                what: "names of agents, those that are gone included",
                count,
                count_max,
            });
        }
        let agent = known.unwrap_or(AgentKey(u32::try_from(count).unwrap_or(u32::MAX)));
        let name = name.as_str();
        let event = Event::AgentSet { agent, name, aliases: distinct, dialect: *dialect, profile };
        Ok(Decision { events: vec![event], reply: Reply::Agent(agent) })
    }

    pub(crate) fn remove<'a>(&self, agent: AgentKey) -> Decided<'a> {
        let known = self.agent_at(agent)?;
        if agent <= AgentKey::RUNNER {
            return Err(Refusal::NameReserved { name: known.name.to_string() });
        }
        Ok(Decision::done(vec![Event::AgentRemoved { agent }]))
    }

    pub(crate) fn set_presence<'a>(
        &self,
        agent: AgentKey,
        state: PresenceState,
        detail: &'a [u8],
    ) -> Decided<'a> {
        self.agent_at(agent)?;
        let (bytes, bytes_max) = (detail.len() as u64, self.settings.limits.body_bytes_max);
        if bytes > bytes_max {
            return Err(Refusal::TooLarge { bytes, bytes_max });
        }
        Ok(Decision::done(vec![Event::PresenceSet { agent, state, detail: detail.into() }]))
    }

    /// Notes what an agent says of itself, and keeps of what it said before whatever it does not say now.
    pub(crate) fn sign<'a>(&self, agent: AgentKey, sign: &'a Sign) -> Decided<'a> {
        let known = self.agent_at(agent)?.presence.as_ref();
        let Sign { state, detail, quality, from } = sign;
        let mut decision = match detail {
            Some(detail) => self.set_presence(agent, *state, detail)?,
            None => {
                let detail = known.map(|note| note.detail.to_vec()).unwrap_or_default().into();
                Decision::done(vec![Event::PresenceSet { agent, state: *state, detail }])
            }
        };
        let known = self.fitness(agent);
        #[cfg(feature = "plants")]
        let known = if self.has_plant(crate::plant::Plant::ForgetFitness) { (None, Time(0)) } else { known };
        let fitted = self.fit(agent, quality.or(known.0), from.unwrap_or(known.1))?;
        decision.events.extend(fitted.events);
        Ok(decision)
    }

    pub(crate) fn check_text(&self, what: &'static str, text: &str) -> Result<(), Refusal> {
        let (bytes, bytes_max) = (text.len(), self.settings.limits.text_bytes_max);
        if bytes > bytes_max { Err(Refusal::TooLong { what, bytes, bytes_max }) } else { Ok(()) }
    }

    fn taken(&self, name: &str, owner: AgentKey) -> Refusal {
        Refusal::NameTaken { name: name.to_owned(), agent: self.name_of(owner).to_owned() }
    }

    pub(crate) fn agent_set(
        &mut self,
        agent: AgentKey,
        name: &str,
        aliases: &[&str],
        dialect: Dialect,
        profile: &[u8],
        effects: &mut Effects,
    ) -> Applied {
        let seq = self.last;
        if agent.index() == self.agents.len() && self.agents.find(name).is_none() {
            self.agents.add(Agent { is_gone: true, ..Agent::new(name) });
        }
        let known = self.agents.get_mut(agent).ok_or(Misfit::Missing { seq, what: "an agent" })?;
        if &*known.name != name {
            return Err(Misfit::Taken { seq, what: "an agent" });
        }
        let others = aliases.iter().filter_map(|alias| self.agents.find(alias));
        let is_repeated = |(place, alias): (usize, &&str)| aliases[..place].contains(alias) || *alias == name;
        if others.into_iter().any(|owner| owner != agent) || aliases.iter().enumerate().any(is_repeated) {
            return Err(Misfit::Taken { seq, what: "an alias" });
        }
        let known = self.agents.get_mut(agent).ok_or(Misfit::Missing { seq, what: "an agent" })?;
        known.dialect = dialect;
        known.profile = profile.into();
        let comes = std::mem::replace(&mut known.is_gone, false);
        self.agents.present += u64::from(comes);
        self.agents.rename(agent, aliases.iter().map(|alias| (*alias).into()).collect());
        if comes {
            self.joined(agent, GroupKey::ALL, effects)?;
            // What waited when it went waits again.
            let orphans: Vec<EntryKey> = self.orphans.iter().copied().collect();
            for entry in orphans {
                if self.entry(entry).is_some_and(|entry| entry.mailbox == Mailbox::Agent(agent)) {
                    self.orphans.remove(&entry);
                }
            }
        }
        self.release_held(agent, effects);
        Ok(())
    }

    pub(crate) fn agent_removed(&mut self, agent: AgentKey, effects: &mut Effects) -> Applied {
        let seq = self.last;
        let known = self.agents.get_mut(agent).ok_or(Misfit::Missing { seq, what: "an agent" })?;
        if known.is_gone {
            return Err(Misfit::State { seq, what: "an agent" });
        }
        let sessions = known.sessions.clone();
        let groups = known.groups.clone();
        for session in sessions {
            self.session_closed(session, effects)?;
        }
        for group in groups {
            self.left(agent, group, effects)?;
        }
        self.agents.rename(agent, Vec::new());
        self.agents.present = self.agents.present.saturating_sub(1);
        if let Some(known) = self.agents.get_mut(agent) {
            known.is_gone = true;
            known.presence = None;
        }
        let waiting: Vec<EntryKey> = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.mailbox == Mailbox::Agent(agent) && entry.state.is_queued())
            .map(|(key, _)| EntryKey(key))
            .collect();
        self.orphans.extend(waiting);
        Ok(())
    }

    pub(crate) fn presence_set(
        &mut self,
        agent: AgentKey,
        state: PresenceState,
        detail: &[u8],
        at: Time,
        effects: &mut Effects,
    ) -> Applied {
        let seq = self.last;
        let known = self.agents.get_mut(agent).ok_or(Misfit::Missing { seq, what: "an agent" })?;
        if known.is_gone {
            return Err(Misfit::State { seq, what: "an agent" });
        }
        let note = PresenceNote { state, at, detail: detail.into() };
        let before = known.presence.replace(Box::new(note)).map(|note| note.state);
        // Who was away is given work of its roles again.
        if before == Some(PresenceState::Maintenance) && state != PresenceState::Maintenance {
            self.rouse(agent, effects);
        }
        Ok(())
    }

    /// Lets go what was held for the names of an agent.
    fn release_held(&mut self, agent: AgentKey, effects: &mut Effects) {
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::LoseHeld) {
            return;
        }
        let Some(known) = self.agents.get(agent) else { return };
        let names: Vec<Box<str>> = std::iter::once(&known.name).chain(&known.aliases).cloned().collect();
        for name in names {
            for entry in self.held.remove(&name).unwrap_or_default() {
                if self.has_another_way(entry, agent) {
                    self.end(entry, End::Moved, "it comes another way", self.time, effects);
                    continue;
                }
                self.rehome(entry, Mailbox::Agent(agent), effects);
                let until =
                    self.entry(entry).map_or(Time::NEVER, |it| self.offer_end(it.message, State::Waiting));
                self.advance(entry, State::Waiting, until, effects);
            }
        }
    }
}
