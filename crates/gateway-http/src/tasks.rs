//! Tasks: who works on what, and what somebody does with one.

use axum::extract::RawQuery;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use gateway::tasks::{Claim, Claimed, Deed, Done, List, TaskShown, shown, unknown};
use gateway::{Answer, At, Body, Caller, Problem, Query};
use json::Value;

use crate::messages;

/// Lists tasks.
pub(crate) async fn list(caller: Caller, RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let list = List::read(&caller, Query(query.as_deref()))?;
    let page = list.look(&caller).await?;
    let next = page.next.map_or(Value::Null, |next| Value::from(u64::from(next)));
    Ok(Answer::new().list("tasks", page.tasks).value("next", &next).respond(StatusCode::OK))
}

/// Shows one task, with what asked for it.
pub(crate) async fn show(
    caller: Caller,
    At(id): At<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let dialect = Query(query.as_deref()).dialect()?;
    let task = look(&caller, &id).await?;
    Ok(gateway::json_text(StatusCode::OK, task.whole(&caller.hub, dialect).await?))
}

/// Claims a task, or the next one that the caller may have.
pub(crate) async fn claim(
    caller: Caller,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let body = gateway::body(body)?;
    let dialect = Query(query.as_deref()).dialect()?;
    let key = gateway::idempotency_key(&headers);
    let claim = Claim::read(&caller.hub, &caller.principal, &gateway::fields(&body)?, key)?;
    let mut claimed = claim.carry_out(&caller.hub).await?;
    if let Claimed::Past(message) = claimed {
        let row = caller.hub.ask(move |history| history.message(message)).await?;
        let task = row.and_then(|row| row.task);
        claimed = claim.answer_past(&caller.hub, task.as_deref()).await?;
    }
    let answer = Answer::new();
    let answer = match claimed {
        Claimed::Claimed(task) => {
            answer.text("outcome", "claimed").raw("task", &task.whole(&caller.hub, dialect).await?)
        }
        Claimed::NoTasks => answer.text("outcome", "no_tasks").value("task", &Value::Null),
        Claimed::Missed { holder, detail } => answer
            .text("outcome", "missed")
            .value("task", &Value::Null)
            .maybe("holder", holder.as_deref())
            .text("detail", &detail),
        Claimed::Rejected { code, detail } => answer
            .text("outcome", "rejected")
            .value("task", &Value::Null)
            .text("code", code.name())
            .text("detail", &detail),
        Claimed::Past(_) => return Err(Problem::new(gateway::Code::Internal, "the claim is not known")),
    };
    Ok(answer.respond(StatusCode::OK))
}

/// Does something with a task: the message that says so goes to whom it concerns.
pub(crate) async fn act(
    caller: Caller,
    At((id, what)): At<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let body = gateway::body(body)?;
    let key = gateway::idempotency_key(&headers);
    let deed = Deed::read(&caller.hub, &caller.principal, &what, &gateway::fields(&body)?, key)?;
    let done = deed.carry_out(&caller.hub, &id).await?;
    let task = look(&caller, &id).await?;
    let (status, receipt) = match done {
        Done::Now(receipt) => (StatusCode::CREATED, *receipt),
        Done::Before(message) => {
            let mut receipt = messages::current_receipt(&caller, &message.to_string()).await?;
            receipt.duplicate = true;
            (StatusCode::OK, receipt)
        }
    };
    Ok(Answer::new().raw("task", &task.brief()).raw("receipt", &receipt.to_json()).respond(status))
}

async fn look(caller: &Caller, id: &str) -> Result<TaskShown, Problem> {
    shown(&caller.hub, &caller.principal, id, None).await?.ok_or_else(|| unknown(id))
}
