//! Addresses: to whom a message goes, and by which names an agent is known.

use std::fmt;
use std::str::FromStr;

use crate::limits::ALIAS_BYTES_MAX;
use crate::{AddressError, AgentName, ChannelName, RoleName, TopicName};

checked_text! {
    /// Another name of an agent, from another system: a DID (`did:plc:abc`) or a URI (`codex://ann`).
    ///
    /// It is kept exactly as it was written; who it is, the registry says.
    Alias, AddressError, check_alias
}

/// One agent, by name or by alias. Senders and fallbacks are given so.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AgentRef {
    /// By its name on this bus.
    Name(AgentName),
    /// By a name from elsewhere.
    Alias(Alias),
}

/// To whom a message goes.
///
/// Reading what was written and writing what was read both give back the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Address {
    /// One agent: `codex`, `did:plc:abc`, `codex://ann`.
    Agent(AgentRef),
    /// One session of an agent: `claude#2`.
    Session {
        /// The agent.
        agent: AgentName,
        /// The number of the session.
        session: u32,
    },
    /// A queue from which one member takes: `roles.developer`.
    Role(RoleName),
    /// Those who subscribe to a topic: `#deploys`.
    Topic(TopicName),
    /// The members of a channel: `channel:team-a`.
    Channel(ChannelName),
    /// Every registered agent: `all`.
    All,
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        if let Some(topic) = text.strip_prefix('#') {
            return topic.parse().map(Address::Topic);
        }
        // Before the channel: `channel://x` is a URI, and no channel's name starts with a slash.
        if is_alias_like(text) {
            return text.parse().map(|alias| Address::Agent(AgentRef::Alias(alias)));
        }
        if let Some(channel) = text.strip_prefix("channel:") {
            return channel.parse().map(Address::Channel);
        }
        if let Some(role) = text.strip_prefix("roles.") {
            return role.parse().map(Address::Role);
        }
        if text == "all" {
            return Ok(Address::All);
        }
        match text.split_once('#') {
            Some((agent, session)) => {
                Ok(Address::Session { agent: agent.parse()?, session: parse_session(session)? })
            }
            None => text.parse().map(|name| Address::Agent(AgentRef::Name(name))),
        }
    }
}

impl FromStr for AgentRef {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        match text.parse()? {
            Address::Agent(agent) => Ok(agent),
            Address::Session { .. }
            | Address::Role(_)
            | Address::Topic(_)
            | Address::Channel(_)
            | Address::All => Err(AddressError::NotAnAgent),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Agent(agent) => agent.fmt(f),
            Address::Session { agent, session } => write!(f, "{agent}#{session}"),
            Address::Role(role) => write!(f, "roles.{role}"),
            Address::Topic(topic) => write!(f, "#{topic}"),
            Address::Channel(channel) => write!(f, "channel:{channel}"),
            Address::All => f.write_str("all"),
        }
    }
}

impl fmt::Display for AgentRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl AgentRef {
    /// Returns the name or alias as it was written.
    pub fn as_str(&self) -> &str {
        match self {
            AgentRef::Name(name) => name.as_str(),
            AgentRef::Alias(alias) => alias.as_str(),
        }
    }
}

impl From<AgentName> for AgentRef {
    fn from(name: AgentName) -> Self {
        AgentRef::Name(name)
    }
}

impl From<Alias> for AgentRef {
    fn from(alias: Alias) -> Self {
        AgentRef::Alias(alias)
    }
}

impl From<AgentRef> for Address {
    fn from(agent: AgentRef) -> Self {
        Address::Agent(agent)
    }
}

impl From<AgentName> for Address {
    fn from(name: AgentName) -> Self {
        Address::Agent(AgentRef::Name(name))
    }
}

/// Tells what can only be meant as an alias, right or wrong.
fn is_alias_like(text: &str) -> bool {
    text.starts_with("did:") || text.contains("://")
}

fn check_alias(text: &str) -> Result<(), AddressError> {
    if text.len() > ALIAS_BYTES_MAX {
        return Err(AddressError::TooLong { bytes: text.len(), bytes_max: ALIAS_BYTES_MAX });
    }
    let blank = |character: char| character.is_whitespace() || character.is_control();
    if text.contains(blank) || !(is_did(text) || is_uri(text)) {
        return Err(AddressError::Alias);
    }
    Ok(())
}

/// Accepts more than the DID syntax after the method, because agents in the field write more.
fn is_did(text: &str) -> bool {
    let Some((method, id)) = text.strip_prefix("did:").and_then(|rest| rest.split_once(':')) else {
        return false;
    };
    let is_method = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    !method.is_empty() && method.bytes().all(is_method) && !id.is_empty()
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else {
        return false;
    };
    let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(is_scheme)
        && !rest.is_empty()
}

/// Refuses `+2` and `02`, so that an address has one form.
fn parse_session(text: &str) -> Result<u32, AddressError> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits || (text.len() > 1 && text.starts_with('0')) {
        return Err(AddressError::Session);
    }
    text.parse().map_err(|_| AddressError::Session)
}
