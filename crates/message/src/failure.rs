//! Failures: what went wrong, in the field `error`.

use json::{Object, Value};

use crate::Severity;
use crate::limits::LIST_ITEMS_MAX;
use crate::members::Members;
use crate::read::{Fields, anything, boolean, string, word};

/// What went wrong and what could be done about it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Failure {
    /// A code for programs, such as `TIMEOUT`.
    pub code: Option<String>,
    /// A sentence for people.
    pub message: Option<String>,
    /// Whether trying again may help; `false` ends retries and fallbacks at once.
    pub retryable: Option<bool>,
    /// How bad it is.
    pub severity: Option<Severity>,
    /// The stack trace.
    pub stack: Option<String>,
    /// What the reporter suggests to do.
    pub actions: Vec<String>,
    /// What was already tried, in the reporter's own form.
    pub attempts: Vec<Value<'static>>,
    /// Fields that we do not know.
    pub extra: Object<'static>,
}

impl Failure {
    pub(crate) const FIELDS: &[&str] =
        &["code", "message", "retryable", "severity", "stack", "actions", "attempts"];

    pub(crate) fn read(fields: &mut Fields<'_, '_, '_>) -> Option<Self> {
        Some(Failure {
            code: fields.optional("code", string),
            message: fields.optional("message", string),
            retryable: fields.optional("retryable", boolean),
            severity: fields.optional("severity", word),
            stack: fields.optional("stack", string),
            actions: fields.list("actions", LIST_ITEMS_MAX, string),
            attempts: fields.list("attempts", LIST_ITEMS_MAX, anything),
            extra: fields.rest(),
        })
    }

    pub(crate) fn to_value(&self) -> Value<'_> {
        let mut members = Members::new();
        members.maybe("code", self.code.as_deref());
        members.maybe("message", self.message.as_deref());
        members.maybe("retryable", self.retryable);
        members.maybe("severity", self.severity.map(Severity::name));
        members.maybe("stack", self.stack.as_deref());
        members.list("actions", self.actions.iter().map(String::as_str));
        members.list("attempts", self.attempts.iter().cloned());
        members.with(&self.extra, Self::FIELDS)
    }
}
