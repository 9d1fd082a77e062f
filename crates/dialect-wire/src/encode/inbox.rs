//! Writing messages to somebody's inbox.

use dialect::Sheet;
use json::Value;
use message::{Kind, Message};

use super::{addresses, extend};
use crate::extensions as x;
use crate::form::MessageType;
use crate::speech::{common_parts, speech, state_parts};
use crate::stand_in::{recipient, task_id};
use crate::syntax::is_task_id;
use crate::view::priority_number;

/// Words of a text that make its subject.
const SUBJECT_WORDS_MAX: usize = 8;

pub(super) fn inbox(sheet: &mut Sheet<'_>, message_type: MessageType) {
    let message = sheet.message();
    let to = addresses(message, sheet.names());
    let to_agent = to.first().map_or_else(|| "all".to_owned(), |to| recipient(to));
    sheet.set("/payload/to_agent", "/to", to_agent);
    match message.priority {
        Some(priority) => sheet.set("/payload/priority", "/priority", priority_number(priority)),
        None => sheet.invent("/payload/priority", message_type.priority()),
    }
    sheet.set("/payload/message_type", "/kind", message_type.name());
    match &message.task {
        Some(task) => {
            sheet.set("/payload/ref_task_id", "/task", task_id(task.as_str()));
            if !is_task_id(task.as_str()) {
                sheet.invent("/payload/ref_task_id", task_id(task.as_str()));
            }
        }
        None => sheet.invent("/payload/ref_task_id", Value::Null),
    }
    write_subject(sheet);
    write_body(sheet);
    write_gate(sheet, message_type);
}

fn write_subject(sheet: &mut Sheet<'_>) {
    let message = sheet.message();
    match message.title.as_deref() {
        Some(title) if !title.is_empty() => sheet.set("/payload/subject", "/title", title.to_owned()),
        Some(_) | None => sheet.invent("/payload/subject", made_subject(message)),
    }
}

/// Makes a subject of the first words, or says what sort of message it is.
fn made_subject(message: &Message) -> String {
    let text = message.text.as_deref().unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().take(SUBJECT_WORDS_MAX).collect();
    match (&message.task, words.is_empty()) {
        (_, false) => words.join(" "),
        (Some(task), true) => format!("{} {task}", message.kind),
        (None, true) => message.kind.to_string(),
    }
}

fn write_body(sheet: &mut Sheet<'_>) {
    let message = sheet.message();
    let mut parts = state_parts(message);
    parts.extend(common_parts(message, 0));
    let speech = speech(message.text.as_deref(), &parts, None);
    let is_more_than_text = speech.is_more_than_text;
    sheet.set("/payload/body", "/text", speech.visible);
    if is_more_than_text && let Some(text) = &message.text {
        extend(sheet, x::TEXT, "/text", text.clone());
    }
    let error = message.error.as_deref();
    if let Some(code) = error.and_then(|error| error.code.as_deref()) {
        extend(sheet, x::ERROR_CODE, "/error/code", code.to_owned());
    }
    if let Some(text) = error.and_then(|error| error.message.as_deref()) {
        extend(sheet, x::ERROR_MESSAGE, "/error/message", text.to_owned());
    }
}

fn write_gate(sheet: &mut Sheet<'_>, message_type: MessageType) {
    let message = sheet.message();
    match message.gate.as_deref() {
        Some(gate) => {
            sheet.set("/payload/action_required", "/gate/action_required", gate.action_required);
            if let Some(decision) = gate.decision.filter(|_| message_type == MessageType::ExecGate) {
                extend(sheet, x::DECISION, "/gate/decision", decision.name());
            }
        }
        None => sheet.invent("/payload/action_required", wants_action(message.kind)),
    }
}

/// Tells whether a message of that kind waits for its recipient.
fn wants_action(kind: Kind) -> bool {
    match kind {
        Kind::Gate
        | Kind::Question
        | Kind::HelpAsk
        | Kind::ReviewVerdict
        | Kind::TaskBlocked
        | Kind::TaskFailed
        | Kind::TaskRejected
        | Kind::ErrorReport => true,
        Kind::Note
        | Kind::Announce
        | Kind::TaskRequest
        | Kind::TaskClaim
        | Kind::TaskProgress
        | Kind::TaskDone
        | Kind::HelpReply
        | Kind::HandoffOffer
        | Kind::HandoffReply
        | Kind::AgentStatus
        | Kind::AgentHeartbeat
        | Kind::StateSync
        | Kind::Report => false,
    }
}
