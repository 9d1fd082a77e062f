//! Gates: a step that waits for somebody's approval, and the decision.

use json::{Object, Value};

use crate::members::Members;
use crate::read::{Fields, boolean, string, word};

words! {
    /// What was decided at a gate.
    pub enum GateDecision {
        /// The step may be taken.
        Approved = "approved",
        /// The step may not be taken.
        Rejected = "rejected",
    }
}

/// A step that waits for somebody's approval, or the decision about it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Gate {
    /// Whether the recipient has to act.
    pub action_required: bool,
    /// What was decided, once it is.
    pub decision: Option<GateDecision>,
    /// Why.
    pub reason: Option<String>,
    /// Fields that we do not know.
    pub extra: Object<'static>,
}

impl Gate {
    pub(crate) const FIELDS: &[&str] = &["action_required", "decision", "reason"];

    /// Makes a gate at which nothing is decided.
    pub fn new(action_required: bool) -> Self {
        Gate { action_required, decision: None, reason: None, extra: Object::new() }
    }

    pub(crate) fn read(fields: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let action_required = fields.required("action_required", boolean);
        let decision = fields.optional("decision", word);
        let reason = fields.optional("reason", string);
        Some(Gate { action_required: action_required?, decision, reason, extra: fields.rest() })
    }

    pub(crate) fn to_value(&self) -> Value<'_> {
        let mut members = Members::new();
        members.put("action_required", self.action_required);
        members.maybe("decision", self.decision.map(GateDecision::name));
        members.maybe("reason", self.reason.as_deref());
        members.with(&self.extra, Self::FIELDS)
    }
}
