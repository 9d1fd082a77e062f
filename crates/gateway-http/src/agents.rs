//! The registry: who is there. Agents are made and removed by the operator; everybody may look.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use broker::{AgentView, Command, Register};
use gateway::{Profile, Token};
use json::{Object, Value};
use message::{AgentName, Dialect};

use crate::door::Door;
use crate::problem::Problem;
use crate::request;

/// Makes an agent known, or changes what is known of it. A new agent's token is shown in the answer, once.
pub(crate) async fn put(
    State(door): State<Door>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: request::Body,
) -> Result<Response, Problem> {
    let body = request::body(body)?;
    let name: AgentName = name.parse().map_err(|error| Problem::bad_request(format!("{error}")))?;
    let options = request::options(&body)?.into_owned();
    let text = move |key: &str| options.get(key).and_then(Value::as_str).map(str::to_owned);
    let dialect = text("dialect").map_or(Ok(Dialect::Convoke), |name| request::name_of(&name))?;
    let fresh = Token::new(name.clone()).map_err(|error| Problem::bad_request(error.to_string()))?;
    let made = door.call(request::token(&headers), move |turn, principal| {
        principal.must_be_operator()?;
        let known = turn.broker().agent(name.as_str()).and_then(|agent| turn.broker().look_at(agent));
        let mut profile = known.as_ref().map(|view| Profile::read(view.profile)).unwrap_or_default();
        let is_new = known.is_none();
        if is_new {
            profile.tokens = vec![fresh.hash()];
        }
        for (key, field) in [
            ("framework", &mut profile.framework),
            ("did", &mut profile.did),
            ("handle", &mut profile.handle),
            ("uri", &mut profile.uri),
        ] {
            if let Some(text) = text(key) {
                *field = Some(text);
            }
        }
        let (stored, aliases) = (profile.write(), profile.aliases());
        let register = Register { name: &name, aliases: &aliases, dialect, profile: &stored };
        turn.execute(&Command::Register(register))?;
        Ok((name, is_new.then_some(fresh)))
    });
    let (name, token) = made.await?;
    door.learn_names().await?;
    let status = if token.is_some() { StatusCode::CREATED } else { StatusCode::OK };
    let mut members: Object<'_> = Object::new();
    members.insert("agent", Value::from(name.as_str()));
    if let Some(token) = token {
        members.insert("token", Value::from(token.reveal()));
    }
    Ok(request::answer(status, &Value::Object(members)))
}

/// Lists the agents.
pub(crate) async fn list(State(door): State<Door>, headers: HeaderMap) -> Result<Response, Problem> {
    let agents = door.call(request::token(&headers), |turn, _| {
        Ok(turn.broker().agents().map(|view| agent_value(&view)).collect::<Vec<_>>())
    });
    let members: Object<'_> = [("agents", Value::Array(agents.await?))].into_iter().collect();
    Ok(request::answer(StatusCode::OK, &Value::Object(members)))
}

/// Shows one agent.
pub(crate) async fn show(
    State(door): State<Door>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let shown = door.call(request::token(&headers), move |turn, _| {
        let agent = turn.broker().agent(&name).and_then(|agent| turn.broker().look_at(agent));
        agent.map(|view| agent_value(&view)).ok_or_else(|| Problem::not_found("there is no such agent"))
    });
    Ok(request::answer(StatusCode::OK, &shown.await?))
}

/// Forgets an agent.
pub(crate) async fn remove(
    State(door): State<Door>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let removed = door.call(request::token(&headers), move |turn, principal| {
        principal.must_be_operator()?;
        let agent = turn.broker().agent(&name).ok_or_else(|| Problem::not_found("there is no such agent"))?;
        turn.execute(&Command::Remove { agent }).map(|_| ()).map_err(Problem::from)
    });
    removed.await?;
    door.learn_names().await?;
    Ok(request::answer(StatusCode::OK, &Value::Object(Object::new())))
}

fn agent_value(view: &AgentView<'_>) -> Value<'static> {
    let list =
        |texts: &[&str]| Value::Array(texts.iter().map(|text| Value::from((*text).to_owned())).collect());
    let members: Object<'static> = [
        ("agent", Value::from(view.name.to_owned())),
        ("aliases", list(&view.aliases)),
        ("dialect", Value::from(view.dialect.name())),
        ("reachability", Value::from(view.reachability.name())),
        ("waiting", Value::from(view.waiting)),
        ("memberships", list(&view.memberships)),
    ]
    .into_iter()
    .collect();
    Value::Object(members)
}
