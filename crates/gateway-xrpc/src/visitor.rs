//! Who calls: by a token of the bus, by a session that was opened with one, or nobody, where everybody may read.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, StatusCode, header};
use broker::AgentKey;
use gateway::{Hub, Principal, Problem, Who};
use message::AgentName;

use crate::jwt::{Claims, Scope};
use crate::refused::Refused;
use crate::{Door, jwt};

/// Who calls, and what every call has at hand.
pub(crate) struct Caller {
    pub(crate) hub: Hub,
    pub(crate) door: Arc<Door>,
    pub(crate) principal: Principal,
}

/// Somebody who wants to read: who it is, if it is anybody.
#[derive(Clone)]
pub(crate) struct Visitor {
    pub(crate) hub: Hub,
    pub(crate) door: Arc<Door>,
    pub(crate) principal: Option<Principal>,
    pub(crate) who: Who,
}

/// A repository: whose it is and what that agent is called.
#[derive(Clone, Debug)]
pub(crate) struct Repo {
    pub(crate) key: AgentKey,
    pub(crate) name: AgentName,
    pub(crate) did: String,
    pub(crate) handle: String,
}

impl FromRequestParts<Hub> for Caller {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, hub: &Hub) -> Result<Self, Refused> {
        let door = door(&parts.extensions)?;
        let principal = principal(hub, &door, &parts.headers)?;
        hub.count_request(&principal)?;
        Ok(Caller { hub: hub.clone(), door, principal })
    }
}

impl FromRequestParts<Hub> for Visitor {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, hub: &Hub) -> Result<Self, Refused> {
        let door = door(&parts.extensions)?;
        let is_nobody = !parts.headers.contains_key(header::AUTHORIZATION) && !hub.is_open();
        let principal = match is_nobody && !door.public.is_empty() {
            true => None,
            false => Some(principal(hub, &door, &parts.headers)?),
        };
        let who = principal.as_ref().map_or_else(|| peer(&parts.extensions), Principal::who);
        hub.count_request_of(who)?;
        Ok(Visitor { hub: hub.clone(), door, principal, who })
    }
}

impl Caller {
    /// Returns a repository to which the caller may write: its own.
    pub(crate) fn own(&self, repo: &str) -> Result<Repo, Refused> {
        let nobody =
            || Refused::Named(StatusCode::FORBIDDEN, "AccountNotFound", "Account not found".to_owned());
        let repo = find(&self.hub, repo).map_err(|_| nobody())?;
        if !self.principal.may_send_as(repo.key) {
            let message = format!("this token does not write to the repository of {}", repo.name);
            return Err(Refused::unknown_caller(message));
        }
        Ok(repo)
    }
}

impl Visitor {
    /// Returns a repository.
    pub(crate) fn repo(&self, repo: &str) -> Result<Repo, Refused> {
        find(&self.hub, repo)
    }
}

impl Door {
    /// Tells whether everybody may read a collection.
    pub(crate) fn is_public(&self, collection: &str) -> bool {
        self.public.iter().any(|pattern| covers(pattern, collection))
    }
}

/// Tells whether a collection is the one that is meant, or begins as all that are.
pub(crate) fn covers(pattern: &str, collection: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => collection.starts_with(start),
        None => pattern == collection,
    }
}

/// Finds a repository by a DID, a handle or a name.
fn find(hub: &Hub, repo: &str) -> Result<Repo, Refused> {
    let found = hub.resolve(repo);
    let (name, key) = found.ok_or_else(|| Refused::invalid(format!("Could not find repo: {repo}")))?;
    Ok(Repo::of(hub, name, key))
}

impl Repo {
    pub(crate) fn of(hub: &Hub, name: AgentName, key: AgentKey) -> Self {
        let (did, handle) = hub.called(&name);
        Repo { key, name, did, handle }
    }
}

/// Returns against whom it counts what nobody in particular does.
pub(crate) fn peer(extensions: &Extensions) -> Who {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>();
    peer.map_or(Who::Operator, |ConnectInfo(peer)| Who::Peer(peer.ip()))
}

fn door(extensions: &Extensions) -> Result<Arc<Door>, Refused> {
    let door = extensions.get::<Arc<Door>>().cloned();
    door.ok_or_else(|| Problem::new(gateway::Code::Internal, "the door is not open").into())
}

/// Tells who speaks by what the request carries.
pub(crate) fn principal(hub: &Hub, door: &Door, headers: &HeaderMap) -> Result<Principal, Refused> {
    let Some(bearer) = bearer(headers) else {
        // Nobody is asked where the door is open.
        return hub.principal(None).map_err(|denied| Problem::from(denied).into());
    };
    if let Ok(token) = bearer.parse() {
        return hub.principal(Some(&token)).map_err(|_| invalid_token());
    }
    let claims = claims(hub, door, bearer, Scope::Access)?;
    session(hub, &claims)
}

/// Tells who speaks by a session.
pub(crate) fn session(hub: &Hub, claims: &Claims) -> Result<Principal, Refused> {
    let session = hub.session(&claims.agent, &claims.session);
    session.map_err(|_| Refused::named("ExpiredToken", "Token has been revoked"))
}

/// Reads what a session's token says, if it is one of ours and its time is not over.
pub(crate) fn claims(hub: &Hub, door: &Door, token: &str, scope: Scope) -> Result<Claims, Refused> {
    let claims = jwt::read(&door.session_key, token).ok_or_else(invalid_token)?;
    if claims.scope != scope {
        return Err(Refused::named("InvalidToken", "Bad token scope"));
    }
    if hub.node().wall() >= claims.expires {
        return Err(Refused::named("ExpiredToken", "Token has expired"));
    }
    Ok(claims)
}

/// Returns what a request shows to be let in.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()).filter(|token| !token.is_empty())
}

fn invalid_token() -> Refused {
    Refused::named("InvalidToken", "Token could not be verified")
}
