//! Heartbeats in both directions: what watchers, daemons and pollers write about themselves.

use std::time::Duration;

use dialect::{Codec, Draft, Encoded, Lens, Names, Sheet, get};
use json::Value;
use message::{Guarantee, Kind, Message, PresenceState, Timestamp};

use crate::form::Form;
use crate::head::Head;
use crate::presence::{self, Reading};
use crate::{decode, encode, extension, head};

const CREATED: &[Lens] = &[Lens { native: "/timestamp", canonical: "/created", codec: Codec::Text }];

/// Reads a heartbeat.
pub(crate) fn decode(draft: &mut Draft<'_>, head: &Head<'_>, form: Form) {
    let is_heartbeat = form == Form::Heartbeat;
    let (agent, channel) = if is_heartbeat { ("/agent_id", "/channel") } else { ("/agent", "/session") };
    decode::sender(draft, head, agent);
    draft.assume("/to/0", head::BUS);
    if let Some(thread) = head.thread {
        draft.set(channel, "/thread", thread.to_owned());
    }
    if let Some(reading) = presence::read(draft.document()) {
        read_presence(draft, &reading, is_heartbeat);
        draft.lifetime_ms = reading.ttl_ms;
        if let Some(end) = end(&reading) {
            draft.set("/ttl_ms", "/expires", end.to_string());
        }
    }
    if is_heartbeat {
        extension::read(draft, extension::OF_HEARTBEATS);
    }
    draft.read(CREATED);
    draft.assume("/delivery/guarantee", Guarantee::AtMostOnce.name());
}

/// Tells whether a message is one that a heartbeat says whole: a sign of life, or a state without words.
pub(crate) fn is_heartbeat(message: &Message) -> bool {
    let is_silent = message.text.as_deref().is_none_or(str::is_empty)
        && message.title.is_none()
        && message.code.is_none()
        && message.error.is_none()
        && message.attachments.is_empty();
    let is_state = message.kind == Kind::AgentStatus && message.presence.is_some() && is_silent;
    is_state || message.kind == Kind::AgentHeartbeat
}

/// Writes a heartbeat in the form of the specification.
pub(crate) fn encode(message: &Message, names: &Names) -> Encoded {
    let mut sheet = Sheet::new(message, names);
    let agent = encode::sender(&mut sheet, "/agent_id");
    encode::timestamp(&mut sheet, "/timestamp");
    let is_said = write_presence(&mut sheet);
    encode::channel(&mut sheet, "/channel", &agent, head::BUS);
    if !is_said {
        sheet.write_one(extension::PRESENCE, "/presence", Codec::Same);
    }
    if message.kind != Kind::AgentHeartbeat {
        sheet.set(extension::KIND, "/kind", message.kind.name());
    }
    sheet.write(extension::OF_HEARTBEATS);
    sheet.finish()
}

fn read_presence(draft: &mut Draft<'_>, reading: &Reading<'_>, is_heartbeat: bool) {
    if is_heartbeat
        && let Some(whole) = get(draft.document(), extension::PRESENCE)
        && is_whole_of(whole, reading)
    {
        let whole = whole.clone().into_owned();
        draft.set(extension::PRESENCE, "/presence", whole);
        draft.link("/state", "/presence/state");
        draft.link("/substate", "/presence/sub");
        draft.link("/watcher_pid", "/presence/pid");
        return;
    }
    let (state, substate) = if is_heartbeat { ("/state", "/substate") } else { ("/status", "/status") };
    draft.set(state, "/presence/state", reading.state.name());
    if let Some(word) = reading.substate {
        draft.set(substate, "/presence/sub", word.to_owned());
    }
    if let Some(pid) = reading.pid {
        draft.set("/watcher_pid", "/presence/pid", u64::from(pid));
    }
}

/// Tells whether our own field still says what the visible ones say; somebody may have changed those.
fn is_whole_of(whole: &Value<'_>, reading: &Reading<'_>) -> bool {
    let text = |key: &str| whole.get(key).and_then(Value::as_str);
    let Some(state) = text("state").and_then(PresenceState::from_name) else { return false };
    let (word, substate) = presence::words_of(state, text("sub"));
    let pid = whole.get("pid").and_then(Value::as_integer);
    extension::is_readable("/presence", whole)
        && presence::state_of(word, Some(substate)) == Some(reading.state)
        && reading.substate == Some(substate)
        && pid == reading.pid.map(i64::from)
}

/// Writes how the agent is, and tells whether that says everything.
fn write_presence(sheet: &mut Sheet<'_>) -> bool {
    let Some(stated) = sheet.message().presence.as_deref() else {
        sheet.invent("/state", "AWAKE");
        sheet.invent("/substate", "IDLE");
        return true;
    };
    let (state, substate) = presence::words_of(stated.state, stated.sub.as_deref());
    sheet.set("/state", "/presence/state", state);
    let canonical = if stated.sub.is_some() { "/presence/sub" } else { "/presence/state" };
    sheet.set("/substate", canonical, substate.to_owned());
    if let Some(pid) = stated.pid {
        sheet.set("/watcher_pid", "/presence/pid", u64::from(pid));
    }
    presence::state_of(state, Some(substate)) == Some(stated.state)
        && stated.sub.as_deref().is_none_or(|sub| sub == substate)
        && stated.tasks.is_empty()
        && stated.next.is_none()
        && stated.extra.is_empty()
}

/// A typing indicator ends by itself.
fn end(reading: &Reading<'_>) -> Option<Timestamp> {
    let written = reading.timestamp?.parse::<Timestamp>().ok()?;
    written.checked_add(Duration::from_millis(reading.ttl_ms?))
}
