//! The records' own fields, in the order of their lexicons.
//!
//! Each function returns the field of the message that the record's words repeat, where it is not the one that
//! a reader would take them for.

use dialect::{Sheet, cut_to_bytes};
use json::Value;
use message::{Address, AgentRef, Kind, Message, Priority, Reference, TaskId, ThreadId};

use super::content::write_content;
use super::response::{status_of, status_tells_kind, write_error, write_request};
use crate::lenses::{self, TASK_BYTES_MAX, TEXT_BYTES_MAX};
use crate::{Record, audience, ids, time};

/// What a record shows instead of what usually stands there.
pub(super) type Shows = Option<&'static str>;

/// Bytes and number of the selectors of an audience.
const SELECTOR_BYTES_MAX: usize = 256;
const SELECTORS_MAX: usize = 100;
/// How long presence is believed when its sender does not say.
const PRESENCE_TTL_SECONDS: i64 = 300;

pub(super) fn message(sheet: &mut Sheet<'_>) -> Shows {
    write_sender(sheet, "/sender", "/senderHandle");
    write_recipient(sheet, "/recipient", "/recipientHandle");
    write_thread(sheet, "/thread");
    if let Some(reply) = sheet.message().reply_to.as_ref().map(Reference::as_str) {
        let uri = ids::at_uri_of(reply, &counterpart(sheet), Record::Message);
        sheet.set("/inReplyTo", "/reply_to", uri);
    }
    write_context(sheet);
    let shows = write_content(sheet);
    sheet.write(lenses::PRIORITIES);
    write_created(sheet);
    sheet.write(lenses::EXPIRES);
    shows
}

pub(super) fn broadcast(sheet: &mut Sheet<'_>) -> Shows {
    write_sender(sheet, "/sender", "/senderHandle");
    write_audience(sheet);
    sheet.write(lenses::SEVERITIES);
    if let Some(priority) = sheet.message().priority
        && !sheet.has("/severity")
    {
        let severity = match priority {
            Priority::Low => "info",
            Priority::Normal => "notice",
            Priority::High => "warning",
            Priority::Critical => "critical",
        };
        sheet.set("/severity", "/priority", severity);
    }
    let shows = write_content(sheet);
    let message = sheet.message();
    if message.delivery.as_deref().is_some_and(|delivery| delivery.live_only) {
        sheet.set("/ttlSeconds", "/delivery/live_only", 0_i64);
    } else if is_presence(message) && message.expires.is_none() {
        sheet.invent("/ttlSeconds", PRESENCE_TTL_SECONDS);
    }
    write_created(sheet);
    sheet.write(lenses::EXPIRES);
    shows
}

pub(super) fn request(sheet: &mut Sheet<'_>) -> Shows {
    write_sender(sheet, "/sender", "/senderHandle");
    let message = sheet.message();
    if let [Address::Agent(_) | Address::Session { .. }] = &message.to[..] {
        write_recipient(sheet, "/assignee", "");
    }
    let task_type = message.brief.as_deref().and_then(|brief| brief.task_type.as_deref());
    let words = [
        ("title", "/title", message.title.as_deref()),
        ("text", "/text", message.text.as_deref()),
        ("brief", "/brief/task_type", task_type),
        ("task", "/task", message.task.as_ref().map(TaskId::as_str)),
    ];
    let shows = write_words(sheet, "/task", TASK_BYTES_MAX, words).unwrap_or_else(|| {
        sheet.invent("/task", message.kind.name());
        "kind"
    });
    write_context(sheet);
    sheet.write(lenses::PRIORITIES);
    write_deadline(sheet);
    write_created(sheet);
    (shows != "title").then_some(shows)
}

pub(super) fn response(sheet: &mut Sheet<'_>) -> Shows {
    write_sender(sheet, "/sender", "/senderHandle");
    write_request(sheet);
    let message = sheet.message();
    let status = status_of(message);
    sheet.set("/status", if status_tells_kind(message.kind) { "/kind" } else { "/status" }, status);
    let shows = if status == "ok" { None } else { write_error(sheet, status) };
    sheet.write(lenses::OUTCOME);
    write_created(sheet);
    shows
}

pub(super) fn handoff(sheet: &mut Sheet<'_>) -> Shows {
    write_sender(sheet, "/from", "/fromHandle");
    write_recipient(sheet, "/to", "/toHandle");
    write_thread(sheet, "/session");
    let message = sheet.message();
    let reason = message.handoff.as_deref().and_then(|handoff| handoff.reason.as_deref());
    let words = [
        ("text", "/text", message.text.as_deref()),
        ("title", "/title", message.title.as_deref()),
        ("handoff", "/handoff/reason", reason),
        ("task", "/task", message.task.as_ref().map(TaskId::as_str)),
    ];
    let shows = write_words(sheet, "/summary", TEXT_BYTES_MAX, words).unwrap_or_else(|| {
        sheet.invent("/summary", message.kind.name());
        "kind"
    });
    write_handoff_context(sheet);
    sheet.write(lenses::HANDOFF_LISTS);
    sheet.write(lenses::EXPIRES);
    write_created(sheet);
    (shows != "text").then_some(shows)
}

/// Writes the first of some texts that says something, and returns which it was.
pub(super) fn write_words<'m>(
    sheet: &mut Sheet<'m>,
    native: &str,
    bytes_max: usize,
    words: [(&'static str, &'static str, Option<&'m str>); 4],
) -> Option<&'static str> {
    let said = words.into_iter().find_map(|(name, canonical, text)| {
        let text = text.filter(|text| !text.is_empty())?;
        Some((name, canonical, text))
    });
    let (name, canonical, text) = said?;
    sheet.set(native, canonical, cut_to_bytes(text, bytes_max).into_owned());
    Some(name)
}

fn write_sender(sheet: &mut Sheet<'_>, did: &str, handle: &str) {
    let agent = sheet.message().from.as_str();
    write_agent(sheet, agent, "/from", did, handle);
}

/// Writes the one recipient that a record has; somebody must stand there.
fn write_recipient(sheet: &mut Sheet<'_>, did: &str, handle: &str) {
    let message = sheet.message();
    match message.to.iter().find_map(ids::agent_of) {
        Some(agent) => write_agent(sheet, agent, "/to", did, handle),
        None => {
            let address = message.to.first().map_or_else(String::new, Address::to_string);
            let stand_in = ids::stand_in(&address.replace([':', '#'], "-"), sheet.names());
            sheet.invent(did, stand_in);
        }
    }
}

fn write_agent(sheet: &mut Sheet<'_>, agent: &str, canonical: &str, did: &str, handle: &str) {
    let (text, known) = ids::did_of(agent, sheet.names());
    sheet.set(did, canonical, text.clone());
    if !known {
        sheet.invent(did, text);
    }
    let known = sheet.names().handle(agent).filter(|name| atproto_syntax::handle::check(name).is_ok());
    if let Some(name) = known.filter(|_| !handle.is_empty()) {
        let name = name.to_owned();
        sheet.set(handle, canonical, name);
    }
}

/// Writes to whom a broadcast goes. No audience is everyone, so whoever is meant must stand there.
fn write_audience(sheet: &mut Sheet<'_>) {
    let (message, names) = (sheet.message(), sheet.names());
    if message.to.contains(&Address::All) {
        return;
    }
    let topic = message.to.iter().find_map(|address| match address {
        Address::Topic(topic) => Some(topic.as_str()),
        Address::Agent(_)
        | Address::Session { .. }
        | Address::Role(_)
        | Address::Channel(_)
        | Address::All => None,
    });
    let mut invented = Vec::new();
    let mut audience: Vec<Value<'static>> = Vec::new();
    for (at, address) in message.to.iter().take(SELECTORS_MAX).enumerate() {
        let selector = match ids::agent_of(address) {
            None => audience::selector_for(address, topic, names),
            Some(agent) => {
                let (did, known) = ids::did_of(agent, names);
                let fits = did.len() <= SELECTOR_BYTES_MAX;
                if !known || !fits {
                    invented.push(at);
                }
                if fits { did } else { ids::stand_in(agent, names) }
            }
        };
        audience.push(Value::from(selector));
    }
    sheet.set("/audience", "/to", audience.clone());
    for at in invented {
        sheet.invent(&format!("/audience/{at}"), audience[at].clone());
    }
    if let Some(topic) = topic {
        sheet.set("/topic", "/to", topic.to_owned());
    }
}

fn write_thread(sheet: &mut Sheet<'_>, native: &str) {
    if let Some(thread) = sheet.message().thread.as_ref().map(ThreadId::as_str) {
        sheet.set(native, "/thread", ids::tid_of(thread).to_string());
    }
}

fn write_context(sheet: &mut Sheet<'_>) {
    sheet.write(lenses::CONTEXT);
    sheet.write(lenses::FILES_AS_CONTEXT);
}

/// The request that a handoff is about stands first in its context.
fn write_handoff_context(sheet: &mut Sheet<'_>) {
    let message = sheet.message();
    let task = message.task.as_ref().map(TaskId::as_str);
    let task = task
        .filter(|task| ids::is_at_uri(task))
        .filter(|task| ids::collection_of(task) == Some(Record::Request.name()));
    let Some(task) = task else { return };
    let others =
        message.refs.iter().map(message::Uri::as_str).filter(|uri| *uri != task && ids::is_at_uri(uri));
    let uris = std::iter::once(task).chain(others).take(SELECTORS_MAX);
    let uris: Vec<_> = uris.map(|uri| Value::from(uri.to_owned())).collect();
    sheet.set("/context", "/refs", uris);
    sheet.link("/context/0", "/task");
}

/// The end of a request's life is the nearest that a request has to an expiry or a timeout.
fn write_deadline(sheet: &mut Sheet<'_>) {
    sheet.write(lenses::DEADLINE);
    sheet.write_one("/deadline", "/expires", lenses::DATETIME);
    if sheet.has("/deadline") {
        return;
    }
    let message = sheet.message();
    let timeout = message.delivery.as_deref().and_then(|delivery| delivery.timeout.as_ref());
    let end = message.created.as_ref().zip(timeout);
    let end = end.and_then(|(created, timeout)| created.at().checked_add(timeout.duration()));
    if let Some(end) = end {
        sheet.set("/deadline", "/delivery/timeout", end.to_string());
    }
}

fn write_created(sheet: &mut Sheet<'_>) {
    sheet.write(lenses::CREATED);
    if !sheet.has("/createdAt") {
        sheet.invent("/createdAt", time::EPOCH);
    }
}

/// Returns the DID of the agent with whom the sender speaks, else its own.
pub(super) fn counterpart(sheet: &Sheet<'_>) -> String {
    let message = sheet.message();
    let agent = message.to.iter().find_map(ids::agent_of).unwrap_or(AgentRef::as_str(&message.from));
    ids::did_of(agent, sheet.names()).0
}

/// Tells whether a message only tells how its sender is.
pub(super) fn is_presence(message: &Message) -> bool {
    matches!(message.kind, Kind::AgentStatus | Kind::AgentHeartbeat)
}
