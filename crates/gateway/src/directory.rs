//! The directory: what the doors look up of agents on every request, without asking the node.
//!
//! It follows the registry: whoever changes an agent notes it here before the change is answered, so a token that was
//! revoked opens nothing from then on.

use std::collections::HashMap;

use broker::query::agents::RegisteredAgent;
use broker::{AgentKey, Time};
use dialect::{Name, Names};
use message::{AgentName, Seq};

use crate::{Denied, Principal, Profile, Speaker, Token};

/// Agents by name, and what they are called elsewhere.
#[derive(Clone, Default)]
pub struct Directory {
    agents: HashMap<AgentName, Listed>,
    by_key: HashMap<AgentKey, AgentName>,
    names: Names,
    /// Up to which event what is listed of an agent is true, for those that changed since the start.
    versions: HashMap<AgentName, Seq>,
}

/// What is looked up of an agent.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its number.
    pub key: AgentKey,
    /// The language that it speaks.
    pub dialect: Name,
    /// What the doors keep of it.
    pub profile: Profile,
}

impl Listed {
    /// Reads what is looked up of an agent, and its name.
    pub fn of(agent: &RegisteredAgent) -> Option<(AgentName, Self)> {
        let name = agent.name.parse().ok()?;
        let profile = Profile::read(&agent.profile);
        Some((name, Listed { key: agent.agent, dialect: agent.dialect, profile }))
    }
}

impl Directory {
    /// Notes an agent as it was when an event had happened; nothing if it is gone. What was read before something that
    /// is noted already is left out.
    pub fn refresh(&mut self, name: &AgentName, listed: Option<Listed>, version: Seq) {
        if self.versions.get(name).is_some_and(|noted| *noted > version) {
            return;
        }
        self.versions.insert(name.clone(), version);
        match listed {
            Some(listed) => self.set(name.clone(), listed),
            None => self.remove(name),
        }
    }

    /// Notes an agent as it is now.
    pub fn set(&mut self, name: AgentName, listed: Listed) {
        let identity = listed.profile.identity(name.clone());
        // New tokens and sessions leave the names as they are, and with them the translations that are kept.
        if self.names.find(name.as_str()) != Some(&identity) {
            self.names.remove(name.as_str());
            // The registry sees to it that aliases are nobody else's.
            drop(self.names.add(identity));
        }
        self.by_key.insert(listed.key, name.clone());
        self.agents.insert(name, listed);
    }

    /// Forgets an agent.
    pub fn remove(&mut self, name: &AgentName) {
        self.names.remove(name.as_str());
        self.agents.remove(name);
    }

    /// Returns the name of an agent; who is gone keeps its name.
    pub fn name_of(&self, agent: AgentKey) -> Option<&AgentName> {
        self.by_key.get(&agent)
    }

    /// Returns the agents that speak a language.
    pub fn speaking(&self, dialect: Name) -> impl Iterator<Item = &Listed> {
        self.agents.values().filter(move |listed| listed.dialect == dialect)
    }

    /// Tells whether an agent is there.
    pub fn has(&self, agent: AgentKey) -> bool {
        self.by_key.get(&agent).is_some_and(|name| self.agents.contains_key(name))
    }

    /// Returns what agents are called.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Returns the agent that has this name or alias.
    pub fn find(&self, alias: &str) -> Option<(&AgentName, &Listed)> {
        let by_name = alias.parse().ok().and_then(|name: AgentName| self.agents.get_key_value(&name));
        by_name.or_else(|| self.agents.get_key_value(&self.names.find(alias)?.slug))
    }

    /// Returns the number of the agent that has this name or alias.
    pub fn key_of(&self, alias: &str) -> Option<AgentKey> {
        self.names.find(alias).and_then(|identity| self.agents.get(&identity.slug)).map(|listed| listed.key)
    }

    /// Tells who speaks by an agent's token.
    pub fn speaker(&self, token: &Token, wall: Time) -> Result<Principal, Denied> {
        let (name, listed) = self.agents.get_key_value(token.agent()).ok_or(Denied::NoToken)?;
        if !listed.profile.tokens.iter().any(|note| note.lets_in(token, wall)) {
            return Err(Denied::NoToken);
        }
        Ok(self.principal(name, listed))
    }

    /// Tells who speaks by a session. One that was opened without a token is good while nobody needs one.
    pub fn session(&self, agent: &AgentName, id: &str, wall: Time, open: bool) -> Result<Principal, Denied> {
        let (name, listed) = self.agents.get_key_value(agent).ok_or(Denied::NoToken)?;
        let profile = &listed.profile;
        let note = profile.sessions.iter().find(|note| note.id == id && wall < note.expires);
        let is_good = note.ok_or(Denied::NoToken)?.token.map_or(open, |token| profile.has(token, wall));
        if is_good { Ok(self.principal(name, listed)) } else { Err(Denied::NoToken) }
    }

    fn principal(&self, name: &AgentName, listed: &Listed) -> Principal {
        let also = listed.profile.speaks_for.iter().filter_map(|name| self.agents.get(name));
        let also = also.map(|listed| listed.key).collect();
        Principal::Agent(Speaker { key: listed.key, name: name.clone(), also })
    }
}
