//! The payload families. A payload may be anything, so nothing here is required, and unknown fields are fine;
//! the interfaces say what the specification's examples and its users' messages put where.

use dialect::{Interface, Shape};

use super::{COUNT, FRACTION, QUANTITY, TEXTS, optional};

/// The interface of each message type's payload.
pub(crate) static PAYLOADS: &[(&str, &Interface)] = &[
    ("task_request", &TASK_REQUEST),
    ("task_response", &TASK_RESPONSE),
    ("status_update", &STATUS_UPDATE),
    ("error", &ERROR),
    ("heartbeat", &HEARTBEAT),
];

static TASK_REQUEST: Interface = Interface {
    name: "TaskRequestPayload",
    fields: &[
        optional("task_type", Shape::Text),
        optional("description", Shape::Text),
        optional("files", TEXTS),
        optional("acceptance_criteria", TEXTS),
        optional("requirements", Shape::Any),
        optional("context", Shape::Any),
        optional("required_capabilities", TEXTS),
        optional("preferred_framework", Shape::Text),
        optional("task_id", Shape::Text),
        // Adapters look for the parameters one level deeper.
        optional("payload", Shape::Any),
    ],
};

static TASK_RESPONSE: Interface = Interface {
    name: "TaskResponsePayload",
    fields: &[
        optional("status", Shape::Text),
        optional("findings", Shape::List(&Shape::Any)),
        optional("result", Shape::Any),
        optional("output", Shape::Any),
        optional("notes", Shape::Text),
        optional("task_id", Shape::Text),
        optional("agent_id", Shape::Text),
    ],
};

/// One item of `findings`; only those that are objects are checked.
pub(crate) static FINDING: Interface = Interface {
    name: "Finding",
    fields: &[
        optional("severity", Shape::Text),
        optional("file", Shape::Text),
        optional("line", COUNT),
        optional("message", Shape::Text),
    ],
};

static STATUS_UPDATE: Interface = Interface {
    name: "StatusUpdatePayload",
    fields: &[
        optional("phase", Shape::Text),
        optional("percent_complete", Shape::Number(0.0, 100.0)),
        optional("notes", Shape::Text),
        optional("status", Shape::Text),
        optional("progress", FRACTION),
        optional("current_step", Shape::Text),
        optional("completed_steps", Shape::List(&Shape::Any)),
        optional("remaining_steps", Shape::List(&Shape::Any)),
        optional("estimated_completion", Shape::Text),
        optional("resource_usage", Shape::Object(&RESOURCE_USAGE)),
        optional("task_id", Shape::Text),
    ],
};

/// Three shapes of one thing: `code` and `message`, `error_code` and `error_message`, or `error` alone.
static ERROR: Interface = Interface {
    name: "ErrorPayload",
    fields: &[
        optional("code", Shape::Text),
        optional("message", Shape::Text),
        optional("details", Shape::Any),
        optional("error_code", Shape::Text),
        optional("error_message", Shape::Text),
        optional("recovery_suggestions", TEXTS),
        optional("error", Shape::Text),
        optional("status", Shape::Text),
        optional("task_id", Shape::Text),
        optional("agent_id", Shape::Text),
    ],
};

static HEARTBEAT: Interface = Interface {
    name: "HeartbeatPayload",
    fields: &[
        optional("status", Shape::Text),
        optional("active_tasks", COUNT),
        optional("cpu", FRACTION),
        optional("memory", QUANTITY),
        optional("uptime", Shape::Any),
        optional("completed_tasks", COUNT),
        optional("failed_tasks", COUNT),
        optional("resource_usage", Shape::Object(&RESOURCE_USAGE)),
        optional("performance_metrics", Shape::Map),
    ],
};

pub(super) static RESOURCE_USAGE: Interface = Interface {
    name: "ResourceUsage",
    fields: &[
        optional("cpu", QUANTITY),
        optional("memory", QUANTITY),
        optional("network", QUANTITY),
        optional("disk", QUANTITY),
    ],
};
