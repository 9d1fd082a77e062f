//! Payloads of every type.

use json::Value;
use proptest::prelude::*;

use super::{LEVELS, PRIORITIES, any_value, id, nullable, quantity, share, word_number};
use crate::generate::{
    Member, always, any_object, anything, integer, list, maybe, nonempty, object, text, timestamp, truth,
    unknown_fields, with, word,
};

/// What users write into open maps, some of it under names that mean something to us.
pub(super) fn details() -> BoxedStrategy<Value<'static>> {
    (
        maybe("text", text()),
        maybe("message", text()),
        maybe("title", prop_oneof![text(), anything()]),
        maybe("data", anything()),
        maybe(
            "error",
            prop_oneof![
                anything(),
                Just(crate::generate::parsed(
                    r#"{"code":"tool_failure","message":"it broke","retryable":false}"#
                ))
            ],
        ),
        maybe("status", word(&["running", "done", "odd"])),
        maybe("attachments", list(anything(), 2)),
        maybe("brief", any_object()),
        maybe("thread", word(&["t-1", ""])),
        maybe("reply_to", word(&["m-1", "\u{7}"])),
        maybe("metrics", Just(crate::generate::parsed(r#"{"tokens":5,"cost_usd":-1}"#))),
        unknown_fields(),
    )
        .prop_map(|(a, b, c, d, e, f, g, h, i, j, k, unknown)| {
            with(object([a, b, c, d, e, f, g, h, i, j, k]), unknown)
        })
        .boxed()
}

pub(super) fn assignment() -> BoxedStrategy<Value<'static>> {
    (
        always("task", context("task-1")),
        always("constraints", constraints()),
        nullable("deadline", timestamp()),
    )
        .prop_map(|(a, b, c)| object([a, b, c]))
        .boxed()
}

pub(super) fn handoff_request() -> BoxedStrategy<Value<'static>> {
    let reasons = &["CAPABILITY_LIMIT", "RATE_LIMIT", "ERROR_RECOVERY", "ESCALATION", "LOAD_BALANCING"];
    (
        always("task_id", Just(Value::from("task-1"))),
        agent("from_agent"),
        agent("to_agent"),
        always("reason", word(reasons)),
        always("context", context("task-1")),
        always("constraints", constraints()),
        always("deadline", timestamp()),
    )
        .prop_map(|(a, b, c, d, e, f, g)| object([a, b, c, d, e, f, g]))
        .boxed()
}

pub(super) fn handoff_response() -> BoxedStrategy<Value<'static>> {
    let accepted = (
        always("estimated_completion", timestamp()),
        always("requirements", list(text(), 3)),
        always("constraints", constraints()),
        nullable("error", text()),
    )
        .prop_map(|(a, b, c, d)| [Some(("accepted", Value::Bool(true))), a, b, c, d]);
    let declined = (
        nullable("estimated_completion", timestamp()),
        nullable("requirements", list(text(), 3)),
        nullable("constraints", constraints()),
        always("error", text()),
    )
        .prop_map(|(a, b, c, d)| [Some(("accepted", Value::Bool(false))), a, b, c, d]);
    (prop_oneof![accepted, declined], agent("agent_id"), maybe("task_id", id()))
        .prop_map(|(members, agent, task)| object(members.into_iter().chain([agent, task])))
        .boxed()
}

pub(super) fn update() -> BoxedStrategy<Value<'static>> {
    let statuses = &["pending", "in_progress", "completed", "failed", "cancelled"];
    (
        always("task_id", id()),
        always("status", word(statuses)),
        nullable("progress", share(100)),
        always("event", event()),
    )
        .prop_map(|(a, b, c, d)| object([a, b, c, d]))
        .boxed()
}

pub(super) fn complete() -> BoxedStrategy<Value<'static>> {
    (always("task_id", id()), always("result", prop_oneof![anything(), text()]))
        .prop_map(|(a, b)| object([a, b]))
        .boxed()
}

pub(super) fn failed() -> BoxedStrategy<Value<'static>> {
    always("error", error_report())
        .prop_map(|error| {
            let mut error = error;
            if let Some((_, Value::Object(report))) = &mut error {
                report.remove("task_id");
            }
            object([Some(("task_id", Value::from("task-1"))), error])
        })
        .boxed()
}

pub(super) fn help_request() -> BoxedStrategy<Value<'static>> {
    let types = &[
        "TECHNICAL_GUIDANCE",
        "DEBUGGING_ASSISTANCE",
        "CODE_REVIEW",
        "ARCHITECTURE_ADVICE",
        "RESOURCE_SHARING",
    ];
    let context = (
        always("current_state", text()),
        nullable("error_details", text()),
        always("attempted_solutions", list(text(), 3)),
        unknown_fields(),
    )
        .prop_map(|(a, b, c, unknown)| with(object([a, b, c]), unknown));
    (
        agent("requester_id"),
        always("task_id", id()),
        always("help_type", word(types)),
        always("description", text()),
        always("context", context),
        always("urgency", word(LEVELS)),
        nullable("deadline", timestamp()),
    )
        .prop_map(|(a, b, c, d, e, f, g)| object([a, b, c, d, e, f, g]))
        .boxed()
}

pub(super) fn help_response() -> BoxedStrategy<Value<'static>> {
    let types =
        &["DIRECT_ANSWER", "RESOURCE_PROVISION", "COLLABORATIVE_SESSION", "ESCALATION", "UNABLE_TO_HELP"];
    let resource = (
        always("type", word(&["documentation", "code", "api", "example", "tool"])),
        always("url", word(&["https://example.com/a", "src/lib.rs", "file:é"])),
        always("title", text()),
        nullable("description", text()),
    )
        .prop_map(|(a, b, c, d)| object([a, b, c, d]));
    (
        agent("responder_id"),
        always("request_id", Just(Value::from("request-1"))),
        always("response_type", word(types)),
        always("content", text()),
        nullable("resources", list(resource, 3)),
        always("follow_up_required", truth()),
        always("estimated_effort", quantity()),
    )
        .prop_map(|(a, b, c, d, e, f, g)| object([a, b, c, d, e, f, g]))
        .boxed()
}

pub(super) fn status() -> BoxedStrategy<Value<'static>> {
    let usage = (
        always("tokens_used", quantity()),
        always("tokens_remaining", quantity()),
        always("cost_usd", quantity()),
        always("cpu_usage", share(100)),
        always("memory_usage", share(100)),
    )
        .prop_map(|(a, b, c, d, e)| object([a, b, c, d, e]));
    let health = (
        always("uptime_seconds", quantity()),
        always("success_rate", share(1)),
        always("avg_latency_ms", quantity()),
        always("error_count", prop_oneof![integer(0, i64::MAX), word_number(&["7.0", "70e-1"])]),
        nullable("last_error", timestamp()),
    )
        .prop_map(|(a, b, c, d, e)| object([a, b, c, d, e]));
    (
        agent("agent_id"),
        always("status", agent_status()),
        always("current_tasks", list(id(), 3)),
        always("resource_usage", usage),
        always("health_metrics", health),
        nullable("next_available", timestamp()),
    )
        .prop_map(|(a, b, c, d, e, f)| object([a, b, c, d, e, f]))
        .boxed()
}

pub(super) fn agent_status() -> BoxedStrategy<Value<'static>> {
    (
        always("state", state()),
        always("capability_level", share(100)),
        always("error_rate", share(1)),
        always("avg_response_time_ms", quantity()),
        always("last_heartbeat", timestamp()),
        unknown_fields(),
    )
        .prop_map(|(a, b, c, d, e, unknown)| with(object([a, b, c, d, e]), unknown))
        .boxed()
}

pub(super) fn heartbeat() -> BoxedStrategy<Value<'static>> {
    (agent("agent_id"), always("state", state()), always("timestamp", timestamp()))
        .prop_map(|(a, b, c)| object([a, b, c]))
        .boxed()
}

pub(super) fn error_report() -> BoxedStrategy<Value<'static>> {
    let types = &[
        "TIMEOUT",
        "RATE_LIMIT",
        "VALIDATION_ERROR",
        "NETWORK_ERROR",
        "AUTHENTICATION_ERROR",
        "RESOURCE_EXHAUSTED",
        "INTERNAL_ERROR",
        "EXTERNAL_SERVICE_ERROR",
    ];
    let error_context = (any_value("input_data"), any_value("configuration"), any_value("environment"))
        .prop_map(|(a, b, c)| object([a, b, c]));
    let attempt = (
        always("attempt_number", integer(0, 9)),
        always("timestamp", timestamp()),
        always("strategy", text()),
        always("outcome", word(&["success", "failure", "partial"])),
        always("details", text()),
    )
        .prop_map(|(a, b, c, d, e)| object([a, b, c, d, e]));
    (
        always("error_id", nonempty()),
        agent("agent_id"),
        nullable("task_id", id()),
        always("error_type", word(types)),
        always("severity", word(LEVELS)),
        always("message", text()),
        nullable("stack_trace", text()),
        always("context", error_context),
        always("recovery_attempts", list(attempt, 2)),
        always("suggested_actions", list(text(), 3)),
    )
        .prop_map(|(a, b, c, d, e, f, g, h, i, j)| object([a, b, c, d, e, f, g, h, i, j]))
        .boxed()
}

pub(super) fn context(task: &'static str) -> BoxedStrategy<Value<'static>> {
    (
        always("task_id", Just(Value::from(task))),
        always("task_type", text()),
        always("priority", word(PRIORITIES)),
        always("metadata", prop_oneof![any_object(), details()]),
        always("dependencies", list(id(), 3)),
        always("history", list(event(), 2)),
        unknown_fields(),
    )
        .prop_map(|(a, b, c, d, e, f, unknown)| with(object([a, b, c, d, e, f]), unknown))
        .boxed()
}

fn constraints() -> BoxedStrategy<Value<'static>> {
    (
        nullable("max_tokens", quantity()),
        nullable("deadline", timestamp()),
        always("required_capabilities", list(text(), 3)),
        nullable("budget_usd", quantity()),
        nullable("quality_threshold", share(1)),
        unknown_fields(),
    )
        .prop_map(|(a, b, c, d, e, unknown)| with(object([a, b, c, d, e]), unknown))
        .boxed()
}

fn event() -> BoxedStrategy<Value<'static>> {
    let known = word(&[
        "progress",
        "note",
        "announce",
        "report",
        "review",
        "claimed",
        "rejected",
        "blocked",
        "state.sync",
    ]);
    (
        always("timestamp", timestamp()),
        always("event_type", prop_oneof![2 => known, 1 => nonempty()]),
        nullable("agent_id", nonempty()),
        always("details", prop_oneof![any_object(), details()]),
    )
        .prop_map(|(a, b, c, d)| object([a, b, c, d]))
        .boxed()
}

fn state() -> BoxedStrategy<Value<'static>> {
    word(&["IDLE", "BUSY", "ERROR", "OFFLINE", "MAINTENANCE"]).boxed()
}

/// An agent whose name is filled in when the message is known.
fn agent(name: &'static str) -> impl Strategy<Value = Member> {
    always(name, Just(Value::from("agent")))
}
