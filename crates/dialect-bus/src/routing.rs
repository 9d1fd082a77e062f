//! What a bus computes from a document to hand it over: pauses, lifetimes, correlation, fallback copies.

use std::time::Duration;

use dialect::put;
use json::{Object, Value};
use message::limits::{FALLBACKS_MAX, RETRIES_MAX};
use message::{Backoff, Guarantee, Kind, Priority};

use crate::interfaces::{DEFAULT_RETRIES, DEFAULT_TIMEOUT};
use crate::parts;

/// What the bus itself is called in documents.
pub(crate) const BUS: &str = "communication-bus";
/// What the bus itself is called in messages.
pub(crate) const SYSTEM: &str = "system";
/// The framework of an agent of which none is known.
pub(crate) const UNKNOWN_FRAMEWORK: &str = "unknown";

const PAUSE_BASE: Duration = Duration::from_millis(1_000);
const PAUSE_MAX: Duration = Duration::from_millis(30_000);

/// Returns the pause before a retry, the first of which is attempt 1: a second times the attempt, or a second
/// doubled with each attempt, and never more than 30 seconds.
pub fn backoff(policy: Backoff, attempt: u32) -> Duration {
    let factor = match policy {
        Backoff::Linear => attempt,
        Backoff::Exponential => match attempt {
            0 => 0,
            attempt => 1_u32.checked_shl(attempt - 1).unwrap_or(u32::MAX),
        },
    };
    PAUSE_BASE.saturating_mul(factor).min(PAUSE_MAX)
}

/// Returns what links a document to the one that it answers: the message if it is named, else the task.
pub fn correlation<'v>(document: &'v Object<'_>) -> Option<&'v str> {
    parts::reply_to(document).or_else(|| parts::task(document))
}

/// Returns how long a document is wanted: its timeout once for the recipient and once for each fallback.
///
/// `None` if the timeout is not a duration. A document without one has that of the specification's examples.
pub fn lifetime(document: &Object<'_>) -> Option<Duration> {
    let routing = parts::part(document, "routing");
    let fallbacks = routing.and_then(|routing| routing.get("fallback_agents")).and_then(Value::as_array);
    let turns = 1 + fallbacks.map_or(0, |agents| agents.len().min(FALLBACKS_MAX));
    let timeout = message::parse_duration(timeout(document)?).ok()?;
    Some(timeout.saturating_mul(turns as u32))
}

/// Tells whether a recipient is the bus itself: such messages go to presence and to nobody's inbox.
pub fn is_for_the_bus(recipient: &str) -> bool {
    matches!(recipient, BUS | SYSTEM | "*")
}

/// Makes the copy of a document that a fallback agent gets: rewritten to it, with the first recipient's id in
/// the metadata.
pub fn for_fallback(document: &Object<'_>, agent: &str) -> Object<'static> {
    let mut copy = document.clone().into_owned();
    let original = parts::text_in(document, "recipient", "agent_id").map(str::to_owned);
    let framework = parts::scheme(agent).unwrap_or(UNKNOWN_FRAMEWORK);
    put(&mut copy, "/recipient/agent_id", Value::from(agent.to_owned()));
    put(&mut copy, "/recipient/framework", Value::from(framework.to_owned()));
    // The session was one of the first recipient.
    if let Some(recipient) = copy.get_mut("recipient").and_then(Value::as_object_mut) {
        recipient.remove("session_id");
    }
    if let Some(original) = original
        && parts::text_in(document, "metadata", "original_recipient").is_none()
    {
        put(&mut copy, "/metadata/original_recipient", Value::from(original));
    }
    copy
}

/// Returns the timeout as it is written, or the default; `None` if something else than a text is in its place.
pub(crate) fn timeout<'v>(document: &'v Object<'_>) -> Option<&'v str> {
    match parts::part(document, "routing").and_then(|routing| routing.get("timeout")) {
        None => Some(DEFAULT_TIMEOUT),
        Some(timeout) => timeout.as_str(),
    }
}

/// Returns how often to try again: as the document says, within our limit, or the default.
pub(crate) fn retries(document: &Object<'_>) -> Option<u32> {
    let policy = parts::part(document, "routing").and_then(|routing| parts::part(routing, "retry_policy"));
    match policy.and_then(|policy| policy.get("max_retries")) {
        None => Some(DEFAULT_RETRIES),
        Some(retries) => {
            let retries = retries.as_integer()?.min(i64::from(RETRIES_MAX));
            u32::try_from(retries).ok()
        }
    }
}

/// Tells how hard the bus must try: for what is urgent, and where the sender asks for retries.
pub(crate) fn guarantee(kind: Kind, priority: Priority, retries: u32) -> Guarantee {
    let is_wanted = priority >= Priority::High || retries > 0;
    if is_wanted && kind != Kind::AgentHeartbeat { Guarantee::AtLeastOnce } else { Guarantee::AtMostOnce }
}
