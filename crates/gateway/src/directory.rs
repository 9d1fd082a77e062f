//! The directory: what the doors look up of agents on every request, without asking the node.
//!
//! It follows the registry: whoever changes an agent notes it here before the change is answered, so a token that was
//! revoked opens nothing from then on.

use std::collections::HashMap;

use broker::{AgentKey, AgentView, Time};
use dialect::{Name, Names};
use message::AgentName;

use crate::{Denied, Principal, Profile, Speaker, Token};

/// Agents by name, and what they are called elsewhere.
#[derive(Default)]
pub struct Directory {
    agents: HashMap<AgentName, Listed>,
    by_key: HashMap<AgentKey, AgentName>,
    names: Names,
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

impl Directory {
    /// Notes an agent as it is now.
    pub fn set(&mut self, view: &AgentView<'_>) {
        let Ok(name) = view.name.parse::<AgentName>() else { return };
        let profile = Profile::read(view.profile);
        self.names.remove(name.as_str());
        // The registry sees to it that aliases are nobody else's.
        drop(self.names.add(profile.identity(name.clone())));
        self.by_key.insert(view.agent, name.clone());
        self.agents.insert(name, Listed { key: view.agent, dialect: view.dialect, profile });
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
