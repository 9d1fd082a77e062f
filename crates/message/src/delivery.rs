//! Delivery wishes: how the sender would like its message to be handed over.

use json::{Object, Value};

use crate::limits::{FALLBACKS_MAX, RETRIES_MAX};
use crate::members::Members;
use crate::read::{Fields, boolean, integer, parsed, word};
use crate::{AgentRef, WrittenDuration};

words! {
    /// Whether the sender waits for the answer.
    pub enum Mode {
        /// It does not wait.
        Async = "async",
        /// It waits.
        Sync = "sync",
    }
}

words! {
    /// How often a message may arrive.
    pub enum Guarantee {
        /// Handed out until it is acknowledged.
        AtLeastOnce = "at_least_once",
        /// Handed out once and never again.
        AtMostOnce = "at_most_once",
    }
}

words! {
    /// How the pauses between retries grow.
    pub enum Backoff {
        /// Each is twice the one before.
        Exponential = "exponential",
        /// Each is longer by the same time.
        Linear = "linear",
    }
}

/// How the sender would like its message to be handed over; what is absent, the bus decides.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DeliveryWishes {
    /// Whether the sender waits for the answer.
    pub mode: Option<Mode>,
    /// How often the message may arrive.
    pub guarantee: Option<Guarantee>,
    /// How long a recipient has to take the message.
    pub timeout: Option<WrittenDuration>,
    /// How often it is tried again, at most [`RETRIES_MAX`].
    pub retries: Option<u32>,
    /// How the pauses between retries grow.
    pub backoff: Option<Backoff>,
    /// Who gets it if the recipient does not take it, in this order.
    pub fallback: Vec<AgentRef>,
    /// Whether it is only for sessions that are connected now, and never queued.
    pub live_only: bool,
    /// Whether it waits for a recipient that is not registered yet, instead of being refused.
    pub hold: bool,
    /// Fields that we do not know.
    pub extra: Object<'static>,
}

impl DeliveryWishes {
    pub(crate) const FIELDS: &[&str] =
        &["mode", "guarantee", "timeout", "retries", "backoff", "fallback", "live_only", "hold"];

    pub(crate) fn read(fields: &mut Fields<'_, '_, '_>) -> Option<Self> {
        Some(DeliveryWishes {
            mode: fields.optional("mode", word),
            guarantee: fields.optional("guarantee", word),
            timeout: fields.optional("timeout", parsed),
            retries: fields.optional("retries", integer(0..=RETRIES_MAX.into())),
            backoff: fields.optional("backoff", word),
            fallback: fields.list("fallback", FALLBACKS_MAX, parsed),
            live_only: fields.optional("live_only", boolean).unwrap_or(false),
            hold: fields.optional("hold", boolean).unwrap_or(false),
            extra: fields.rest(),
        })
    }

    pub(crate) fn to_value(&self) -> Value<'_> {
        let mut members = Members::new();
        members.maybe("mode", self.mode.map(Mode::name));
        members.maybe("guarantee", self.guarantee.map(Guarantee::name));
        members.maybe("timeout", self.timeout.as_ref().map(WrittenDuration::text));
        members.maybe("retries", self.retries.map(u64::from));
        members.maybe("backoff", self.backoff.map(Backoff::name));
        members.list("fallback", self.fallback.iter().map(AgentRef::as_str));
        members.maybe("live_only", self.live_only.then_some(true));
        members.maybe("hold", self.hold.then_some(true));
        members.with(&self.extra, Self::FIELDS)
    }
}
