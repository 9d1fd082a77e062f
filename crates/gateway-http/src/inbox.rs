//! An agent's inbox: looking changes nothing, taking hands messages out.

use std::time::Duration;

use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use dialect::Name;
use json::{Object, Value};
use node::{Letter, Wishes};

use crate::door::Door;
use crate::problem::Problem;
use crate::request;

const MAX_DEFAULT: u64 = 10;
const MAX_LOOK: u64 = 1_000;
const LEASE_MS_DEFAULT: u64 = 15 * 60 * 1_000;
const WAIT_MS_MAX: u64 = 5 * 60 * 1_000;
/// Bytes of documents in one answer; one document is given in any case.
const BYTES_MAX: u64 = 16 << 20;

/// Shows what waits.
pub(crate) async fn look(
    State(door): State<Door>,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let asked = request::query(query.as_deref(), "dialect").map(request::name_of).transpose()?;
    let max = request::query(query.as_deref(), "max").and_then(|max| max.parse().ok()).unwrap_or(MAX_DEFAULT);
    let looked = door.call(request::token(&headers), move |turn, principal| {
        let agent = turn.broker().agent(&name).ok_or_else(|| Problem::not_found("there is no such agent"))?;
        principal.must_be(agent)?;
        let dialect = turn.broker().look_at(agent).map_or(Name::Convoke, |view| view.dialect);
        let count = usize::try_from(max.min(MAX_LOOK)).unwrap_or(0);
        Ok((turn.broker().inbox(agent, turn.wall(), count), dialect))
    });
    let ((waiting, more), dialect) = looked.await?;
    let names = door.names();
    let mut messages = Vec::new();
    for view in waiting {
        let body = door.node.body(view.body).map_err(|error| Problem::bad_request(error.to_string()))?;
        let outgoing = gateway::write(&body, asked.unwrap_or(dialect), 1, None, &names)?;
        let mut members: Object<'static> = Object::new();
        members.insert("id", Value::from(view.id.to_string()));
        members.insert("stage", Value::from(view.stage.name()));
        members.insert("priority", Value::from(view.priority.name()));
        members.insert("dialect", Value::from(outgoing.dialect.name()));
        members.insert("document", request::options(outgoing.text.as_bytes())?.into_owned());
        messages.push(Value::Object(members));
    }
    let members: Object<'_> =
        [("messages", Value::Array(messages)), ("more", Value::from(more))].into_iter().collect();
    Ok(request::answer(StatusCode::OK, &Value::Object(members)))
}

/// Hands messages out.
pub(crate) async fn take(
    State(door): State<Door>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: request::Body,
) -> Result<Response, Problem> {
    let body = request::body(body)?;
    let options = request::options(&body)?;
    let asked_max = options.get("max").and_then(Value::as_integer);
    let max = asked_max.map_or(MAX_DEFAULT, |max| u64::try_from(max).unwrap_or(0));
    let max = u32::try_from(max).unwrap_or(u32::MAX);
    let lease_ms = request::duration_ms(&options, "lease")?.unwrap_or(LEASE_MS_DEFAULT);
    let wait_ms = request::duration_ms(&options, "wait")?.unwrap_or(0).min(WAIT_MS_MAX);
    let asked = options.get("dialect").and_then(Value::as_str).map(request::name_of).transpose()?;
    let found = door.call(request::token(&headers), move |turn, principal| {
        let agent = turn.broker().agent(&name).ok_or_else(|| Problem::not_found("there is no such agent"))?;
        principal.must_be(agent)?;
        Ok((agent, turn.broker().look_at(agent).map_or(Name::Convoke, |view| view.dialect)))
    });
    let (agent, dialect) = found.await?;
    let wishes = Wishes { agent, session: None, max, bytes_max: BYTES_MAX, lease_ms, by: "http".into() };
    let letters = door.node.take(wishes, Duration::from_millis(wait_ms)).await?;
    let mut deliveries = Vec::with_capacity(letters.len());
    for letter in &letters {
        deliveries.push(delivery_value(&door, letter, asked.unwrap_or(dialect))?);
    }
    let members: Object<'_> = [("deliveries", Value::Array(deliveries))].into_iter().collect();
    Ok(request::answer(StatusCode::OK, &Value::Object(members)))
}

fn delivery_value(door: &Door, letter: &Letter, dialect: Name) -> Result<Value<'static>, Problem> {
    let delivery = &letter.delivery;
    let body = door.node.body(delivery.body).map_err(|error| Problem::bad_request(error.to_string()))?;
    let outgoing = gateway::write(&body, dialect, delivery.attempt, None, &door.names())?;
    let members: Object<'static> = [
        ("delivery", Value::from(delivery.delivery.to_string())),
        ("id", Value::from(delivery.id.to_string())),
        ("attempt", Value::from(u64::from(delivery.attempt))),
        ("lease_until", Value::from(delivery.lease_until.timestamp().to_string())),
        ("dialect", Value::from(outgoing.dialect.name())),
        ("document", request::options(outgoing.text.as_bytes())?.into_owned()),
    ]
    .into_iter()
    .collect();
    Ok(Value::Object(members))
}
