//! The few fields that a bus routes by, read in place.

use dialect::{Recipients, Route};
use json::{Object, Value};
use message::limits::RETRIES_MAX;
use message::{Kind, Priority};

use crate::envelope::{EVERYONE, Envelope, Form, SYSTEM, text};
use crate::message_type::{MessageType, guarantee, implied_priority};

/// Reads the route of a document; `None` if it is not one that can be routed.
pub(crate) fn route<'v>(document: &'v Object<'v>) -> Option<Route<'v>> {
    match Form::of(document) {
        Form::Message => message(&Envelope::of(document)?),
        Form::StateUpdate => {
            let mut route = state(text(document, "timestamp"));
            let is_task = text(document, "entity_type") == Some("TASK");
            route.task = text(document, "entity_id").filter(|_| is_task);
            Some(route)
        }
        Form::SharedState => Some(state(text(document, "last_updated"))),
    }
}

/// Returns how long a message is wanted; nothing means that only those get it who listen now.
pub(crate) fn lifetime_ms(envelope: &Envelope<'_>) -> Option<u64> {
    let lifetime = envelope.metadata?.get("ttl_ms")?.as_number()?;
    match lifetime.as_integer() {
        Some(milliseconds) => u64::try_from(milliseconds).ok(),
        // Fractions are cut, and what is beyond all time lasts for all time.
        None => Some(lifetime.as_f64() as u64),
    }
}

fn message<'v>(envelope: &Envelope<'v>) -> Option<Route<'v>> {
    let document = envelope.document;
    let priority = match envelope.metadata.and_then(|metadata| metadata.get("priority")) {
        None => implied_priority(envelope.message_type),
        Some(stated) => Priority::from_name(stated.as_str()?)?,
    };
    let to = match text(document, "to")? {
        EVERYONE | "all" => Recipients::Everyone,
        one => Recipients::One(one),
    };
    let mut route = Route::new(envelope.kind(), to, priority, guarantee(priority));
    route.native_id = text(document, "id");
    route.from = Some(text(document, "from")?);
    route.task = envelope.task().map(|(_, task)| task);
    route.thread = envelope.thread().map(|(_, thread)| thread);
    route.reply_to = envelope.reply_to().map(|(_, id)| id);
    route.created = text(document, "timestamp");
    let lifetime_ms = lifetime_ms(envelope);
    route.is_live_only = lifetime_ms == Some(0);
    route.lifetime_ms = lifetime_ms.filter(|lifetime| *lifetime > 0);
    let retries = envelope.metadata.and_then(|metadata| metadata.get("max_retries"));
    let retries = retries.and_then(Value::as_integer).and_then(|count| u64::try_from(count).ok());
    route.retries = retries.map(|count| u32::try_from(count).unwrap_or(RETRIES_MAX).min(RETRIES_MAX));
    Some(route)
}

fn state(created: Option<&str>) -> Route<'_> {
    let priority = implied_priority(MessageType::StatusUpdate);
    let mut route = Route::new(Kind::StateSync, Recipients::One(SYSTEM), priority, guarantee(priority));
    route.from = Some(SYSTEM);
    route.created = created;
    route
}
