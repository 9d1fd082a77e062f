//! Dead letters: what nobody took, why, and what to do with it.

use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::Response;
use broker::query::dead_letters::{DeadDetails, DeadOf, DeadPage};
use broker::{Command, EntryKey};
use gateway::{Code, Principal, Problem, Query};
use json::Value;
use message::MessageId;

use crate::messages;
use gateway::Answer;
use gateway::letters;
use gateway::{At, Caller};

/// Dead letters in one answer at most.
const LIST_MAX: usize = 10_000;
/// Dead letters that are looked at in one query.
const PAGE_MAX: usize = 500;

/// Lists the dead letters: the operator sees all, an agent what it sent.
pub(crate) async fn list(caller: Caller, RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let query = Query(query.as_deref());
    let limit = query.number("limit")?;
    let max = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(LIST_MAX).clamp(1, LIST_MAX);
    let from = match &caller.principal {
        Principal::Operator | Principal::Anybody => None,
        Principal::Agent(_) => Some(caller.principal.agents()),
    };
    let (mut dead, mut after) = (Vec::new(), query.number("after")?);
    loop {
        let wanted = PAGE_MAX.min(max - dead.len());
        let page = DeadPage { after, look_max: PAGE_MAX, max: wanted, from: from.clone() };
        let (found, next) = caller.hub.query(page).await?;
        dead.extend(found.iter().map(|dead| dead_text(dead, &caller.hub)));
        after = next;
        if after.is_none() || dead.len() == max {
            break;
        }
    }
    let answer = Answer::new().list("dead", dead);
    let answer = match limit {
        Some(_) => answer.value("next", &after.map_or(Value::Null, Value::from)),
        None => answer,
    };
    Ok(answer.respond(StatusCode::OK))
}

/// Gives the dead letters of a message another try.
pub(crate) async fn retry(caller: Caller, At(id): At<String>) -> Result<Response, Problem> {
    each(&caller, &id, |message, entry| Command::RetryDead { message, entry }).await?;
    messages::receipt(caller, At(id)).await
}

/// Clears the dead letters of a message away.
pub(crate) async fn remove(caller: Caller, At(id): At<String>) -> Result<Response, Problem> {
    each(&caller, &id, |message, entry| Command::DropDead { message, entry }).await?;
    Ok(Answer::new().respond(StatusCode::OK))
}

/// Does something with each dead letter of a message that the caller may act for; refused if nothing could be done with
/// any of them.
async fn each(
    caller: &Caller,
    id: &str,
    command: impl Fn(MessageId, EntryKey) -> Command,
) -> Result<(), Problem> {
    let none = || Problem::new(Code::NotDead, "there is no such dead letter here");
    let message: MessageId = id.parse().map_err(|_| none())?;
    let dead = caller.hub.query(DeadOf { message }).await?;
    let own = dead.iter().filter(|dead| caller.principal.acts_as(dead.from));
    let commands: Vec<Command> = own.map(|dead| command(message, dead.entry)).collect();
    let executed = caller.hub.execute_all(commands).await?;
    let (mut is_done, mut refused) = (false, None);
    for executed in executed {
        match executed.outcome {
            Ok(_) => is_done = true,
            Err(error) => refused = refused.or(Some(Problem::from(error))),
        }
    }
    if is_done { Ok(()) } else { Err(refused.unwrap_or_else(none)) }
}

fn dead_text(dead: &DeadDetails, hub: &gateway::Hub) -> String {
    Answer::new()
        .text("id", &dead.id.to_string())
        .maybe("from", hub.name_of(dead.from).as_ref().map(|name| name.as_str()))
        .text("kind", dead.kind.name())
        .text("to", &dead.to)
        .text("stage", dead.stage.name())
        .text("sent", &letters::came(dead.id).to_string())
        .text("at", &dead.at.timestamp().to_string())
        .text("reason", &dead.reason)
        .number("attempts", dead.attempts.into())
        .list("tried", dead.tried.iter().map(letters::tried))
        .end()
}
