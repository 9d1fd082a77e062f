//! Sessions: an agent shows its token once and is known by tokens of shorter life from then on.
//!
//! A session is kept with its agent, so that it can be ended: by whoever opened it, or because the token with which it
//! was opened is revoked. The token that renews it is good once.

use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use broker::{AgentKey, Time};
use gateway::{Answer, Hub, Principal, Problem, Profile, SessionNote, Token, TokenHash, Who};
use message::AgentName;
use std::sync::Arc;

use crate::jwt::{Claims, Scope};
use crate::refused::Refused;
use crate::repo::input;
use crate::server::SERVICE;
use crate::visitor::{Caller, Repo};
use crate::{Door, jwt, visitor};

/// How long a token calls.
const ACCESS_MS: u64 = 2 * 60 * 60 * 1_000;
/// How long a session can be renewed.
const REFRESH_MS: u64 = 90 * 24 * 60 * 60 * 1_000;
/// How long the token before the last still renews: its answer may have been lost on the way.
const GRACE_MS: u64 = 2 * 60 * 1_000;
/// Sessions of one agent at most; the one that was not renewed for longest gives way.
const SESSIONS_MAX: usize = 32;
/// Bytes of the body of a call about sessions.
const BODY_BYTES_MAX: usize = 64 << 10;

/// Opens a session with the token of an agent.
pub(crate) async fn create(
    State(hub): State<Hub>,
    Extension(door): Extension<Arc<Door>>,
    request: Request,
) -> Result<Response, Refused> {
    let peer = visitor::peer(request.extensions());
    let body = axum::body::to_bytes(request.into_body(), BODY_BYTES_MAX).await;
    let body = body.map_err(|_| Refused::invalid("the body is too large, or ended too early"))?;
    let fields = gateway::fields(&body)?;
    let (identifier, password) = (input(&fields, "identifier")?, input(&fields, "password")?);
    let Some((repo, token)) = known(&hub, identifier, password) else {
        return Err(fails(&hub, &door, peer));
    };
    let id = fresh_id()?;
    let session = open(&hub, repo.name.clone(), id, token).await?;
    Ok(tokens(&door, &repo, &session).respond(StatusCode::OK))
}

/// Renews a session; the token that was shown is good no more.
pub(crate) async fn refresh(
    State(hub): State<Hub>,
    Extension(door): Extension<Arc<Door>>,
    headers: HeaderMap,
) -> Result<Response, Refused> {
    let (claims, repo) = renewing(&hub, &door, &headers)?;
    let (id, renewals) = (claims.session.clone(), claims.renewals);
    let session = gateway::change_profile(&hub, repo.name.clone(), move |profile, wall| {
        Ok(profile
            .sessions
            .iter_mut()
            .find(|note| note.id == id)
            .and_then(|note| renew(note, renewals, wall)))
    });
    let revoked = || Refused::named("ExpiredToken", "Token has been revoked");
    let session = session.await?.ok_or_else(revoked)?;
    Ok(tokens(&door, &repo, &session).respond(StatusCode::OK))
}

/// Says whose session it is.
pub(crate) async fn show(caller: Caller) -> Result<Response, Refused> {
    let agent = caller.principal.speaker();
    let name = caller.hub.name_of(agent).ok_or_else(|| Refused::unknown_caller("nobody has this token"))?;
    let repo = Repo::of(&caller.hub, name, agent);
    Ok(whose(Answer::new(), &repo).respond(StatusCode::OK))
}

/// Ends a session.
pub(crate) async fn delete(
    State(hub): State<Hub>,
    Extension(door): Extension<Arc<Door>>,
    headers: HeaderMap,
) -> Result<Response, Refused> {
    let (claims, repo) = renewing(&hub, &door, &headers)?;
    let ended = gateway::change_profile(&hub, repo.name, move |profile, _| {
        profile.sessions.retain(|note| note.id != claims.session);
        Ok(())
    });
    ended.await?;
    // There is nothing to say, and the lexicon says so.
    Ok(StatusCode::OK.into_response())
}

/// Finds the agent of an identifier, if the password is a token of it. Where nobody needs a token, any will do.
fn known(hub: &Hub, identifier: &str, password: &str) -> Option<(Repo, Option<TokenHash>)> {
    let (name, key) = hub.resolve(identifier.strip_prefix('@').unwrap_or(identifier))?;
    if key <= AgentKey::RUNNER {
        return None;
    }
    let token = password.parse::<Token>().ok();
    let speaker = token.as_ref().and_then(|token| hub.principal(Some(token)).ok());
    let is_its_own = matches!(&speaker, Some(Principal::Agent(speaker)) if speaker.key == key);
    let token = token.filter(|_| is_its_own).map(|token| token.hash());
    (token.is_some() || hub.is_open()).then(|| (Repo::of(hub, name, key), token))
}

/// Counts a failure, and says that it was one.
fn fails(hub: &Hub, door: &Door, peer: Who) -> Refused {
    match door.failures.check(peer, 1, hub.node().steady()) {
        Ok(()) => Refused::unknown_caller("Invalid identifier or password"),
        Err(later) => Problem::new(gateway::Code::RateLimited, later.to_string())
            .retry_after(later.whole_seconds())
            .into(),
    }
}

/// Notes a new session with its agent.
async fn open(
    hub: &Hub,
    name: AgentName,
    id: String,
    token: Option<TokenHash>,
) -> Result<SessionNote, Problem> {
    gateway::change_profile(hub, name, move |profile, wall| {
        forget(profile, wall);
        let expires = wall.plus_ms(REFRESH_MS);
        let note = SessionNote { id: id.clone(), token, renewals: 0, renewed: wall, expires };
        profile.sessions.push(note.clone());
        Ok(note)
    })
    .await
}

/// Forgets sessions that are over, and the oldest if there are too many.
fn forget(profile: &mut Profile, wall: Time) {
    let tokens: Vec<TokenHash> = profile.tokens.iter().map(|note| note.hash).collect();
    let is_good = |note: &SessionNote| note.token.is_none_or(|token| tokens.contains(&token));
    profile.sessions.retain(|note| wall < note.expires && is_good(note));
    profile.sessions.sort_by_key(|note| note.renewed);
    let surplus = (profile.sessions.len() + 1).saturating_sub(SESSIONS_MAX);
    profile.sessions.drain(..surplus);
}

/// Renews a session, by the token of its last renewal, or the one before for a short while.
fn renew(note: &mut SessionNote, renewals: u64, wall: Time) -> Option<SessionNote> {
    let was_lost = renewals + 1 == note.renewals && wall < note.renewed.plus_ms(GRACE_MS);
    if renewals == note.renewals {
        note.renewals += 1;
        note.renewed = wall;
        note.expires = wall.plus_ms(REFRESH_MS);
    } else if !was_lost {
        return None;
    }
    Some(note.clone())
}

/// Reads the token that renews a session.
fn renewing(hub: &Hub, door: &Door, headers: &HeaderMap) -> Result<(Claims, Repo), Refused> {
    let missing = || Refused::from(Problem::new(gateway::Code::NoToken, "Authentication Required"));
    let claims = visitor::claims(hub, door, visitor::bearer(headers).ok_or_else(missing)?, Scope::Refresh)?;
    let principal = visitor::session(hub, &claims)?;
    hub.count_request(&principal)?;
    let repo = Repo::of(hub, claims.agent.clone(), principal.speaker());
    Ok((claims, repo))
}

/// Writes both tokens of a session.
fn tokens(door: &Door, repo: &Repo, session: &SessionNote) -> Answer {
    let claims = |scope, expires| Claims {
        scope,
        did: repo.did.clone(),
        agent: repo.name.clone(),
        session: session.id.clone(),
        renewals: session.renewals,
        issued: session.renewed,
        expires,
    };
    let access = claims(Scope::Access, session.renewed.plus_ms(ACCESS_MS));
    let refresh = claims(Scope::Refresh, session.expires);
    let answer = Answer::new()
        .text("accessJwt", &jwt::write(&door.session_key, &access, SERVICE))
        .text("refreshJwt", &jwt::write(&door.session_key, &refresh, SERVICE));
    whose(answer, repo)
}

fn whose(answer: Answer, repo: &Repo) -> Answer {
    answer.text("handle", &repo.handle).text("did", &repo.did).flag("active", true)
}

fn fresh_id() -> Result<String, Problem> {
    let mut bytes = [0; 16];
    let filled = getrandom::fill(&mut bytes);
    filled.map_err(|error| Problem::new(gateway::Code::Internal, error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
