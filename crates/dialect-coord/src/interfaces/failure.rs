//! Errors: what went wrong and what was tried.

use dialect::{Interface, Shape};

use super::{COUNT, ID, LEVELS, TEXTS, defaulted, optional, required};

/// What sort of error it is.
pub(crate) const ERROR_TYPES: &[&str] = &[
    "TIMEOUT",
    "RATE_LIMIT",
    "VALIDATION_ERROR",
    "NETWORK_ERROR",
    "AUTHENTICATION_ERROR",
    "RESOURCE_EXHAUSTED",
    "INTERNAL_ERROR",
    "EXTERNAL_SERVICE_ERROR",
];
/// How an attempt to recover ended.
pub(crate) const OUTCOMES: &[&str] = &["success", "failure", "partial"];

pub(crate) static ERROR_REPORT: Interface = Interface {
    name: "ErrorReport",
    fields: &[
        defaulted("error_id", "none", Shape::NonEmpty),
        defaulted("agent_id", "the sender", Shape::NonEmpty),
        optional("task_id", ID),
        required("error_type", Shape::Words(ERROR_TYPES)),
        defaulted("severity", "none", Shape::Words(LEVELS)),
        required("message", Shape::Text),
        optional("stack_trace", Shape::Text),
        defaulted("context", "none", Shape::Object(&ERROR_CONTEXT)),
        defaulted("recovery_attempts", "none", Shape::List(&Shape::Object(&RECOVERY_ATTEMPT))),
        defaulted("suggested_actions", "none", TEXTS),
    ],
};

pub(crate) static ERROR_CONTEXT: Interface = Interface {
    name: "ErrorContext",
    fields: &[
        optional("input_data", Shape::Any),
        optional("configuration", Shape::Any),
        optional("environment", Shape::Any),
    ],
};

pub(crate) static RECOVERY_ATTEMPT: Interface = Interface {
    name: "RecoveryAttempt",
    fields: &[
        required("attempt_number", COUNT),
        defaulted("timestamp", "none", Shape::Timestamp),
        required("strategy", Shape::Text),
        required("outcome", Shape::Words(OUTCOMES)),
        defaulted("details", "none", Shape::Text),
    ],
};
