//! Metrics: what the work cost.

use json::{Number, Object, Value};

use crate::members::Members;
use crate::read::{Fields, quantity};

/// What the work cost, each figure as it was written and none below zero.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Metrics {
    /// How long it took, in milliseconds.
    pub duration_ms: Option<Number<'static>>,
    /// How many tokens it used.
    pub tokens: Option<Number<'static>>,
    /// What it cost, in US dollars.
    pub cost_usd: Option<Number<'static>>,
    /// The load of the processor, on the scale of the sender's dialect.
    pub cpu: Option<Number<'static>>,
    /// The memory in use, on the scale of the sender's dialect.
    pub memory: Option<Number<'static>>,
    /// Fields that we do not know.
    pub extra: Object<'static>,
}

impl Metrics {
    pub(crate) const FIELDS: &[&str] = &["duration_ms", "tokens", "cost_usd", "cpu", "memory"];

    pub(crate) fn read(fields: &mut Fields<'_, '_, '_>) -> Option<Self> {
        Some(Metrics {
            duration_ms: fields.optional("duration_ms", quantity),
            tokens: fields.optional("tokens", quantity),
            cost_usd: fields.optional("cost_usd", quantity),
            cpu: fields.optional("cpu", quantity),
            memory: fields.optional("memory", quantity),
            extra: fields.rest(),
        })
    }

    pub(crate) fn to_value(&self) -> Value<'_> {
        let mut members = Members::new();
        members.number("duration_ms", self.duration_ms.as_ref());
        members.number("tokens", self.tokens.as_ref());
        members.number("cost_usd", self.cost_usd.as_ref());
        members.number("cpu", self.cpu.as_ref());
        members.number("memory", self.memory.as_ref());
        members.with(&self.extra, Self::FIELDS)
    }
}
