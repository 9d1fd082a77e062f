//! Status: how an agent is and what it uses.

use dialect::{Interface, Shape};

use super::{COUNT, ID, PERCENT, QUANTITY, RATIO, defaulted, optional, required};

/// How an agent is.
pub(crate) const AGENT_STATES: &[&str] = &["IDLE", "BUSY", "ERROR", "OFFLINE", "MAINTENANCE"];

pub(crate) static STATUS_UPDATE: Interface = Interface {
    name: "StatusUpdate",
    fields: &[
        defaulted("agent_id", "the sender", Shape::NonEmpty),
        required("status", Shape::Object(&AGENT_STATUS)),
        defaulted("current_tasks", "none", Shape::List(&ID)),
        defaulted("resource_usage", "none", Shape::Object(&RESOURCE_USAGE)),
        defaulted("health_metrics", "none", Shape::Object(&HEALTH_METRICS)),
        optional("next_available", Shape::Timestamp),
    ],
};

pub(crate) static AGENT_STATUS: Interface = Interface {
    name: "AgentStatus",
    fields: &[
        required("state", Shape::Words(AGENT_STATES)),
        defaulted("capability_level", "none", PERCENT),
        defaulted("error_rate", "none", RATIO),
        defaulted("avg_response_time_ms", "none", QUANTITY),
        defaulted("last_heartbeat", "none", Shape::Timestamp),
    ],
};

pub(crate) static RESOURCE_USAGE: Interface = Interface {
    name: "ResourceUsage",
    fields: &[
        defaulted("tokens_used", "none", QUANTITY),
        defaulted("tokens_remaining", "none", QUANTITY),
        defaulted("cost_usd", "none", QUANTITY),
        defaulted("cpu_usage", "none", PERCENT),
        defaulted("memory_usage", "none", PERCENT),
    ],
};

pub(crate) static HEALTH_METRICS: Interface = Interface {
    name: "HealthMetrics",
    fields: &[
        defaulted("uptime_seconds", "none", QUANTITY),
        defaulted("success_rate", "none", RATIO),
        defaulted("avg_latency_ms", "none", QUANTITY),
        defaulted("error_count", "none", COUNT),
        optional("last_error", Shape::Timestamp),
    ],
};

pub(crate) static HEARTBEAT: Interface = Interface {
    name: "Heartbeat",
    fields: &[
        defaulted("agent_id", "the sender", Shape::NonEmpty),
        required("state", Shape::Words(AGENT_STATES)),
        defaulted("timestamp", "that of the message", Shape::Timestamp),
    ],
};
