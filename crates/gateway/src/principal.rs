//! Who speaks: the operator, or an agent whose token it is.

use broker::{AgentKey, Broker};

use crate::{Profile, Token, TokenHash};

/// Who speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Principal {
    /// The operator, who may do everything and is `human` when it talks.
    Operator,
    /// An agent.
    Agent(AgentKey),
}

/// Why somebody is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// There is no token, or none that we gave.
    #[error("a token is needed: send it as `Authorization: Bearer TOKEN`")]
    NoToken,
    /// The token is good, but not for this.
    #[error("this token does not reach that far")]
    NotYours,
}

/// What decides who somebody is.
#[derive(Clone, Debug)]
pub struct Authority {
    /// The operator's token.
    pub operator: TokenHash,
}

impl Authority {
    /// Tells who speaks by a token.
    pub fn principal(&self, token: Option<&Token>, broker: &Broker) -> Result<Principal, Denied> {
        let token = token.ok_or(Denied::NoToken)?;
        if self.operator.is_of(token) {
            return Ok(Principal::Operator);
        }
        let agent = broker.agent(token.agent().as_str()).ok_or(Denied::NoToken)?;
        let view = broker.look_at(agent).ok_or(Denied::NoToken)?;
        let is_ours = Profile::read(view.profile).tokens.iter().any(|hash| hash.is_of(token));
        if is_ours { Ok(Principal::Agent(agent)) } else { Err(Denied::NoToken) }
    }
}

impl Principal {
    /// Returns as whom somebody talks.
    pub fn speaker(&self) -> AgentKey {
        match self {
            Principal::Operator => AgentKey::HUMAN,
            Principal::Agent(agent) => *agent,
        }
    }

    /// Refuses whoever is not the operator.
    pub fn must_be_operator(&self) -> Result<(), Denied> {
        if *self == Principal::Operator { Ok(()) } else { Err(Denied::NotYours) }
    }

    /// Refuses whoever is neither an agent itself nor the operator.
    pub fn must_be(&self, agent: AgentKey) -> Result<(), Denied> {
        if *self == Principal::Operator || *self == Principal::Agent(agent) {
            Ok(())
        } else {
            Err(Denied::NotYours)
        }
    }
}
