//! Claims: the first in the order of the log has the task, and everybody is told at once how it is.

use axum::http::StatusCode;
use axum::response::Response;
use broker::Refusal;
use broker::query::task_steps::ConcernedTask;
use gateway::tasks::loses_claim;
use gateway::{Answer, Caller, Code, Problem, Submission};
use json::Value;
use node::CallError;

use crate::concern;

/// Takes a claim of a task in, and says whether it won.
pub(crate) async fn claim(
    caller: &Caller,
    submission: Submission,
    task: Option<ConcernedTask>,
) -> Result<Response, Problem> {
    if task.is_none() {
        let named = submission.accept.task.unwrap_or_default();
        let problem = Problem::new(Code::UnknownTask, format!("there is no task `{named}`"));
        return Ok(lost(&problem, None));
    }
    let (by, look) = (submission.accept.from, concern::look_of(&submission));
    let (accept, head) = submission.into_parts();
    match caller.hub.node().execute(accept).await {
        Ok(receipted) => {
            // A repeat says nothing of who has the task now.
            let holder = match receipted.duplicate {
                true => concern::holder(&caller.hub, look).await?,
                false => caller.hub.name_of(by).map(|name| name.to_string()),
            };
            let receipt = head.receipt(receipted);
            let answer = answer("claimed", holder);
            Ok(answer.raw("receipt", &receipt.to_json()).respond(StatusCode::OK))
        }
        Err(CallError::Refused(refusal)) => {
            // Nobody has a task that is refused for any other reason.
            let holder =
                if let Refusal::Missed { holder, .. } = &refusal { Some(holder.clone()) } else { None };
            let problem = Problem::from(refusal);
            let is_lost = problem.code == Code::Missed || loses_claim(problem.code);
            if is_lost { Ok(lost(&problem, holder)) } else { Err(problem) }
        }
        Err(error) => Err(error.into()),
    }
}

/// Says that a claim did not win, and who has the task.
fn lost(problem: &Problem, holder: Option<String>) -> Response {
    let outcome = if problem.code == Code::Missed { "missed" } else { "rejected" };
    let answer = answer(outcome, holder).text("reason", problem.code.name()).text("detail", &problem.detail);
    answer.respond(StatusCode::OK)
}

fn answer(outcome: &str, holder: Option<String>) -> Answer {
    let holder = holder.map_or(Value::Null, Value::from);
    Answer::new().text("outcome", outcome).value("holder", &holder)
}
