//! The registry: who is there. Agents are made and removed by the operator; everybody may look.

use axum::http::StatusCode;
use axum::response::Response;
use broker::{AgentView, AgentWork, Breaker, Command, Micros, Time};
use gateway::{Body, Principal, Problem, Profile, Registration, Token, TokenNote};
use json::{Limits, Object, Value};
use message::Address;
use node::Turn;

use gateway::Answer;
use gateway::{At, Caller};

/// Makes an agent known, or changes what is known of it. A new agent's token is shown in the answer, once.
pub(crate) async fn put(caller: Caller, At(name): At<String>, body: Body) -> Result<Response, Problem> {
    let body = gateway::body(body)?;
    caller.principal.must_be_operator()?;
    let registration = Registration::read(&name, &gateway::fields(&body)?)?;
    let name = registration.name.clone();
    let fresh =
        Token::new(name.clone()).map_err(|error| Problem::new(gateway::Code::Internal, error.to_string()))?;
    let token = caller.hub.call(move |turn| registration.carry_out(turn, fresh)).await?;
    caller.hub.refresh(name.clone()).await?;
    let answer = Answer::new().text("agent", name.as_str());
    Ok(match token {
        Some(token) => answer.text("token", &token.reveal()).respond(StatusCode::CREATED),
        None => answer.respond(StatusCode::OK),
    })
}

/// Lists the agents.
pub(crate) async fn list(caller: Caller) -> Result<Response, Problem> {
    let principal = caller.principal;
    let agents = caller.hub.call(move |turn| {
        let agents = turn.broker().agents();
        Ok(agents.map(|view| agent_value(turn, &view, &principal).to_json()).collect::<Vec<_>>())
    });
    Ok(Answer::new().list("agents", agents.await?).respond(StatusCode::OK))
}

/// Shows one agent.
pub(crate) async fn show(caller: Caller, At(name): At<String>) -> Result<Response, Problem> {
    let agent = caller.agent(&name)?.key;
    let principal = caller.principal;
    let shown = caller.hub.call(move |turn| {
        let view = turn.broker().look_at(agent).map(|view| agent_value(turn, &view, &principal));
        view.ok_or_else(|| Problem::new(gateway::Code::UnknownAgent, "there is no such agent"))
    });
    Ok(gateway::answer(StatusCode::OK, &shown.await?))
}

/// Forgets an agent.
pub(crate) async fn remove(caller: Caller, At(name): At<String>) -> Result<Response, Problem> {
    caller.principal.must_be_operator()?;
    let agent = caller.agent(&name)?.key;
    let name = caller.hub.name_of(agent);
    caller.hub.call(move |turn| Ok(turn.execute(&Command::Remove { agent })?)).await?;
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
    caller.hub.call(move |turn| Ok(turn.execute(&Command::Join { agent, address })?)).await?;
    Ok(Answer::new().respond(StatusCode::OK))
}

/// Ends a membership.
pub(crate) async fn leave(
    caller: Caller,
    At((name, address)): At<(String, String)>,
) -> Result<Response, Problem> {
    let agent = caller.own(&name)?.key;
    let address = group(&address)?;
    caller.hub.call(move |turn| Ok(turn.execute(&Command::Leave { agent, address })?)).await?;
    Ok(Answer::new().respond(StatusCode::OK))
}

fn group(text: &str) -> Result<Address, Problem> {
    text.parse().map_err(|error| Problem::bad_request(format!("{text:?} is no address: {error}")))
}

fn agent_value(turn: &Turn<'_>, view: &AgentView<'_>, principal: &Principal) -> Value<'static> {
    let profile = Profile::read(view.profile);
    let list = |texts: Vec<String>| Value::Array(texts.into_iter().map(Value::from).collect());
    let owned = |texts: &[&str]| list(texts.iter().map(|text| (*text).to_owned()).collect());
    let mut members: Object<'static> = Object::new();
    members.insert("agent", Value::from(view.name.to_owned()));
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
    if let Some((state, at, detail)) = view.presence {
        let mut presence: Object<'static> =
            [("state", Value::from(state.name())), ("at", Value::from(written(at)))].into_iter().collect();
        if let Ok(detail) = json::parse(detail, Limits::DOCUMENT) {
            presence.insert("detail", detail.into_owned());
        }
        members.insert("presence", Value::Object(presence));
    }
    members.insert("offline", gateway::state::is_offline(view, turn.now()));
    add_work(&mut members, &turn.broker().agent_work(view.agent));
    if principal.acts_as(view.agent) {
        members.insert("tokens", Value::Array(profile.tokens.iter().map(token_value).collect()));
    }
    Value::Object(members)
}

/// Adds what an agent works on, what that costs, and whether it is given work.
fn add_work(members: &mut Object<'static>, work: &AgentWork<'_>) {
    let texts = |texts: &[&str]| {
        Value::Array(texts.iter().map(|text| Value::from((*text).to_owned())).collect::<Vec<_>>())
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
