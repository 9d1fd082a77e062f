//! Reading what stands around the payload: links, urgency, lifetime and retries.

use std::time::Duration;

use dialect::Draft;
use message::limits::RETRIES_MAX;
use message::{Guarantee, Kind, Priority, Timestamp};

use crate::bag;
use crate::codes::CLAMPED;
use crate::envelope::{Envelope, Told, text};
use crate::message_type::{MessageType, guarantee, implied_priority};

/// Reads the metadata of a message.
pub(super) fn read(draft: &mut Draft<'_>, envelope: &Envelope<'_>) {
    links(draft, envelope);
    let stated = envelope.metadata.and_then(|metadata| text(metadata, "priority"));
    read_urgency(draft, stated.and_then(Priority::from_name), envelope.message_type);
    lifetime(draft, envelope);
    retries(draft, envelope);
}

/// Reads the priority, stated or implied, and the guarantee that follows from it where it is not the usual one.
pub(super) fn read_urgency(draft: &mut Draft<'_>, stated: Option<Priority>, message_type: MessageType) {
    let told_by = if stated.is_some() { "/metadata/priority" } else { "/type" };
    let priority = stated.unwrap_or(implied_priority(message_type));
    draft.set(told_by, "/priority", priority.name());
    let is_presence = [Kind::AgentStatus, Kind::AgentHeartbeat]
        .iter()
        .any(|kind| draft.get("/kind").and_then(json::Value::as_str) == Some(kind.name()));
    let guarantee = guarantee(priority);
    if guarantee == Guarantee::AtMostOnce || is_presence {
        draft.set(told_by, "/delivery/guarantee", guarantee.name());
    }
}

fn links(draft: &mut Draft<'_>, envelope: &Envelope<'_>) {
    let carried = bag::text_in(envelope, "/correlation").filter(|id| crate::interfaces::is_id(id));
    if let Some(id) = carried {
        draft.set(&format!("{}/correlation", envelope.bag_place()), "/correlation", id.to_owned());
    } else if let Some(id) = envelope.correlation() {
        draft.set("/metadata/correlation_id", "/correlation", id.to_owned());
    }
    let ends = [("/reply_to", envelope.reply_to()), ("/thread", envelope.thread())];
    for (canonical, end) in ends {
        match end {
            Some((Told::At(place), id)) => draft.set(place, canonical, id.to_owned()),
            Some((Told::InBag, id)) => {
                draft.set(&format!("{}{canonical}", envelope.bag_place()), canonical, id.to_owned());
            }
            None => {}
        }
    }
}

/// A lifetime of nothing means: only to those who listen now.
fn lifetime(draft: &mut Draft<'_>, envelope: &Envelope<'_>) {
    match lifetime_ms(envelope) {
        None => {}
        Some(0) => draft.set("/metadata/ttl_ms", "/delivery/live_only", true),
        Some(milliseconds) => {
            draft.lifetime_ms = Some(milliseconds);
            let created =
                text(envelope.document, "timestamp").and_then(|time| time.parse::<Timestamp>().ok());
            let expires = created.and_then(|at| at.checked_add(Duration::from_millis(milliseconds)));
            if let Some(expires) = expires {
                draft.set("/metadata/ttl_ms", "/expires", expires.to_string());
                draft.link("/timestamp", "/expires");
            }
        }
    }
}

/// Returns the time to live in milliseconds.
fn lifetime_ms(envelope: &Envelope<'_>) -> Option<u64> {
    let lifetime = envelope.metadata?.get("ttl_ms")?.as_number()?;
    match lifetime.as_integer() {
        Some(milliseconds) => u64::try_from(milliseconds).ok(),
        // Fractions are cut, and numbers beyond the range are the largest one.
        None => Some(lifetime.as_f64() as u64),
    }
}

fn retries(draft: &mut Draft<'_>, envelope: &Envelope<'_>) {
    let Some(retries) = envelope.metadata.and_then(|metadata| metadata.get("max_retries")?.as_integer())
    else {
        return;
    };
    if retries > i64::from(RETRIES_MAX) {
        let message = format!("{retries} retries are more than {RETRIES_MAX}, which is taken");
        draft.warn("/metadata/max_retries", CLAMPED, message);
    }
    draft.set("/metadata/max_retries", "/delivery/retries", retries.min(RETRIES_MAX.into()));
}
