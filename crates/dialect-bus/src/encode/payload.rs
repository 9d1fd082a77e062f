//! Writing payloads.

use dialect::{Encoded, Sheet};
use json::{Object, Value};
use message::{Kind, Message, TaskStatus};

use super::link;
use crate::kinds::{self, MessageType};
use crate::{lenses, parts, presence, rules};

/// Writes everything of a payload but the message's data.
pub(super) fn write(sheet: &mut Sheet<'_>, message_type: MessageType) {
    write_task_type(sheet, message_type);
    sheet.write(lenses::family(message_type));
    write_status(sheet);
    write_result(sheet);
    write_presence(sheet);
    if !title_is_told(sheet.message(), message_type) {
        sheet.write(&[lenses::TITLE]);
    }
    sheet.write(lenses::SHARED);
    write_severity(sheet);
    sheet.write(lenses::GATE);
    match message_type {
        MessageType::Error => write_error_message(sheet),
        MessageType::TaskRequest
        | MessageType::TaskResponse
        | MessageType::StatusUpdate
        | MessageType::Heartbeat => sheet.write(lenses::NESTED_ERROR),
    }
}

/// Places the message's data: beside the payload's own fields where it cannot be taken for any of them and
/// nothing would be odd about it, else in a field of its own.
pub(super) fn place_data(encoded: &mut Encoded, message: &Message, message_type: MessageType) {
    let Some(data) = message.data.as_ref().filter(|data| !data.is_null()) else { return };
    if let Value::Object(members) = data
        && !matches!(message.kind, Kind::StateSync | Kind::Report)
        && let Some(payload) = merged(encoded, members, message_type)
    {
        for (key, _) in members.iter() {
            let key = key.replace('~', "~0").replace('/', "~1");
            encoded.links.push(link(format!("/payload/{key}"), format!("/data/{key}")));
        }
        encoded.document.insert("payload", payload);
        return;
    }
    place(encoded, "data", "/data", data.clone());
}

/// Places what the health of an agent does not say of its state: the number of its tasks, unless the data
/// brought one along, and the state itself where both do not tell it.
pub(super) fn place_state(encoded: &mut Encoded, message: &Message) {
    let Some(presence) = message.presence.as_deref().filter(|_| kinds::is_of_agent(message.kind)) else {
        return;
    };
    let count = presence::active_tasks(presence.state, presence.tasks.len());
    let payload = parts::part(&encoded.document, "payload");
    if let Some(count) =
        count.filter(|_| payload.is_some_and(|payload| !payload.contains_key("active_tasks")))
    {
        place(encoded, "active_tasks", "/presence/state", Value::from(count));
    }
    let status = parts::text_in(&encoded.document, "payload", "status").unwrap_or_default();
    let count =
        parts::part(&encoded.document, "payload").and_then(|payload| parts::count(payload, "active_tasks"));
    if presence::state(status, count) != Some(presence.state) {
        place(encoded, "state", "/presence/state", Value::from(presence.state.name()));
    }
}

/// Places one field of a payload.
pub(super) fn place(encoded: &mut Encoded, key: &'static str, canonical: &str, value: Value<'static>) {
    let native = format!("/payload/{key}");
    dialect::put(&mut encoded.document, &native, value);
    encoded.links.push(link(native, canonical.to_owned()));
}

fn merged(
    encoded: &Encoded,
    members: &Object<'static>,
    message_type: MessageType,
) -> Option<Object<'static>> {
    let mut payload = parts::part(&encoded.document, "payload").cloned().unwrap_or_default();
    let is_free = |key: &str| !lenses::is_spoken_for(key) && !payload.contains_key(key);
    if members.is_empty() || !members.iter().all(|(key, _)| is_free(key)) {
        return None;
    }
    for (key, value) in members.iter() {
        payload.insert(key.to_owned(), value.clone());
    }
    rules::is_plain_payload(message_type, &payload).then_some(payload)
}

/// Writes what is to be done. Requests that are not for work say so here; a title of one word names the work.
fn write_task_type(sheet: &mut Sheet<'_>, message_type: MessageType) {
    let message = sheet.message();
    let special = kinds::special_task_type(message.kind).filter(|_| message_type == MessageType::TaskRequest);
    if let Some(special) = special {
        sheet.set("/payload/task_type", "/kind", special);
        sheet.write(&[lenses::SUBTYPE]);
        return;
    }
    sheet.write(&[lenses::TASK_TYPE]);
    if message_type == MessageType::TaskRequest
        && !sheet.has("/payload/task_type")
        && let Some(title) = message.title.as_deref().filter(|title| is_word(title))
    {
        sheet.set("/payload/task_type", "/title", title.to_owned());
    }
}

/// Tells whether a reader finds the title of a request in its description or in the sort of work.
fn title_is_told(message: &Message, message_type: MessageType) -> bool {
    let Some(title) = message.title.as_deref() else { return true };
    if message_type != MessageType::TaskRequest {
        return false;
    }
    if let Some(text) = message.text.as_deref() {
        return text == title;
    }
    let task_type = message.brief.as_ref().and_then(|brief| brief.task_type.as_deref());
    kinds::special_task_type(message.kind).is_none()
        && task_type.map_or_else(|| is_word(title), |task_type| task_type == title)
}

/// Writes how far the task is: as the message says, else as its kind does.
fn write_status(sheet: &mut Sheet<'_>) {
    let message = sheet.message();
    if kinds::is_of_agent(message.kind) {
        sheet.write(&[lenses::TASK_STATUS]);
        return;
    }
    sheet.write(&[lenses::STATUS]);
    let implied = match message.kind.task_status() {
        Some(TaskStatus::Claimed) => "claimed",
        Some(TaskStatus::Blocked) => "blocked",
        Some(TaskStatus::Done) => "completed",
        Some(TaskStatus::Rejected) => "rejected",
        // An error says by its type that the task failed.
        Some(TaskStatus::Failed | TaskStatus::Pending | TaskStatus::Running | TaskStatus::Cancelled)
        | None => return,
    };
    if message.status.is_none() {
        sheet.set("/payload/status", "/kind", implied);
    }
}

/// Writes the outcome: a list of findings, as reviews have them, in its own field.
fn write_result(sheet: &mut Sheet<'_>) {
    let message = sheet.message();
    let is_answer = matches!(message.kind, Kind::TaskDone | Kind::ReviewVerdict);
    let is_finding = |item: &Value<'_>| item.get("severity").is_some() && item.get("message").is_some();
    let findings = message.result.as_ref().and_then(Value::as_array);
    if is_answer && findings.is_some_and(|items| !items.is_empty() && items.iter().all(is_finding)) {
        let payload = [("findings", message.result.clone().unwrap_or(Value::Null))].into_iter().collect();
        if rules::is_plain_payload(MessageType::TaskResponse, &payload) {
            sheet.write(&[lenses::FINDINGS]);
            return;
        }
    }
    sheet.write(&[lenses::RESULT]);
}

/// Writes how the agent is; in messages about the agent the status is its health.
fn write_presence(sheet: &mut Sheet<'_>) {
    let message = sheet.message();
    let Some(presence) = message.presence.as_deref() else { return };
    if kinds::is_of_agent(message.kind) {
        let status = presence::health(presence.state, presence.sub.as_deref());
        sheet.set("/payload/status", "/presence/state", status);
        if presence::is_finer(status, presence.state) && presence.sub.as_deref() == Some(status) {
            sheet.link("/payload/status", "/presence/sub");
        } else {
            sheet.write(&[lenses::SUBSTATE]);
        }
    } else {
        sheet.write(&[lenses::STATE, lenses::SUBSTATE]);
    }
    sheet.write(lenses::PRESENCE);
}

/// How bad an error is may be said of the error alone.
fn write_severity(sheet: &mut Sheet<'_>) {
    let severity = sheet.message().error.as_ref().and_then(|error| error.severity);
    if let Some(severity) = severity.filter(|_| !sheet.has("/payload/severity")) {
        sheet.set("/payload/severity", "/error/severity", severity.name());
    }
}

/// An error without a message of its own says what the text or the title says.
fn write_error_message(sheet: &mut Sheet<'_>) {
    if sheet.has("/payload/message") {
        return;
    }
    let message = sheet.message();
    if let Some(text) = &message.text {
        sheet.set("/payload/message", "/text", text.clone());
    } else if let Some(title) = &message.title {
        sheet.set("/payload/message", "/title", title.clone());
    }
}

/// Tells whether a title is one word that can name a sort of work.
fn is_word(title: &str) -> bool {
    let is_next = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    title.starts_with(|first: char| first.is_ascii_alphabetic()) && title.chars().all(is_next)
}
