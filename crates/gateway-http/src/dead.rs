//! Dead letters: what nobody took, why, and what to do with it.

use axum::http::StatusCode;
use axum::response::Response;
use broker::{Command, DeadView, EntryKey};
use gateway::{Code, Problem};
use message::MessageId;

use crate::messages;
use gateway::Answer;
use gateway::letters;
use gateway::{At, Caller};

/// Dead letters in one answer at most.
const LIST_MAX: usize = 10_000;

/// Lists the dead letters: the operator sees all, an agent what it sent.
pub(crate) async fn list(caller: Caller) -> Result<Response, Problem> {
    let Caller { hub, principal } = caller;
    let names = hub.clone();
    let dead = hub.call(move |turn| {
        let own = turn.broker().dead_letters().filter(|dead| principal.acts_as(dead.from));
        Ok(own.take(LIST_MAX).map(|dead| dead_text(&dead, &names)).collect::<Vec<_>>())
    });
    Ok(Answer::new().list("dead", dead.await?).respond(StatusCode::OK))
}

/// Gives the dead letters of a message another try.
pub(crate) async fn retry(caller: Caller, At(id): At<String>) -> Result<Response, Problem> {
    each(&caller, &id, |entry| Command::RetryDead { entry }).await?;
    messages::receipt(caller, At(id)).await
}

/// Clears the dead letters of a message away.
pub(crate) async fn remove(caller: Caller, At(id): At<String>) -> Result<Response, Problem> {
    each(&caller, &id, |entry| Command::DropDead { entry }).await?;
    Ok(Answer::new().respond(StatusCode::OK))
}

async fn each(
    caller: &Caller,
    id: &str,
    command: impl Fn(EntryKey) -> Command + Send + 'static,
) -> Result<(), Problem> {
    let none = || Problem::new(Code::NotDead, "there is no such dead letter here");
    let id: MessageId = id.parse().map_err(|_| none())?;
    let principal = caller.principal.clone();
    caller
        .hub
        .call(move |turn| {
            let own =
                turn.broker().dead_letters().filter(|dead| dead.id == id && principal.acts_as(dead.from));
            let entries: Vec<EntryKey> = own.map(|dead| dead.entry).collect();
            if entries.is_empty() {
                return Err(none());
            }
            for entry in entries {
                turn.execute(&command(entry))?;
            }
            Ok(())
        })
        .await
}

fn dead_text(dead: &DeadView<'_>, hub: &gateway::Hub) -> String {
    Answer::new()
        .text("id", &dead.id.to_string())
        .maybe("from", hub.name_of(dead.from).as_ref().map(|name| name.as_str()))
        .text("kind", dead.kind.name())
        .text("to", &dead.to)
        .text("stage", dead.stage.name())
        .text("sent", &letters::came(dead.id).to_string())
        .text("at", &dead.at.timestamp().to_string())
        .text("reason", dead.reason)
        .number("attempts", dead.attempts.into())
        .list("tried", dead.tried.iter().map(|tried| letters::tried(tried)))
        .end()
}
