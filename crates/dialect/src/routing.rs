//! Routing: what decides how the bus delivers a message, with the dialect's defaults filled in.

use message::{Guarantee, Message, Priority};

/// How the bus delivers a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Routing {
    /// How urgent it is.
    pub priority: Priority,
    /// Whether the bus delivers it until it is acknowledged.
    pub guarantee: Guarantee,
    /// How long it is wanted from its creation on, in milliseconds. A message itself has only an instant, `expires`.
    pub lifetime_ms: Option<u64>,
    /// Whether it is delivered only to recipients that are connected now.
    pub live_only: bool,
}

impl Routing {
    /// Reads the routing of a message. `guarantee` is what the dialect implies where the message states none.
    pub fn of(message: &Message, guarantee: Guarantee) -> Self {
        let wishes = message.delivery.as_deref();
        Routing {
            priority: message.priority.unwrap_or(Priority::Normal),
            guarantee: wishes.and_then(|wishes| wishes.guarantee).unwrap_or(guarantee),
            lifetime_ms: None,
            live_only: wishes.is_some_and(|wishes| wishes.live_only),
        }
    }
}
