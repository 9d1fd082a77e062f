//! Claims: the first in the order of the log has the task, and everybody is told at once how it is.

use axum::http::StatusCode;
use axum::response::Response;
use gateway::tasks::loses_claim;
use gateway::{Answer, Caller, Code, Problem, Sending, receipt_of};
use json::Value;
use message::TaskId;

use crate::concern;

/// Takes a claim in, and says whether it won.
pub(crate) async fn claim(caller: &Caller, sending: Sending) -> Result<Response, Problem> {
    let task = sending.incoming.message.task.as_ref().map(TaskId::as_str).unwrap_or_default().to_owned();
    let named = task.clone();
    let accepted = caller.hub.call(move |turn| {
        if concern::find(turn.broker(), &named).is_none() {
            return Err(Problem::new(Code::UnknownTask, format!("there is no task `{named}`")));
        }
        let accepted = sending.accept_and_look(turn)?;
        let broker = turn.broker();
        let holder = concern::find(broker, &named).and_then(|task| task.holder);
        let holder = holder.map(|holder| broker.called(holder).to_owned());
        Ok((receipt_of(&sending.incoming, accepted.receipted, accepted.recipients), holder))
    });
    let problem = match accepted.await {
        Ok((receipt, holder)) => {
            let answer = answer("claimed", holder);
            return Ok(answer.raw("receipt", &receipt.to_json()).respond(StatusCode::OK));
        }
        Err(problem) => problem,
    };
    let is_missed = problem.code == Code::Missed;
    if !is_missed && !loses_claim(problem.code) && problem.code != Code::UnknownTask {
        return Err(problem);
    }
    let holder = caller.hub.call(move |turn| {
        let holder = concern::find(turn.broker(), &task).and_then(|task| task.holder);
        Ok(holder.map(|holder| turn.broker().called(holder).to_owned()))
    });
    let answer = answer(if is_missed { "missed" } else { "rejected" }, holder.await?);
    let answer = answer.text("reason", problem.code.name()).text("detail", &problem.detail);
    Ok(answer.respond(StatusCode::OK))
}

fn answer(outcome: &str, holder: Option<String>) -> Answer {
    let holder = holder.map_or(Value::Null, Value::from);
    Answer::new().text("outcome", outcome).value("holder", &holder)
}
