//! A task as wires tell it: how far it is, who has it, the brief, and all that was said about it.

use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::Response;
use broker::query::tasks::{FindTask, TaskDetails};
use dialect::Name;
use gateway::letters;
use gateway::tasks::{may_read, unknown};
use gateway::{Answer, At, Caller, Hub, Problem, Query};
use history::of_task;
use json::Value;
use message::{MessageId, Seq, TaskStatus};

use crate::topics;

/// Shows a task.
pub(crate) async fn show(
    caller: Caller,
    At(id): At<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let query = Query(query.as_deref());
    let readers = caller.principal.agents();
    let wanted = FindTask { id: id.as_str().into(), number: dialect_wire::stand_in_number(&id), readers };
    let task = caller.hub.query(wanted).await?.ok_or_else(|| unknown(&id))?;
    let task_id = dialect_wire::task_id(&task.id);
    let request = task.request.zip(task.body).filter(|_| may_read(&task, &caller.principal));
    let brief = brief(&caller.hub, &task, request).await?;
    let page = topics::page(&caller, &of_task(&task.id), query).await?;
    let next = page.next.map(|after| format!("/wire/tasks/{}?after={after}", topics::quoted(&task_id)));
    let links = Answer::new().value("next", &next.map_or(Value::Null, Value::from)).end();
    let holder = task.holder.as_ref().map_or(Value::Null, |holder| Value::from(holder.name.to_string()));
    let said = page.entries.into_iter().map(|entry| entry.message).filter(|message| message != "null");
    let answer = Answer::new().text("task_id", &task_id).text("status", status(&task));
    let answer = answer.value("holder", &holder).raw("brief", &brief);
    Ok(answer.list("messages", said).raw("links", &links).respond(StatusCode::OK))
}

/// Writes the brief as a wire; its pointer for those who may not read it, null where the log no longer has it.
async fn brief(hub: &Hub, task: &TaskDetails, request: Option<(MessageId, Seq)>) -> Result<String, Problem> {
    let Some((id, place)) = request else { return Ok(pointer(task)) };
    let read = hub.node().body(place).await;
    if letters::is_gone(&read) {
        return Ok("null".to_owned());
    }
    let body = read.map_err(letters::unreadable)?;
    Ok(letters::view(hub, (id, place), &body, Some(Name::Wire)).await?.text)
}

fn pointer(task: &TaskDetails) -> String {
    let role = task.role.as_deref().and_then(|role| role.strip_prefix("roles.")).unwrap_or("any");
    topics::available(&task.id, &task.requester.name, role, task.created.timestamp())
}

/// Returns how far a task is, in the words of wires and of those who read them.
fn status(task: &TaskDetails) -> &'static str {
    match task.status {
        TaskStatus::Pending if task.asked.is_empty() => "available",
        TaskStatus::Pending => "assigned",
        TaskStatus::Claimed => "claimed",
        TaskStatus::Running => "started",
        TaskStatus::Blocked => "blocked",
        TaskStatus::Done => "complete",
        TaskStatus::Failed => "failed",
        TaskStatus::Rejected => "rejected",
        TaskStatus::Cancelled => "cancelled",
    }
}
