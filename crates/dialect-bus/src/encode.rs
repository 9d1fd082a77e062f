//! Writing messages as documents.
//!
//! Every kind has a message type. Where the type and the payload do not tell the kind again, the payload says
//! it in a word of its own, `kind`.

mod payload;

use dialect::{Encoded, Link, Names, Sheet};
use json::{Object, Value};
use message::{Guarantee, Kind, Message, Severity, Sha256, WrittenTimestamp, format_duration};

use crate::interfaces::{DEFAULT_RETRIES, DEFAULT_TIMEOUT};
use crate::kinds::{self, MessageType};
use crate::routing::{BUS, SYSTEM, UNKNOWN_FRAMEWORK};
use crate::{lenses, parts};

const EPOCH: &str = "1970-01-01T00:00:00Z";
/// Characters of the part of an id that tells messages of one millisecond apart.
const ID_TAIL_LENGTH: usize = 7;
/// The order in which people read a message.
const ORDER: [&str; 9] = [
    "message_id",
    "timestamp",
    "sender",
    "recipient",
    "message_type",
    "priority",
    "payload",
    "routing",
    "metadata",
];

/// Writes a message.
pub(crate) fn encode(message: &Message, names: &Names) -> Encoded {
    let is_decided = message.gate.as_ref().is_some_and(|gate| gate.decision.is_some());
    let message_type = MessageType::for_kind(message.kind, is_decided);
    let mut sheet = Sheet::new(message, names);
    sheet.set("/message_type", "/kind", message_type.name());
    write_head(&mut sheet);
    write_routing(&mut sheet);
    write_metadata(&mut sheet);
    payload::write(&mut sheet, message_type);
    let mut encoded = sheet.finish();
    payload::place_data(&mut encoded, message, message_type);
    payload::place_state(&mut encoded, message);
    if kinds::told(&encoded.document) != Some(message.kind) {
        payload::place(&mut encoded, "kind", "/kind", Value::from(message.kind.name()));
    }
    if !encoded.document.contains_key("payload") {
        encoded.document.insert("payload", Object::new());
        encoded.invented.push("/payload".to_owned());
    }
    encoded.document = ordered(encoded.document);
    encoded
}

fn write_head(sheet: &mut Sheet<'_>) {
    sheet.write(lenses::HEAD);
    let message = sheet.message();
    if !sheet.has("/message_id") {
        sheet.invent("/message_id", made_up_id(message));
    }
    if !sheet.has("/timestamp") {
        sheet.invent("/timestamp", EPOCH);
    }
    write_framework(sheet, "/sender/framework", message.from.as_str());
    let recipient = message.to.first().map_or_else(String::new, ToString::to_string);
    write_framework(sheet, "/recipient/framework", &recipient);
    sheet.write(&[lenses::SESSION]);
    if !sheet.has("/recipient/agent_id") {
        // Only a message that was made by hand has nobody to go to.
        sheet.invent("/recipient/agent_id", BUS);
    }
    if sheet.has("/priority") {
        return;
    }
    let of_error = message.error.as_ref().and_then(|error| error.severity);
    match (message.severity, of_error) {
        (Some(severity), _) => sheet.set("/priority", "/severity", urgency(severity)),
        (None, Some(severity)) => sheet.set("/priority", "/error/severity", urgency(severity)),
        (None, None) => sheet.invent("/priority", "medium"),
    }
}

/// Writes what an agent runs on: what its URI says, else what its entry says.
fn write_framework(sheet: &mut Sheet<'_>, place: &'static str, agent: &str) {
    let uri = sheet.names().uri(agent);
    let known = match parts::scheme(&uri) {
        Some(scheme) => Some(scheme.to_owned()),
        None if agent == SYSTEM => Some(BUS.to_owned()),
        None => sheet.names().framework(agent),
    };
    match known {
        Some(framework) => {
            let canonical = if place.starts_with("/sender") { "/from" } else { "/to/0" };
            sheet.set(place, canonical, framework);
        }
        None => sheet.invent(place, UNKNOWN_FRAMEWORK),
    }
}

fn write_routing(sheet: &mut Sheet<'_>) {
    sheet.write(lenses::ROUTING);
    let message = sheet.message();
    if !sheet.has("/routing/timeout") {
        match time_left(message) {
            Some(timeout) => sheet.set("/routing/timeout", "/expires", timeout),
            None => sheet.invent("/routing/timeout", DEFAULT_TIMEOUT),
        }
    }
    let guarantee = message.delivery.as_ref().and_then(|delivery| delivery.guarantee);
    let retries = match guarantee {
        Some(Guarantee::AtMostOnce) => 0,
        _ if message.kind == Kind::AgentHeartbeat => 0,
        Some(Guarantee::AtLeastOnce) | None => DEFAULT_RETRIES,
    };
    let defaults = [
        ("/routing/retry_policy/max_retries", Value::integer(i64::from(retries))),
        ("/routing/retry_policy/backoff", Value::from("exponential")),
        ("/routing/delivery_mode", Value::from("async")),
    ];
    for (place, default) in defaults {
        if !sheet.has(place) {
            sheet.invent(place, default);
        }
    }
}

fn write_metadata(sheet: &mut Sheet<'_>) {
    sheet.write(lenses::METADATA);
    let message = sheet.message();
    let correlation = message.correlation.as_ref().map(|correlation| correlation.as_str());
    let task = message.task.as_ref().map(|task| task.as_str());
    match correlation {
        // A reader takes the task for it.
        Some(correlation) if Some(correlation) == task => sheet.link("/metadata/task_id", "/correlation"),
        Some(correlation) => {
            sheet.set("/metadata/correlation_id", "/correlation", correlation.to_owned());
        }
        None => {}
    }
    sheet.write(&[lenses::RETRYABLE]);
}

/// Returns the time between the making and the expiry of a message.
fn time_left(message: &Message) -> Option<String> {
    let expires = message.expires.as_ref().map(WrittenTimestamp::at)?;
    let created = message.created.as_ref().map(WrittenTimestamp::at)?;
    expires.duration_since(created).map(format_duration)
}

fn urgency(severity: Severity) -> &'static str {
    match severity {
        Severity::Low => "low",
        Severity::Medium => "medium",
        Severity::High => "high",
        Severity::Critical => "critical",
    }
}

/// Makes an id of the recommended form, the same every time for the same message.
fn made_up_id(message: &Message) -> String {
    let created = message.created.as_ref().map_or(0, |created| created.at().unix_micros() / 1_000);
    let seed = message.id.map_or_else(|| message.encode(), |id| id.to_string());
    let digest = Sha256::of(seed.as_bytes()).to_bytes();
    let mut rest = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    let mut tail = String::with_capacity(ID_TAIL_LENGTH);
    for _ in 0..ID_TAIL_LENGTH {
        let digit = u32::try_from(rest % 36).unwrap_or(0);
        tail.extend(char::from_digit(digit, 36));
        rest /= 36;
    }
    format!("msg_{}_{tail}", created.max(0))
}

fn ordered(mut document: Object<'static>) -> Object<'static> {
    let mut ordered: Object<'static> = Object::new();
    for key in ORDER {
        if let Some(value) = document.remove(key) {
            ordered.insert(key, value);
        }
    }
    ordered
}

fn link(native: String, canonical: String) -> Link {
    Link { native: native.into(), canonical: canonical.into() }
}
