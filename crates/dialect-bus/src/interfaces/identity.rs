//! The documents about agents: `AgentDescriptor`, `AgentRegistration` and `HealthStatus`.

use dialect::{Interface, Shape};

use super::payloads::RESOURCE_USAGE;
use super::{COUNT, FRACTION, QUANTITY, TEXTS, defaulted, optional, required};

const AUTHENTICATION_TYPES: &[&str] = &["jwt", "api_key", "certificate"];
const HEALTH_STATES: &[&str] = &["healthy", "degraded", "unhealthy"];

/// An agent is known by five parts that must be there; what is in them is up to the agent.
pub(crate) static AGENT_DESCRIPTOR: Interface = Interface {
    name: "AgentDescriptor",
    fields: &[
        required("agent_id", Shape::NonEmpty),
        required("framework", Shape::NonEmpty),
        required("capabilities", Shape::Object(&AGENT_CAPABILITY)),
        required("endpoints", Shape::Object(&AGENT_ENDPOINTS)),
        required("metadata", Shape::Object(&AGENT_METADATA)),
    ],
};

static AGENT_CAPABILITY: Interface = Interface {
    name: "AgentCapability",
    fields: &[
        optional("input_types", TEXTS),
        optional("output_types", TEXTS),
        optional("languages", TEXTS),
        optional("tools", TEXTS),
        optional("model_preferences", TEXTS),
        optional("optimal_tasks", TEXTS),
        optional("performance_profile", Shape::Object(&PERFORMANCE_PROFILE)),
    ],
};

static PERFORMANCE_PROFILE: Interface = Interface {
    name: "PerformanceProfile",
    fields: &[
        optional("avg_response_time", Shape::Duration),
        optional("success_rate", FRACTION),
        optional("concurrent_capacity", COUNT),
    ],
};

static AGENT_ENDPOINTS: Interface = Interface {
    name: "AgentEndpoints",
    fields: &[
        optional("mcp", Shape::Text),
        optional("http", Shape::Text),
        optional("websocket", Shape::Text),
    ],
};

static AGENT_METADATA: Interface = Interface {
    name: "AgentMetadata",
    fields: &[
        optional("version", Shape::Text),
        optional("author", Shape::Text),
        optional("tags", TEXTS),
        optional("description", Shape::Text),
    ],
};

pub(crate) static AGENT_REGISTRATION: Interface = Interface {
    name: "AgentRegistration",
    fields: &[
        required("agent_descriptor", Shape::Object(&AGENT_DESCRIPTOR)),
        defaulted("health_check_url", "none", Shape::Text),
        optional("status_endpoint", Shape::Text),
        defaulted("authentication", "none", Shape::Object(&AUTHENTICATION)),
    ],
};

static AUTHENTICATION: Interface = Interface {
    name: "Authentication",
    fields: &[required("type", Shape::Words(AUTHENTICATION_TYPES)), required("credentials", Shape::Text)],
};

pub(crate) static HEALTH_STATUS: Interface = Interface {
    name: "HealthStatus",
    fields: &[
        required("agent_id", Shape::NonEmpty),
        required("status", Shape::Words(HEALTH_STATES)),
        required("last_check", Shape::Timestamp),
        defaulted("response_time", "unknown", QUANTITY),
        defaulted("error_rate", "unknown", FRACTION),
        defaulted("active_sessions", "unknown", COUNT),
        defaulted("resource_usage", "unknown", Shape::Object(&RESOURCE_USAGE)),
    ],
};
