//! Who calls: from the token of the request, before anything else is looked at.

use crate::{Hub, Principal, Problem, Query, Token};
use axum::extract::{FromRequestParts, Path};
use axum::http::Method;
use axum::http::request::Parts;
use broker::AgentKey;
use dialect::Name;

/// Who calls, and what every call has at hand.
pub struct Caller {
    pub hub: Hub,
    pub principal: Principal,
    /// By which token, if it showed one.
    pub token: Option<Token>,
}

/// An agent that a path names.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    pub key: AgentKey,
    pub dialect: Name,
}

impl FromRequestParts<Hub> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, hub: &Hub) -> Result<Self, Problem> {
        // Whoever can set no header can only get.
        let query = if parts.method == Method::GET { parts.uri.query() } else { None };
        let shown = crate::shown(hub, &parts.headers, Query(query))?;
        let principal = hub.principal(shown.token.as_ref())?;
        hub.count_request(&principal)?;
        Ok(Caller { hub: hub.clone(), principal, token: shown.token })
    }
}

/// What the path of a request names.
pub struct At<T>(pub T);

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
    pub fn agent(&self, name: &str) -> Result<Named, Problem> {
        match self.hub.find(name) {
            Some((_, key, dialect)) => Ok(Named { key, dialect }),
            None => Err(Problem::nobody(name)),
        }
    }

    /// Notes that an agent came to its inbox; when the operator looks into it, nobody came.
    pub fn visits(&self, agent: &Named) {
        if matches!(self.principal, Principal::Agent(_) | Principal::Anybody) || agent.key == AgentKey::HUMAN
        {
            self.hub.note_visit(agent.key);
        }
    }

    /// Returns an agent as which the caller may act. Who is not there and who is somebody else look alike to agents.
    pub fn own(&self, name: &str) -> Result<Named, Problem> {
        let agent = self.agent(name);
        if !self.principal.is_operator() {
            let key = agent.as_ref().map_or(AgentKey(u32::MAX), |agent| agent.key);
            self.principal.must_be(key)?;
        }
        agent
    }
}
