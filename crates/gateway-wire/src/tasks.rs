//! A task as wires tell it: how far it is, who has it, the brief, and all that was said about it.

use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::Response;
use broker::{Broker, TaskView};
use dialect::Name;
use gateway::letters;
use gateway::tasks::{may_read, unknown};
use gateway::{Answer, At, Caller, Hub, Problem, Query, Stored};
use history::of_task;
use json::Value;
use message::{MessageId, Seq, TaskStatus};

use crate::{concern, topics};

/// What is known of a task.
struct Known {
    id: String,
    status: &'static str,
    holder: Option<String>,
    /// The request, for those who may read it.
    request: Option<(MessageId, Seq)>,
    pointer: String,
}

/// Shows a task.
pub(crate) async fn show(
    caller: Caller,
    At(id): At<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let query = Query(query.as_deref());
    let principal = caller.principal.clone();
    let known = caller.hub.call(move |turn| {
        let broker = turn.broker();
        let task = concern::find(broker, &id).ok_or_else(|| unknown(&id))?;
        let request = task.request.zip(task.body).filter(|_| may_read(broker, &task, &principal));
        Ok(Known {
            id: task.id.to_owned(),
            status: status(&task),
            holder: task.holder.map(|holder| broker.called(holder).to_owned()),
            request,
            pointer: pointer(broker, &task),
        })
    });
    let known = known.await?;
    let task_id = dialect_wire::task_id(&known.id);
    let brief = brief(&caller.hub, &known)?;
    let page = topics::page(&caller, &of_task(&known.id), query).await?;
    let next = page.next.map(|after| format!("/wire/tasks/{}?after={after}", topics::quoted(&task_id)));
    let links = Answer::new().value("next", &next.map_or(Value::Null, Value::from)).end();
    let holder = known.holder.map_or(Value::Null, Value::from);
    let said = page.entries.into_iter().map(|entry| entry.message).filter(|message| message != "null");
    let answer = Answer::new().text("task_id", &task_id).text("status", known.status);
    let answer = answer.value("holder", &holder).raw("brief", &brief);
    Ok(answer.list("messages", said).raw("links", &links).respond(StatusCode::OK))
}

/// Writes the brief as a wire; its pointer for those who may not read it, null where the log no longer has it.
fn brief(hub: &Hub, known: &Known) -> Result<String, Problem> {
    let Some((id, place)) = known.request else { return Ok(known.pointer.clone()) };
    let read = hub.node().body(place);
    if letters::is_gone(&read) {
        return Ok("null".to_owned());
    }
    let body = read.map_err(letters::unreadable)?;
    Ok(letters::outgoing(hub, Stored::now(&body, id), Some(Name::Wire))?.text)
}

fn pointer(broker: &Broker, task: &TaskView<'_>) -> String {
    let role = task.group.and_then(|group| broker.address_of_group(group));
    let role = role.and_then(|role| role.strip_prefix("roles.")).unwrap_or("any");
    topics::available(task.id, broker.called(task.requester), role, task.created.timestamp())
}

/// Returns how far a task is, in the words of wires and of those who read them.
fn status(task: &TaskView<'_>) -> &'static str {
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
