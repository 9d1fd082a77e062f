//! Who calls: from the token of the request, before anything else is looked at.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use broker::AgentKey;
use dialect::Name;
use gateway::{Hub, Principal, Problem};

/// Who calls, and what every call has at hand.
pub(crate) struct Caller {
    pub(crate) hub: Hub,
    pub(crate) principal: Principal,
}

/// An agent that a path names.
pub(crate) struct Named {
    pub(crate) key: AgentKey,
    pub(crate) dialect: Name,
}

impl FromRequestParts<Hub> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, hub: &Hub) -> Result<Self, Problem> {
        let token = gateway::token(&parts.headers);
        let principal = hub.principal(token.as_ref())?;
        hub.count_request(&principal)?;
        Ok(Caller { hub: hub.clone(), principal })
    }
}

/// What the path of a request names.
pub(crate) struct At<T>(pub(crate) T);

impl<T> FromRequestParts<Hub> for At<T>
where
    Path<T>: FromRequestParts<Hub>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, hub: &Hub) -> Result<Self, Problem> {
        let path = Path::<T>::from_request_parts(parts, hub).await;
        let Path(named) = path.map_err(|_| Problem::bad_request("the path is not UTF-8"))?;
        Ok(At(named))
    }
}

impl Caller {
    /// Returns an agent that is there, whoever it is.
    pub(crate) fn agent(&self, name: &str) -> Result<Named, Problem> {
        match self.hub.find(name) {
            Some((_, key, dialect)) => Ok(Named { key, dialect }),
            None => Err(Problem::new(gateway::Code::UnknownAgent, format!("nobody is called `{name}`"))),
        }
    }

    /// Notes that an agent came to its inbox; when the operator looks into it, nobody came.
    pub(crate) fn visits(&self, agent: &Named) {
        if matches!(self.principal, Principal::Agent(_) | Principal::Anybody) || agent.key == AgentKey::HUMAN
        {
            self.hub.note_visit(agent.key);
        }
    }

    /// Returns an agent as which the caller may act. Who is not there and who is somebody else look alike to agents.
    pub(crate) fn own(&self, name: &str) -> Result<Named, Problem> {
        let agent = self.agent(name);
        if !self.principal.is_operator() {
            let key = agent.as_ref().map_or(AgentKey(u32::MAX), |agent| agent.key);
            self.principal.must_be(key)?;
        }
        agent
    }
}
