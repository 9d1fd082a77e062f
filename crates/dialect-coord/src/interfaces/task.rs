//! Tasks: assigning, handing over, updating and ending them.

use dialect::{Interface, Shape};

use super::failure::ERROR_REPORT;
use super::{ID, PERCENT, PRIORITIES, QUANTITY, TEXTS, defaulted, optional, required};

/// Why work is handed over.
pub(crate) const HANDOFF_REASONS: &[&str] =
    &["CAPABILITY_LIMIT", "RATE_LIMIT", "ERROR_RECOVERY", "ESCALATION", "LOAD_BALANCING"];
/// How far a task is.
pub(crate) const TASK_STATUSES: &[&str] = &["pending", "in_progress", "completed", "failed", "cancelled"];

pub(crate) static TASK_EVENT: Interface = Interface {
    name: "TaskEvent",
    fields: &[
        defaulted("timestamp", "that of the message", Shape::Timestamp),
        required("event_type", Shape::NonEmpty),
        optional("agent_id", Shape::NonEmpty),
        defaulted("details", "none", Shape::Map),
    ],
};

pub(crate) static TASK_CONTEXT: Interface = Interface {
    name: "TaskContext",
    fields: &[
        required("task_id", ID),
        defaulted("task_type", "none", Shape::Text),
        defaulted("priority", "that of the message", Shape::Words(PRIORITIES)),
        defaulted("metadata", "none", Shape::Map),
        defaulted("dependencies", "none", Shape::List(&ID)),
        defaulted("history", "none", Shape::List(&Shape::Object(&TASK_EVENT))),
    ],
};

pub(crate) static TASK_CONSTRAINTS: Interface = Interface {
    name: "TaskConstraints",
    fields: &[
        optional("max_tokens", QUANTITY),
        optional("deadline", Shape::Timestamp),
        defaulted("required_capabilities", "none", TEXTS),
        optional("budget_usd", QUANTITY),
        optional("quality_threshold", QUANTITY),
    ],
};

pub(crate) static TASK_ASSIGNMENT: Interface = Interface {
    name: "TaskAssignment",
    fields: &[
        required("task", Shape::Object(&TASK_CONTEXT)),
        defaulted("constraints", "none", Shape::Object(&TASK_CONSTRAINTS)),
        optional("deadline", Shape::Timestamp),
    ],
};

pub(crate) static TASK_HANDOFF_REQUEST: Interface = Interface {
    name: "TaskHandoffRequest",
    fields: &[
        required("task_id", ID),
        defaulted("from_agent", "the sender", Shape::NonEmpty),
        defaulted("to_agent", "the recipient", Shape::NonEmpty),
        defaulted("reason", "none", Shape::Words(HANDOFF_REASONS)),
        defaulted("context", "only the id of the task", Shape::Object(&TASK_CONTEXT)),
        defaulted("constraints", "none", Shape::Object(&TASK_CONSTRAINTS)),
        defaulted("deadline", "none", Shape::Timestamp),
    ],
};

/// The answer to a handoff. What it must say depends on `accepted`, which is a rule and not a shape.
pub(crate) static TASK_HANDOFF_RESPONSE: Interface = Interface {
    name: "TaskHandoffResponse",
    fields: &[
        required("accepted", Shape::Boolean),
        defaulted("agent_id", "the sender", Shape::NonEmpty),
        optional("estimated_completion", Shape::Timestamp),
        optional("requirements", TEXTS),
        optional("constraints", Shape::Object(&TASK_CONSTRAINTS)),
        optional("error", Shape::Text),
    ],
};

pub(crate) static TASK_UPDATE: Interface = Interface {
    name: "TaskUpdate",
    fields: &[
        required("task_id", ID),
        required("status", Shape::Words(TASK_STATUSES)),
        optional("progress", PERCENT),
        defaulted("event", "none", Shape::Object(&TASK_EVENT)),
    ],
};

pub(crate) static TASK_COMPLETE: Interface = Interface {
    name: "TaskComplete",
    fields: &[required("task_id", ID), defaulted("result", "null", Shape::Any)],
};

pub(crate) static TASK_FAILED: Interface = Interface {
    name: "TaskFailed",
    fields: &[required("task_id", ID), required("error", Shape::Object(&ERROR_REPORT))],
};
