//! `POST /v1/messages` and the receipt of a message.

use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use broker::{Command, Receipted, Reply};
use gateway::{Incoming, Principal};
use json::{Limits, Object, Value};
use message::{AgentRef, MessageId, RecipientReceipt, Warning};
use node::Turn;

use crate::door::Door;
use crate::problem::Problem;
use crate::request;

/// Takes a document in.
pub(crate) async fn send(
    State(door): State<Door>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: request::Body,
) -> Result<Response, Problem> {
    let body = request::body(body)?;
    let dialect = request::dialect(query.as_deref(), &headers)?;
    let names = door.names();
    let incoming = gateway::receive(&body, dialect, &names, Limits::DOCUMENT)?;
    let key = headers.get("idempotency-key").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let accepted = door.call(request::token(&headers), move |turn, principal| {
        check_sender(turn, &principal, &incoming)?;
        let accept = incoming.accept(principal.speaker(), key.as_deref());
        let reply = turn.execute(&Command::Accept(Box::new(accept)))?;
        let Reply::Accepted(receipted) = reply else {
            return Err(Problem::bad_request("nothing was accepted"));
        };
        let recipients = turn.broker().receipt(receipted.id).unwrap_or_default();
        let warnings = incoming.warnings.clone();
        Ok((receipted, recipients, warnings))
    });
    let (receipted, recipients, warnings) = accepted.await?;
    let status = if receipted.duplicate { StatusCode::OK } else { StatusCode::CREATED };
    Ok(request::answer(status, &receipt_value(&receipted, &recipients, &warnings)))
}

/// Shows what became of a message, to whoever sent or got it and to the operator.
pub(crate) async fn receipt(
    State(door): State<Door>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id: MessageId = id.parse().map_err(|_| Problem::not_found("there is no such message"))?;
    let found = door.call(request::token(&headers), move |turn, principal| {
        let recipients = turn.broker().receipt(id);
        let recipients = recipients.ok_or_else(|| Problem::not_found("there is no such message here"))?;
        let is_party =
            |agent: &str| turn.broker().agent(agent).is_some_and(|agent| principal.must_be(agent).is_ok());
        let is_sender = turn.broker().sender(id).is_some_and(|sender| principal.must_be(sender).is_ok());
        if !is_sender && !recipients.iter().any(|recipient| is_party(&recipient.agent.to_string())) {
            return Err(Problem::not_found("there is no such message here"));
        }
        Ok(recipients)
    });
    let recipients = found.await?;
    let receipted = Receipted {
        id,
        message: None,
        duplicate: false,
        answer: None,
        wait_until: None,
        warnings: Vec::new(),
    };
    Ok(request::answer(StatusCode::OK, &receipt_value(&receipted, &recipients, &[])))
}

/// Refuses a document that says that somebody else sent it.
fn check_sender(turn: &Turn<'_>, principal: &Principal, incoming: &Incoming) -> Result<(), Problem> {
    let claimed = match &incoming.message.from {
        AgentRef::Name(name) => turn.broker().agent(name.as_str()),
        AgentRef::Alias(alias) => turn.broker().agent(alias.as_str()),
    };
    match claimed {
        Some(agent) if agent == principal.speaker() => Ok(()),
        Some(_) | None => {
            let from = incoming.message.from.as_str();
            Err(Problem::forbidden("not_yours", format!("this token does not speak for `{from}`")))
        }
    }
}

fn receipt_value<'r>(
    receipted: &'r Receipted,
    recipients: &'r [RecipientReceipt],
    warnings: &'r [Warning],
) -> Value<'r> {
    let stage = recipients.iter().map(|recipient| recipient.stage).min().unwrap_or(message::Stage::Stored);
    let all = warnings.iter().chain(&receipted.warnings);
    let members: Object<'r> = [
        ("id", Value::from(receipted.id.to_string())),
        ("stage", Value::from(stage.name())),
        ("recipients", Value::Array(recipients.iter().map(RecipientReceipt::to_value).collect())),
        ("duplicate", Value::from(receipted.duplicate)),
        ("warnings", Value::Array(all.map(Warning::to_value).collect())),
    ]
    .into_iter()
    .collect();
    Value::Object(members)
}
