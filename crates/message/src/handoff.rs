//! Handoffs: work that goes from one agent to another.

use json::{Object, Value};

use crate::members::Members;
use crate::read::{Fields, anything, string};

/// What the next agent must know beyond the summary, which is the message's text.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Handoff {
    /// Why the work is handed over.
    pub reason: Option<String>,
    /// How far the work is, in the sender's form; `null` counts as absent.
    pub state: Option<Value<'static>>,
    /// Fields that we do not know.
    pub extra: Object<'static>,
}

impl Handoff {
    pub(crate) const FIELDS: &[&str] = &["reason", "state"];

    pub(crate) fn read(fields: &mut Fields<'_, '_, '_>) -> Option<Self> {
        Some(Handoff {
            reason: fields.optional("reason", string),
            state: fields.optional("state", anything),
            extra: fields.rest(),
        })
    }

    pub(crate) fn to_value(&self) -> Value<'_> {
        let mut members = Members::new();
        members.maybe("reason", self.reason.as_deref());
        members.value("state", self.state.as_ref());
        members.with(&self.extra, Self::FIELDS)
    }
}
