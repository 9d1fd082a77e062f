//! The few fields that a bus routes by, borrowed from the document.

use dialect::{Recipients, Route};
use json::Object;
use message::{Guarantee, Kind, Priority};

use crate::parts::{self, Form};
use crate::routing::{self, BUS, SYSTEM, is_for_the_bus};
use crate::{kinds, lifetime};

/// Reads the route of a message, or of the health of an agent, which is for the bus.
pub(crate) fn route<'v>(document: &'v Object<'v>) -> Option<Route<'v>> {
    match parts::form(document)? {
        Form::Message => message(document),
        Form::Health => health(document),
        Form::Descriptor | Form::Registration => None,
    }
}

fn message<'v>(document: &'v Object<'v>) -> Option<Route<'v>> {
    let kind = kinds::kind_of(document)?;
    let priority = priority(document)?;
    let retries = routing::retries(document)?;
    let to = recipients(parts::text_in(document, "recipient", "agent_id")?);
    let mut route = Route::new(kind, to, priority, routing::guarantee(kind, priority, retries));
    route.native_id = parts::text(document, "message_id");
    let from = parts::text_in(document, "sender", "agent_id");
    route.from = from.map(|agent_id| if agent_id == BUS { SYSTEM } else { agent_id });
    route.task = parts::task(document);
    route.thread = parts::thread(document);
    route.reply_to = parts::reply_to(document);
    route.created = parts::text(document, "timestamp");
    let expires = parts::text_in(document, "metadata", "expires_at");
    route.expires = expires.filter(|text| text.parse::<message::Timestamp>().is_ok());
    route.lifetime_ms =
        lifetime(document).map(|lifetime| lifetime.as_millis().try_into().unwrap_or(u64::MAX));
    route.timeout = routing::timeout(document);
    route.retries = Some(retries);
    route.is_sync = parts::text_in(document, "routing", "delivery_mode") == Some("sync");
    Some(route)
}

fn health<'v>(document: &'v Object<'v>) -> Option<Route<'v>> {
    let to = Recipients::One(SYSTEM);
    let mut route = Route::new(Kind::AgentStatus, to, Priority::Normal, Guarantee::AtMostOnce);
    route.from = parts::text(document, "agent_id");
    route.created = parts::text(document, "last_check");
    Some(route)
}

fn recipients(agent_id: &str) -> Recipients<'_> {
    match agent_id {
        "all" => Recipients::Everyone,
        agent_id if is_for_the_bus(agent_id) => Recipients::One(SYSTEM),
        agent_id => Recipients::One(agent_id),
    }
}

fn priority(document: &Object<'_>) -> Option<Priority> {
    match document.get("priority") {
        None => Some(Priority::Normal),
        Some(priority) => match priority.as_str()? {
            "medium" => Some(Priority::Normal),
            // The canonical word is none of this dialect.
            "normal" => None,
            word => Priority::from_name(word),
        },
    }
}
