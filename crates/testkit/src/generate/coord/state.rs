//! The shared state and its changes.

use json::{Object, Value};
use proptest::prelude::*;

use super::payload::{agent_status, context, error_report};
use super::{any_value, id, nullable, quantity, share};
use crate::generate::{
    always, any_object, integer, list, nonempty, object, text, timestamp, unknown_fields, with, word,
};

pub(super) fn update() -> BoxedStrategy<Value<'static>> {
    let changed = (word(&["CREATE", "UPDATE"]), word(&["AGENT", "RESOURCE", "POLICY"]), any_object());
    let task = (word(&["CREATE", "UPDATE"]), Just(Value::from("TASK")), task_state("task-1"));
    let entities = word(&["TASK", "AGENT", "RESOURCE", "POLICY"]);
    let deleted = (Just(Value::from("DELETE")), entities, Just(Value::Object(Object::new())));
    let change = prop_oneof![
        2 => changed,
        1 => task,
        1 => deleted,
    ];
    (
        change,
        always("entity_id", Just(Value::from("task-1"))),
        always("version", integer(0, i64::MAX)),
        always("timestamp", timestamp()),
        unknown_fields(),
    )
        .prop_map(|((operation, entity, changes), id, version, timestamp, unknown)| {
            let change =
                [Some(("operation", operation)), Some(("entity_type", entity)), Some(("changes", changes))];
            with(object(change.into_iter().chain([id, version, timestamp])), unknown)
        })
        .boxed()
}

pub(super) fn shared() -> BoxedStrategy<Value<'static>> {
    let tasks = prop_oneof![
        Just(Value::Object(Object::new())),
        task_state("task-1").prop_map(|task| object([Some(("task-1", task))])),
    ];
    let agents = prop_oneof![
        Just(Value::Object(Object::new())),
        agent_status().prop_map(|status| object([Some(("ann", status))])),
    ];
    let allocations = prop_oneof![
        Just(Value::Object(Object::new())),
        allocation().prop_map(|allocation| object([Some(("a~/1", allocation))])),
    ];
    (
        always("task_registry", tasks),
        always("agent_registry", agents),
        always("resource_allocations", allocations),
        always("policy_state", policy()),
        always("last_updated", timestamp()),
        unknown_fields(),
    )
        .prop_map(|(a, b, c, d, e, unknown)| with(object([a, b, c, d, e]), unknown))
        .boxed()
}

fn task_state(task: &'static str) -> BoxedStrategy<Value<'static>> {
    (
        always("id", Just(Value::from(task))),
        always("status", word(&["pending", "in_progress", "completed", "failed", "cancelled"])),
        nullable("assigned_agent", nonempty()),
        always("created_at", timestamp()),
        always("updated_at", timestamp()),
        always("context", context(task)),
        any_value("result"),
        nullable("error", error_report()),
    )
        .prop_map(|(a, b, c, d, e, f, g, h)| object([a, b, c, d, e, f, g, h]))
        .boxed()
}

fn allocation() -> BoxedStrategy<Value<'static>> {
    (
        always("agent_id", id()),
        always("resource_type", word(&["tokens", "cpu", "memory", "budget"])),
        always("allocated", quantity()),
        always("consumed", quantity()),
        always("limit", quantity()),
        nullable("expires_at", timestamp()),
    )
        .prop_map(|(a, b, c, d, e, f)| object([a, b, c, d, e, f]))
        .boxed()
}

fn policy() -> BoxedStrategy<Value<'static>> {
    let risk = (always("low", share(1)), always("high", share(1))).prop_map(|(a, b)| object([a, b]));
    let budget =
        (always("per_task", quantity()), always("per_agent", quantity()), always("total", quantity()))
            .prop_map(|(a, b, c)| object([a, b, c]));
    let breaker = (
        always("error_threshold", integer(1, i64::MAX)),
        always("timeout_ms", quantity()),
        always("reset_timeout_ms", quantity()),
    )
        .prop_map(|(a, b, c)| object([a, b, c]));
    (
        always("version", text()),
        always("enabled_chains", list(text(), 3)),
        always("risk_thresholds", risk),
        always("budget_limits", budget),
        always("circuit_breaker_config", breaker),
    )
        .prop_map(|(a, b, c, d, e)| object([a, b, c, d, e]))
        .boxed()
}
