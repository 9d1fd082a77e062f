//! Writing what stands around the payload: links, urgency, lifetime and retries.

use std::time::Duration;

use dialect::{Codec, Sheet};
use message::{Kind, Message, TaskStatus, Timestamp};

use super::{Facts, demand};
use crate::envelope::Payload;
use crate::ids::as_uuid;
use crate::message_type::implied_priority;
use crate::states;

/// Writes the metadata of a message.
pub(super) fn write(sheet: &mut Sheet<'_>, facts: &Facts) {
    links(sheet, facts);
    sheet.write_one("/metadata/priority", "/priority", Codec::Text);
    demand(sheet, "/metadata/priority", implied_priority(facts.sort.message_type()).name());
    lifetime(sheet);
    sheet.invent("/metadata/retry_count", 0_i64);
    sheet.write_one("/metadata/max_retries", "/delivery/retries", Codec::Same);
    demand(sheet, "/metadata/max_retries", 0_i64);
    let kind = sheet.message().kind;
    if matches!(kind, Kind::Question | Kind::Gate) {
        sheet.set("/metadata/x_kind", "/kind", kind.name());
    }
    finer_state(sheet, facts);
}

/// Puts the links that the correlation id does not say into the bag.
pub(super) fn carry_links(sheet: &mut Sheet<'_>, facts: &Facts) {
    let message = sheet.message();
    let chosen = correlation(message, facts);
    let is_response = facts.sort.is_response();
    let is_said = |canonical: &str, id: &str| {
        let is_source = chosen.as_ref().is_some_and(|(source, said)| *source == canonical && said == id);
        // A correlation id is read as a correlation, and in a response also as what it answers.
        is_source && (canonical == "/correlation" || (canonical == "/reply_to" && is_response))
    };
    for (canonical, id) in [
        ("/correlation", message.correlation.as_ref().map(|id| id.as_str())),
        ("/reply_to", message.reply_to.as_ref().map(|id| id.as_str())),
        ("/thread", message.thread.as_ref().map(|id| id.as_str())),
    ] {
        if let Some(id) = id.filter(|id| !is_said(canonical, id)) {
            sheet.set(&format!("{}{canonical}", facts.sort.bag_place()), canonical, id.to_owned());
        }
    }
}

fn links(sheet: &mut Sheet<'_>, facts: &Facts) {
    let chosen = correlation(sheet.message(), facts);
    let is_response = facts.sort.is_response();
    let source = chosen.as_ref().map(|(source, _)| *source);
    match (&chosen, is_response) {
        (Some((source, id)), _) => sheet.set("/metadata/correlation_id", source, id.clone()),
        (None, true) => sheet.invent("/metadata/correlation_id", facts.id.clone()),
        (None, false) => {}
    }
    if facts.sort == Payload::HelpResponse {
        let request = chosen.as_ref().map_or(&facts.id, |(_, id)| id).clone();
        match source {
            Some(source) => sheet.set("/payload/request_id", source, request),
            None => sheet.invent("/payload/request_id", request),
        }
    }
}

/// A response names its request; any other message is linked by what it is correlated with, the message that it
/// answers, its task or its conversation.
fn correlation(message: &Message, facts: &Facts) -> Option<(&'static str, String)> {
    let correlation = message.correlation.as_ref().map(|id| ("/correlation", id.as_str().to_owned()));
    let reply_to = message.reply_to.as_ref().map(|id| ("/reply_to", as_uuid(id.as_str())));
    let task = message.task.as_ref().map(|id| ("/task", id.as_str().to_owned()));
    let thread = message.thread.as_ref().map(|id| ("/thread", id.as_str().to_owned()));
    if facts.sort.is_response() {
        reply_to.or(correlation).or(thread).or(task)
    } else {
        correlation.or(reply_to).or(task).or(thread)
    }
}

fn lifetime(sheet: &mut Sheet<'_>) {
    let message = sheet.message();
    let wishes = message.delivery.as_deref();
    if wishes.is_some_and(|wishes| wishes.live_only) {
        sheet.set("/metadata/ttl_ms", "/delivery/live_only", 0_i64);
        return;
    }
    let (lifetime, source) = match (until_expiry(message), timeout(message)) {
        (Some(expiry), Some(timeout)) if timeout < expiry => (timeout, "/delivery/timeout"),
        (Some(expiry), _) => (expiry, "/expires"),
        (None, Some(timeout)) => (timeout, "/delivery/timeout"),
        (None, None) => return,
    };
    // Nothing would mean that only those get it who listen now, so a lifetime is at least a millisecond.
    let milliseconds = lifetime.as_nanos().div_ceil(1_000_000).max(1);
    sheet.set("/metadata/ttl_ms", source, u64::try_from(milliseconds).unwrap_or(u64::MAX));
}

fn until_expiry(message: &Message) -> Option<Duration> {
    let epoch = || Timestamp::from_unix_micros(0).ok();
    let created = message.created.as_ref().map(|created| created.at()).or_else(epoch)?;
    let expires = message.expires.as_ref()?.at();
    Some(expires.duration_since(created).unwrap_or(Duration::ZERO))
}

/// A recipient here has no substitutes, so the time that it has to take the message is the message's lifetime.
/// Without a time of creation it would have passed long ago.
fn timeout(message: &Message) -> Option<Duration> {
    message.created.as_ref()?;
    message.delivery.as_ref()?.timeout.as_ref().map(|timeout| timeout.duration())
}

/// Writes the state that the words of the specification are too coarse for.
fn finer_state(sheet: &mut Sheet<'_>, facts: &Facts) {
    let message = sheet.message();
    match facts.sort {
        Payload::Update => {
            let inferred = |native| states::inferred(message.kind, native);
            let implied = inferred(states::usual(message.kind));
            let Some(status) = message.status.or(implied) else { return };
            // These two have no word in the specification at all, so users look for them here.
            let is_foreign = matches!(status, TaskStatus::Blocked | TaskStatus::Rejected);
            if is_foreign || inferred(states::native(status)) != Some(status) {
                let source = if message.status.is_some() { "/status" } else { "/kind" };
                sheet.set("/metadata/x_state", source, states::finer(status));
            }
        }
        Payload::Status | Payload::Heartbeat => {
            sheet.write_one("/metadata/x_state", "/presence/sub", Codec::Text);
        }
        Payload::Assignment
        | Payload::HandoffRequest
        | Payload::HandoffResponse
        | Payload::Complete
        | Payload::Failed
        | Payload::HelpRequest
        | Payload::HelpResponse
        | Payload::StateUpdate
        | Payload::Error => {}
    }
}
