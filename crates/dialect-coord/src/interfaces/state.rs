//! Shared state: all of it, and one change of it.

use dialect::{Interface, Shape};

use super::failure::ERROR_REPORT;
use super::status::AGENT_STATUS;
use super::task::{TASK_CONTEXT, TASK_STATUSES};
use super::{COUNT, ID, QUANTITY, RATIO, TEXTS, defaulted, optional, required};

/// What is allotted.
pub(crate) const RESOURCE_TYPES: &[&str] = &["tokens", "cpu", "memory", "budget"];
/// What is done to an entity.
pub(crate) const OPERATIONS: &[&str] = &["CREATE", "UPDATE", "DELETE"];
/// What is changed.
pub(crate) const ENTITY_TYPES: &[&str] = &["TASK", "AGENT", "RESOURCE", "POLICY"];

pub(crate) static SHARED_STATE: Interface = Interface {
    name: "SharedState",
    fields: &[
        required("task_registry", Shape::MapOf(&Shape::Object(&TASK_STATE))),
        required("agent_registry", Shape::MapOf(&Shape::Object(&AGENT_STATUS))),
        required("resource_allocations", Shape::MapOf(&Shape::Object(&RESOURCE_ALLOCATION))),
        required("policy_state", Shape::Object(&POLICY_STATE)),
        defaulted("last_updated", "the time of its arrival", Shape::Timestamp),
    ],
};

pub(crate) static TASK_STATE: Interface = Interface {
    name: "TaskState",
    fields: &[
        required("id", ID),
        required("status", Shape::Words(TASK_STATUSES)),
        optional("assigned_agent", Shape::NonEmpty),
        required("created_at", Shape::Timestamp),
        required("updated_at", Shape::Timestamp),
        required("context", Shape::Object(&TASK_CONTEXT)),
        optional("result", Shape::Any),
        optional("error", Shape::Object(&ERROR_REPORT)),
    ],
};

pub(crate) static RESOURCE_ALLOCATION: Interface = Interface {
    name: "ResourceAllocation",
    fields: &[
        required("agent_id", Shape::NonEmpty),
        required("resource_type", Shape::Words(RESOURCE_TYPES)),
        required("allocated", QUANTITY),
        required("consumed", QUANTITY),
        required("limit", QUANTITY),
        optional("expires_at", Shape::Timestamp),
    ],
};

pub(crate) static POLICY_STATE: Interface = Interface {
    name: "PolicyState",
    fields: &[
        required("version", Shape::Text),
        required("enabled_chains", TEXTS),
        required("risk_thresholds", Shape::Object(&RISK_THRESHOLDS)),
        required("budget_limits", Shape::Object(&BUDGET_LIMITS)),
        required("circuit_breaker_config", Shape::Object(&CIRCUIT_BREAKER_CONFIG)),
    ],
};

pub(crate) static RISK_THRESHOLDS: Interface =
    Interface { name: "RiskThresholds", fields: &[required("low", RATIO), required("high", RATIO)] };

pub(crate) static BUDGET_LIMITS: Interface = Interface {
    name: "BudgetLimits",
    fields: &[required("per_task", QUANTITY), required("per_agent", QUANTITY), required("total", QUANTITY)],
};

/// The threshold is a count of failures in a row, so it is whole and at least one.
pub(crate) static CIRCUIT_BREAKER_CONFIG: Interface = Interface {
    name: "CircuitBreakerConfig",
    fields: &[
        required("error_threshold", Shape::Integer(1, i64::MAX)),
        required("timeout_ms", QUANTITY),
        required("reset_timeout_ms", QUANTITY),
    ],
};

pub(crate) static STATE_UPDATE: Interface = Interface {
    name: "StateUpdate",
    fields: &[
        required("operation", Shape::Words(OPERATIONS)),
        required("entity_type", Shape::Words(ENTITY_TYPES)),
        required("entity_id", ID),
        defaulted("changes", "none", Shape::Map),
        required("version", COUNT),
        defaulted("timestamp", "the time of its arrival", Shape::Timestamp),
    ],
};

/// A status update that carries a change of the shared state, for which there is no message type.
pub(crate) static STATE_UPDATE_CARRIER: Interface = Interface {
    name: "StateUpdateCarrier",
    fields: &[required("state_update", Shape::Object(&STATE_UPDATE))],
};
