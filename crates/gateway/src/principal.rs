//! Who speaks: the operator, an agent whose token it is, or anybody where the operator left the door open.

use broker::AgentKey;
use history::Scope;
use message::AgentName;

use crate::Who;

/// Who speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Principal {
    /// The operator, who may do everything; it talks as `human`, `system` or `runner`.
    Operator,
    /// Somebody without a token on a bus that needs none: it may do everything, and talk as anybody.
    Anybody,
    /// An agent.
    Agent(Speaker),
}

/// An agent that speaks by its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speaker {
    /// Its number.
    pub key: AgentKey,
    /// Its name.
    pub name: AgentName,
    /// The others in whose name it speaks.
    pub also: Vec<AgentKey>,
}

/// Why somebody is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// There is no token, or none that we gave, or one that is over.
    #[error("there is no token in the request that opens this door")]
    NoToken,
    /// The token is good, but not for this.
    #[error("this token does not reach that far")]
    NotYours,
}

impl Principal {
    /// Returns as whom somebody talks who does not say.
    pub fn speaker(&self) -> AgentKey {
        match self {
            Principal::Operator | Principal::Anybody => AgentKey::HUMAN,
            Principal::Agent(speaker) => speaker.key,
        }
    }

    /// Returns against whom something is counted.
    pub fn who(&self) -> Who {
        match self {
            Principal::Operator | Principal::Anybody => Who::Operator,
            Principal::Agent(speaker) => Who::Agent(speaker.key),
        }
    }

    /// Returns what somebody may look back at.
    pub fn scope(&self) -> Scope {
        match self {
            Principal::Operator | Principal::Anybody => Scope::Everything,
            Principal::Agent(speaker) => Scope::Agent(speaker.key),
        }
    }

    /// Refuses whoever is not the operator.
    pub fn must_be_operator(&self) -> Result<(), Denied> {
        if self.is_operator() { Ok(()) } else { Err(Denied::NotYours) }
    }

    /// Tells whether somebody may do everything.
    pub fn is_operator(&self) -> bool {
        match self {
            Principal::Operator | Principal::Anybody => true,
            Principal::Agent(_) => false,
        }
    }

    /// Refuses whoever is neither an agent itself nor the operator.
    pub fn must_be(&self, agent: AgentKey) -> Result<(), Denied> {
        if self.acts_as(agent) { Ok(()) } else { Err(Denied::NotYours) }
    }

    /// Tells whether somebody is an agent itself, speaks for it, or is the operator.
    pub fn acts_as(&self, agent: AgentKey) -> bool {
        match self {
            Principal::Operator | Principal::Anybody => true,
            Principal::Agent(speaker) => speaker.key == agent || speaker.also.contains(&agent),
        }
    }

    /// Returns the agents that somebody acts as; none for the operator, who acts as every agent.
    pub fn agents(&self) -> Vec<AgentKey> {
        match self {
            Principal::Operator | Principal::Anybody => Vec::new(),
            Principal::Agent(speaker) => {
                std::iter::once(speaker.key).chain(speaker.also.iter().copied()).collect()
            }
        }
    }

    /// Tells whether somebody may send in the name of an agent. The operator has names of its own and takes no others.
    pub fn may_send_as(&self, agent: AgentKey) -> bool {
        match self {
            Principal::Operator => agent <= AgentKey::RUNNER,
            Principal::Anybody => true,
            Principal::Agent(_) => self.acts_as(agent),
        }
    }
}
