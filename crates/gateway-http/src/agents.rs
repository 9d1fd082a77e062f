//! The registry: who is there. Agents are made and removed by the operator; everybody may look.

use std::io;

use axum::body::{Body, Bytes};
use axum::extract::RawQuery;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use broker::query::agents::{AgentDetails, AgentPage, FindAgent, FindAgentKey, Presence, WorkDetails};
use broker::{AgentKey, Breaker, Command, Micros, Time};
use futures_util::{Stream, StreamExt, stream};
use gateway::{AGENTS_MAX, Principal, Problem, Profile, Query, Registration, Token, TokenNote};
use json::{Limits, Object, Value};
use message::Address;
use smol_str::SmolStr;

use gateway::Answer;
use gateway::{At, Caller};

/// Agents in one page at most.
const LIMIT_MAX: u64 = 1_000;

/// Makes an agent known, or changes what is known of it. A new agent's token is shown in the answer, once.
pub(crate) async fn put(
    caller: Caller,
    At(name): At<String>,
    body: gateway::Body,
) -> Result<Response, Problem> {
    let body = gateway::body(body)?;
    caller.principal.must_be_operator()?;
    let registration = Registration::read(&name, &gateway::fields(&body)?)?;
    let name = registration.name.clone();
    let fresh =
        Token::new(name.clone()).map_err(|error| Problem::new(gateway::Code::Internal, error.to_string()))?;
    let token = registration.carry_out(&caller.hub, fresh).await?;
    let answer = Answer::new().text("agent", name.as_str());
    Ok(match token {
        Some(token) => answer.text("token", &token.reveal()).respond(StatusCode::CREATED),
        None => answer.respond(StatusCode::OK),
    })
}

/// Lists the agents: all of them, or as many as are asked for behind one of them.
pub(crate) async fn list(caller: Caller, RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let query = Query(query.as_deref());
    let after = match query.get("after")? {
        Some(name) => {
            let key = caller.hub.query(FindAgentKey { name: SmolStr::new(&name) }).await?;
            Some(key.ok_or_else(|| Problem::nobody(&name))?)
        }
        None => None,
    };
    if let Some(limit) = query.number("limit")? {
        let limit = usize::try_from(limit.clamp(1, LIMIT_MAX)).unwrap_or(1);
        return page(&caller, after, limit).await;
    }
    all(caller, after, AGENTS_MAX).await
}

/// Answers with all agents, which are read so many at a time; what is more than one page is streamed.
pub(crate) async fn all(caller: Caller, after: Option<AgentKey>, max: usize) -> Result<Response, Problem> {
    let (agents, next) = caller.hub.query(AgentPage { after, max }).await?;
    let first = listed(&agents, &caller.principal);
    let Some(next) = next else {
        return Ok(Answer::new().list("agents", first).respond(StatusCode::OK));
    };
    let first = format!("{{\"agents\":[{}", first.join(","));
    let json = [(header::CONTENT_TYPE, "application/json")];
    Ok((json, Body::from_stream(pieces(caller, first, next, max))).into_response())
}

/// Answers with one page, and with what stands in `after` for the next.
async fn page(caller: &Caller, after: Option<AgentKey>, limit: usize) -> Result<Response, Problem> {
    let (mut agents, mut after) = (Vec::new(), after);
    loop {
        // Agents that are gone leave gaps between the numbers.
        let wanted = limit - agents.len();
        let (found, next) = caller.hub.query(AgentPage { after, max: wanted.min(AGENTS_MAX) }).await?;
        agents.extend(found);
        after = next;
        if after.is_none() || agents.len() == limit {
            break;
        }
    }
    let next = agents.last().filter(|_| after.is_some()).map(|last| Value::from(last.name.to_string()));
    let answer = Answer::new().list("agents", listed(&agents, &caller.principal));
    Ok(answer.value("next", &next.unwrap_or(Value::Null)).respond(StatusCode::OK))
}

/// Streams the list from its beginning on: each page is read when the one before was written.
fn pieces(
    caller: Caller,
    first: String,
    next: AgentKey,
    max: usize,
) -> impl Stream<Item = Result<Bytes, io::Error>> + Send + 'static {
    let rest = stream::try_unfold((caller, Some(next)), move |(caller, after)| async move {
        let Some(after) = after else { return Ok(None) };
        let page = AgentPage { after: Some(after), max };
        // What was written so far cannot be taken back: an error ends the connection.
        let found = caller.hub.query(page).await;
        let (agents, next) = found.map_err(|problem| io::Error::other(problem.detail))?;
        let listed = listed(&agents, &caller.principal);
        // The first page has the operator, so something stands before each of these.
        let mut text: String = listed.iter().flat_map(|agent| [",", agent.as_str()]).collect();
        if next.is_none() {
            text.push_str("]}");
        }
        Ok(Some((Bytes::from(text), (caller, next))))
    });
    stream::iter([Ok(Bytes::from(first))]).chain(rest)
}

fn listed(agents: &[AgentDetails], principal: &Principal) -> Vec<String> {
    agents.iter().map(|agent| agent_value(agent, principal).to_json()).collect()
}

/// Shows one agent.
pub(crate) async fn show(caller: Caller, At(name): At<String>) -> Result<Response, Problem> {
    let agent = caller.agent(&name)?.key;
    let found = caller.hub.query(FindAgent { agent }).await?;
    let unknown = || Problem::new(gateway::Code::UnknownAgent, "there is no such agent");
    let shown = agent_value(&found.ok_or_else(unknown)?, &caller.principal);
    Ok(gateway::answer(StatusCode::OK, &shown))
}

/// Forgets an agent.
pub(crate) async fn remove(caller: Caller, At(name): At<String>) -> Result<Response, Problem> {
    caller.principal.must_be_operator()?;
    let agent = caller.agent(&name)?.key;
    let name = caller.hub.name_of(agent);
    caller.hub.execute(Command::Remove { agent }).await?;
    if let Some(name) = name {
        caller.hub.refresh(name).await?;
    }
    Ok(Answer::new().respond(StatusCode::OK))
}

/// Makes an agent a member of a role, topic or channel.
pub(crate) async fn join(
    caller: Caller,
    At((name, address)): At<(String, String)>,
) -> Result<Response, Problem> {
    let agent = caller.own(&name)?.key;
    let address = group(&address)?;
    caller.hub.execute(Command::Join { agent, address }).await?;
    Ok(Answer::new().respond(StatusCode::OK))
}

/// Ends a membership.
pub(crate) async fn leave(
    caller: Caller,
    At((name, address)): At<(String, String)>,
) -> Result<Response, Problem> {
    let agent = caller.own(&name)?.key;
    let address = group(&address)?;
    caller.hub.execute(Command::Leave { agent, address }).await?;
    Ok(Answer::new().respond(StatusCode::OK))
}

fn group(text: &str) -> Result<Address, Problem> {
    text.parse().map_err(|error| Problem::bad_request(format!("{text:?} is no address: {error}")))
}

fn agent_value(view: &AgentDetails, principal: &Principal) -> Value<'static> {
    let profile = Profile::read(&view.profile);
    let list = |texts: Vec<String>| Value::Array(texts.into_iter().map(Value::from).collect());
    let owned = |texts: &[SmolStr]| list(texts.iter().map(SmolStr::to_string).collect());
    let mut members: Object<'static> = Object::new();
    members.insert("agent", Value::from(view.name.to_string()));
    members.insert("aliases", owned(&view.aliases));
    members.insert("dialect", Value::from(view.dialect.name()));
    if let Some(framework) = &profile.framework {
        members.insert("framework", Value::from(framework.clone()));
    }
    for (key, said) in [("descriptor", &profile.descriptor), ("card", &profile.card)] {
        if let Some(Ok(said)) = said.as_deref().map(|text| json::parse_str(text, Limits::DOCUMENT)) {
            members.insert(key, said.into_owned());
        }
    }
    members.insert("reachability", Value::from(view.reachability.name()));
    members.insert("waiting", Value::from(view.waiting));
    members.insert("memberships", owned(&view.memberships));
    members.insert("speaks_for", list(profile.speaks_for.iter().map(ToString::to_string).collect()));
    if let Some(Presence { state, at, detail }) = &view.presence {
        let mut presence: Object<'static> =
            [("state", Value::from(state.name())), ("at", Value::from(written(*at)))].into_iter().collect();
        if let Ok(detail) = json::parse(detail, Limits::DOCUMENT) {
            presence.insert("detail", detail.into_owned());
        }
        members.insert("presence", Value::Object(presence));
    }
    members.insert("offline", gateway::state::is_offline(view));
    add_work(&mut members, &view.work);
    if principal.acts_as(view.agent) {
        members.insert("tokens", Value::Array(profile.tokens.iter().map(token_value).collect()));
    }
    Value::Object(members)
}

/// Adds what an agent works on, what that costs, and whether it is given work.
fn add_work(members: &mut Object<'static>, work: &WorkDetails) {
    let texts = |texts: &[SmolStr]| {
        Value::Array(texts.iter().map(|text| Value::from(text.to_string())).collect::<Vec<_>>())
    };
    let usd = |micros: Micros| json::parse_str(&micros.to_string(), Limits::DOCUMENT).map(Value::into_owned);
    let mut shown: Object<'static> = Object::new();
    shown.insert("tasks", texts(&work.holds));
    shown.insert("spent_usd", usd(work.spent).unwrap_or(Value::Null));
    shown.insert("reserved_usd", usd(work.reserved).unwrap_or(Value::Null));
    shown.insert("tokens", work.tokens);
    shown.insert("capabilities", texts(&work.capabilities));
    if let Some(Ok(quality)) = work.quality.map(|quality| usd(Micros(quality.into()))) {
        shown.insert("quality", quality);
    }
    if work.from != Time(0) {
        shown.insert("next_available", written(work.from));
    }
    members.insert("work", Value::Object(shown));
    let (state, errors, until) = match work.breaker {
        Breaker::Closed => ("closed", None, None),
        Breaker::Counting(errors) => ("closed", Some(errors), None),
        Breaker::Open { until } => ("open", None, Some(until)),
        Breaker::HalfOpen => ("half_open", None, None),
        Breaker::Probing { until } => ("half_open", None, Some(until)),
    };
    let mut breaker: Object<'static> = Object::new();
    breaker.insert("state", state);
    if let Some(errors) = errors {
        breaker.insert("errors", u64::from(errors));
    }
    if let Some(until) = until {
        breaker.insert("until", written(until));
    }
    members.insert("breaker", Value::Object(breaker));
}

fn token_value(note: &TokenNote) -> Value<'static> {
    let mut members: Object<'static> = Object::new();
    members.insert("label", Value::from(note.hash.label()));
    if let Some(expires) = note.expires {
        members.insert("expires", Value::from(written(expires)));
    }
    Value::Object(members)
}

fn written(at: Time) -> String {
    at.timestamp().to_string()
}
