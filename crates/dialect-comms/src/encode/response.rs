//! What a response answers, how the work stands, and why.

use dialect::Sheet;
use message::{Kind, Message, Reference, TaskId, TaskStatus};

use super::fields::{Shows, counterpart, write_words};
use crate::lenses::{self, ERROR_MESSAGE_BYTES_MAX};
use crate::words::BLOCKED;
use crate::{Record, ids};

/// Writes what a response answers: the task, or what it replies to where that is not the task.
pub(super) fn write_request(sheet: &mut Sheet<'_>) {
    let message = sheet.message();
    let task = message.task.as_ref().map(TaskId::as_str).map(|task| (task, "/task"));
    let reply = message.reply_to.as_ref().map(Reference::as_str).map(|reply| (reply, "/reply_to"));
    let (first, second) = if message.kind == Kind::HandoffReply { (reply, task) } else { (task, reply) };
    let is_uri = |named: &(&str, &str)| ids::is_at_uri(named.0);
    let correlation = message.correlation.as_ref().map(|named| (named.as_str(), "/correlation"));
    let thread = message.thread.as_ref().map(|named| (named.as_str(), "/thread"));
    let named =
        first.filter(is_uri).or(second.filter(is_uri)).or(first).or(second).or(correlation).or(thread);
    let record = if message.kind == Kind::HandoffReply { Record::Handoff } else { Record::Request };
    let authority = counterpart(sheet);
    match named {
        Some((text, canonical)) => sheet.set("/request", canonical, ids::at_uri_of(text, &authority, record)),
        None => {
            let uri = ids::at_uri_of(ids::record_key(message).as_str(), &authority, record);
            sheet.invent("/request", uri);
        }
    }
    if message.to.iter().any(|address| ids::agent_of(address).is_some()) {
        sheet.link("/request", "/to");
    }
}

/// Tells whether the status of a response says what kind it is.
pub(super) fn status_tells_kind(kind: Kind) -> bool {
    !matches!(kind, Kind::HelpReply | Kind::HandoffReply | Kind::ReviewVerdict)
}

/// Returns the status of the response that a message is.
pub(super) fn status_of(message: &Message) -> &'static str {
    match message.kind {
        Kind::TaskClaim | Kind::TaskProgress | Kind::TaskBlocked => "partial",
        Kind::TaskFailed => "error",
        Kind::TaskRejected => "rejected",
        Kind::HelpReply | Kind::HandoffReply | Kind::ReviewVerdict => match message.status {
            Some(TaskStatus::Rejected) => "rejected",
            Some(TaskStatus::Failed | TaskStatus::Cancelled) => "error",
            None if message.error.is_none() => "ok",
            None if message.kind == Kind::HandoffReply => "rejected",
            None => "error",
            Some(
                TaskStatus::Pending
                | TaskStatus::Claimed
                | TaskStatus::Running
                | TaskStatus::Blocked
                | TaskStatus::Done,
            ) => "ok",
        },
        Kind::Note
        | Kind::Announce
        | Kind::TaskRequest
        | Kind::TaskDone
        | Kind::HelpAsk
        | Kind::HandoffOffer
        | Kind::AgentStatus
        | Kind::AgentHeartbeat
        | Kind::ErrorReport
        | Kind::Gate
        | Kind::Question
        | Kind::StateSync
        | Kind::Report => "ok",
    }
}

/// Writes why. An error or a rejection must say something: the text where the error has none, else a code.
pub(super) fn write_error(sheet: &mut Sheet<'_>, status: &str) -> Shows {
    let message = sheet.message();
    if message.kind == Kind::TaskBlocked {
        sheet.set("/error/code", "/kind", BLOCKED);
    }
    sheet.write(lenses::ERROR_CODE);
    sheet.write(lenses::ERROR_MESSAGE);
    let mut shows = None;
    if !sheet.has("/error/message") && message.kind != Kind::TaskProgress && message.kind != Kind::TaskClaim {
        let none = ("", "", None);
        let words = [
            ("text", "/text", message.text.as_deref()),
            ("title", "/title", message.title.as_deref()),
            none,
            none,
        ];
        shows = write_words(sheet, "/error/message", ERROR_MESSAGE_BYTES_MAX, words);
    }
    sheet.write(lenses::ERROR_RETRYABLE);
    if status != "partial" && !sheet.has("/error/code") && !sheet.has("/error/message") {
        sheet.invent("/error/code", if status == "rejected" { "REJECTED" } else { "FAILED" });
    }
    shows
}
