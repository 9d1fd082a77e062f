//! A task as the shared state shows it.

use broker::query::tasks::{NoteDetails, TaskDetails};
use json::{Object, Value};
use message::{Message, TaskStatus};

use super::object_of;

/// Returns the word of the specification for a status.
pub fn native_status(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Pending | TaskStatus::Blocked => "pending",
        TaskStatus::Claimed | TaskStatus::Running => "in_progress",
        TaskStatus::Done => "completed",
        TaskStatus::Failed | TaskStatus::Rejected => "failed",
        TaskStatus::Cancelled => "cancelled",
    }
}

/// Writes a task as a `TaskState`: what is known of it beside its state, and over that what the bus knows.
pub(super) fn task_state(task: &TaskDetails, outcome: Option<&Message>) -> String {
    let mut state = object_of(&task.overlay);
    let context = state.get("context").and_then(Value::as_object).cloned().unwrap_or_default();
    state.insert("id", Value::from(task.id.to_string()));
    state.insert("status", native_status(task.status));
    let assigned = task.holder.as_ref().or(match task.asked.as_slice() {
        [only] => Some(only),
        [] | [..] => None,
    });
    match assigned {
        Some(agent) => drop(state.insert("assigned_agent", Value::from(agent.name.to_string()))),
        None => drop(state.remove("assigned_agent")),
    }
    state.insert("created_at", Value::from(task.created.timestamp().to_string()));
    state.insert("updated_at", Value::from(task.updated.timestamp().to_string()));
    state.insert("context", context_of(task, context));
    let ended = outcome.map(Message::to_value);
    let part = |key: &str| ended.as_ref().and_then(|ended| ended.get(key)).cloned().map(Value::into_owned);
    if let Some(result) = part("result").or_else(|| part("text")).filter(|_| task.status == TaskStatus::Done)
    {
        state.insert("result", result);
    }
    if matches!(task.status, TaskStatus::Failed | TaskStatus::Rejected) {
        state.insert("error", error(task));
    }
    Value::Object(state).to_json()
}

/// Writes the `TaskContext`, with the finer word for the status in its metadata.
fn context_of(task: &TaskDetails, mut context: Object<'static>) -> Value<'static> {
    let mut metadata = context.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    metadata.insert("x_state", task.status.name());
    context.insert("task_id", Value::from(task.id.to_string()));
    if !context.contains_key("task_type") {
        let title = if task.title.is_empty() { "task" } else { &*task.title };
        context.insert("task_type", Value::from(title.to_owned()));
    }
    context.insert("priority", task.priority.name());
    context.insert("metadata", Value::Object(metadata));
    let dependencies = task.dependencies.iter().map(|name| Value::from(name.to_string())).collect();
    context.insert("dependencies", Value::Array(dependencies));
    let event = |note: &NoteDetails| -> Value<'static> {
        let members: Object<'static> = [
            ("timestamp", Value::from(note.at.timestamp().to_string())),
            ("event_type", Value::from(note.step.name())),
            ("agent_id", Value::from(note.by.to_string())),
            ("details", Value::Object(Object::new())),
        ]
        .into_iter()
        .collect();
        Value::Object(members)
    };
    context.insert("history", Value::Array(task.notes.iter().map(event).collect()));
    Value::Object(context)
}

/// Writes why a task came to nothing, as an `ErrorReport`.
fn error(task: &TaskDetails) -> Value<'static> {
    let by = task.holder.as_ref().unwrap_or(&task.requester);
    let reason = if task.reason.is_empty() { task.status.name() } else { &*task.reason };
    let empty = || Value::Array(Vec::new());
    let members: Object<'static> = [
        ("error_id", Value::from(format!("{}/{}", task.id, task.version))),
        ("agent_id", Value::from(by.name.to_string())),
        ("task_id", Value::from(task.id.to_string())),
        ("error_type", Value::from("INTERNAL_ERROR")),
        ("severity", Value::from("medium")),
        ("message", Value::from(reason.to_owned())),
        ("context", Value::Object(Object::new())),
        ("recovery_attempts", empty()),
        ("suggested_actions", empty()),
    ]
    .into_iter()
    .collect();
    Value::Object(members)
}
