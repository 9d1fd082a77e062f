//! Documents of the dialect `bus`.
//!
//! The strategies are boxed: unboxed they are so large that they overflow the stack of a test.

use json::Value;
use proptest::prelude::*;

use super::{
    Member, always, any_object, anything, integer, list, maybe, nonempty, number, object, parsed, slug, text,
    timestamp, truth, unknown_fields, with, word,
};

/// Any valid document that can be read as a message.
pub fn document() -> impl Strategy<Value = Value<'static>> {
    prop_oneof![12 => message(), 1 => health()]
}

/// Any valid document about an agent that is no message: a descriptor or a registration.
pub fn identity() -> impl Strategy<Value = Value<'static>> {
    let authentication = (
        always("type", word(&["jwt", "api_key", "certificate"])),
        always("credentials", Just(Value::from("not-a-secret"))),
    )
        .prop_map(|(a, b)| object([a, b]));
    let registration = (
        always("agent_descriptor", descriptor()),
        always("health_check_url", text()),
        maybe("status_endpoint", text()),
        always("authentication", authentication),
        unknown_fields(),
    )
        .prop_map(|(a, b, c, d, unknown)| with(object([a, b, c, d]), unknown));
    prop_oneof![descriptor(), registration]
}

fn message() -> BoxedStrategy<Value<'static>> {
    (head(), body(), unknown_fields())
        .prop_map(|(head, body, unknown)| {
            let members = head.into_iter().chain(body);
            with(object(members), unknown)
        })
        .boxed()
}

fn head() -> BoxedStrategy<Vec<Member>> {
    let message_id = prop_oneof![
        "msg_[0-9]{13}_[a-z0-9]{7}",
        "[a-zA-Z0-9:_-]{1,24}",
        Just("0193abcd-0000-7000-8000-000000000000".to_owned()),
        Just("x".repeat(512)),
    ];
    let for_the_bus = word(&["communication-bus", "system", "*", "all", "roles.developer", "#deploys"]);
    let bus = for_the_bus.prop_map(|agent_id| {
        object([Some(("agent_id", agent_id)), Some(("framework", Value::from("system")))])
    });
    (
        always("message_id", message_id.prop_map(Value::from)),
        always("timestamp", timestamp()),
        always("sender", agent()),
        always("recipient", prop_oneof![4 => agent(), 1 => bus]),
        always("priority", word(&["low", "medium", "high", "critical"])),
        always("routing", routing()),
        maybe("metadata", metadata()),
    )
        .prop_map(|(a, b, c, d, e, f, g)| vec![a, b, c, d, e, f, g])
        .boxed()
}

/// An agent by a URI whose scheme is its framework, or by an opaque id.
fn agent() -> BoxedStrategy<Value<'static>> {
    let uri = (proptest::sample::select(&["codex", "claude-code", "opencode"][..]), "[a-z][a-z0-9-]{0,12}")
        .prop_map(|(framework, name)| {
            let agent_id = Value::from(format!("{framework}://{name}"));
            object([Some(("agent_id", agent_id)), Some(("framework", Value::from(framework)))])
        });
    let opaque = (
        always("agent_id", prop_oneof![slug(), nonempty()]),
        always("framework", prop_oneof![text(), Just(Value::from("codex"))]),
    )
        .prop_map(|(a, b)| object([a, b]))
        .prop_filter("a scheme must be the framework", |agent| {
            !agent.get("agent_id").and_then(Value::as_str).is_some_and(|id| id.contains("://"))
        });
    let session = proptest::option::of(prop_oneof![
        "sess_[a-z]{1,8}".prop_map(Value::from),
        Just(Value::Null),
        Just(Value::from("")),
    ]);
    (prop_oneof![uri, opaque], session, unknown_fields())
        .prop_map(|(mut agent, session, unknown)| {
            if let (Some(session), Some(agent)) = (session, agent.as_object_mut()) {
                agent.insert("session_id", session);
            }
            with(agent, unknown)
        })
        .boxed()
}

fn routing() -> BoxedStrategy<Value<'static>> {
    let policy = (
        always(
            "max_retries",
            prop_oneof![integer(0, 5), Just(Value::integer(1_001)), Just(parsed("2.0")), Just(parsed("3e0"))],
        ),
        always("backoff", word(&["linear", "exponential"])),
        unknown_fields(),
    )
        .prop_map(|(a, b, unknown)| with(object([a, b]), unknown));
    let timeouts = &["300s", "60s", "30m", "500ms", "2h", "1.5h", "7d", "0s", "99999999999999d"];
    let fallbacks =
        prop_oneof![8 => list(nonempty(), 3), 1 => Just(Value::Array(vec![Value::from("codex://x"); 65]))];
    (
        always("timeout", word(timeouts)),
        always("retry_policy", policy),
        maybe("fallback_agents", prop_oneof![8 => fallbacks, 1 => Just(Value::Null)]),
        always("delivery_mode", word(&["async", "sync"])),
        unknown_fields(),
    )
        .prop_map(|(a, b, c, d, unknown)| with(object([a, b, c, d]), unknown))
        .boxed()
}

fn metadata() -> BoxedStrategy<Value<'static>> {
    let id = || prop_oneof![6 => "[a-z0-9_-]{1,12}".prop_map(Value::from), 1 => anything()];
    (
        maybe("task_id", id()),
        maybe("in_reply_to", id()),
        maybe("original_message_id", id()),
        maybe("correlation_id", id()),
        maybe("session_id", id()),
        maybe("expires_at", prop_oneof![4 => timestamp(), 1 => anything()]),
        maybe("retryable", prop_oneof![4 => truth(), 1 => anything()]),
        maybe("error_severity", word(&["low", "medium", "high", "critical", "P1"])),
        maybe("session_trace", anything()),
        maybe("diagnostics", any_object()),
        unknown_fields(),
    )
        .prop_map(|(a, b, c, d, e, f, g, h, i, j, unknown)| {
            with(object([a, b, c, d, e, f, g, h, i, j]), unknown)
        })
        .boxed()
}

/// A message type with its payload, which may be anything.
fn body() -> BoxedStrategy<Vec<Member>> {
    let typed = prop_oneof![
        payload("task_request", task_request()),
        payload("task_response", task_response()),
        payload("status_update", status_update()),
        payload("error", error()),
        payload("heartbeat", heartbeat()),
    ];
    let words = &["task_request", "task_response", "status_update", "error", "heartbeat"];
    let free = prop_oneof![anything(), Just(Value::Null), text()];
    let free = (always("message_type", word(words)), always("payload", free)).prop_map(|(a, b)| vec![a, b]);
    prop_oneof![8 => typed, 1 => free].boxed()
}

fn payload(message_type: &'static str, payload: BoxedStrategy<Vec<Member>>) -> BoxedStrategy<Vec<Member>> {
    (payload, shared(), unknown_fields())
        .prop_map(move |(own, shared, unknown)| {
            let payload = with(object(own.into_iter().chain(shared)), unknown);
            vec![Some(("message_type", Value::from(message_type))), Some(("payload", payload))]
        })
        .boxed()
}

/// Fields that any family may have, some with values that cannot be what the field says.
fn shared() -> BoxedStrategy<Vec<Member>> {
    let odd = || prop_oneof![4 => nonempty(), 1 => anything()];
    let kinds = super::convoke::KINDS;
    let gate = (
        maybe("action_required", truth()),
        maybe("decision", word(&["approved", "rejected", "later"])),
        maybe("reason", odd()),
    )
        .prop_map(|(a, b, c)| object([a, b, c]));
    let metrics = (maybe("duration_ms", number()), maybe("tokens", number()), maybe("other", number()))
        .prop_map(|(a, b, c)| object([a, b, c]));
    (
        maybe("kind", prop_oneof![3 => word(kinds), 1 => anything()]),
        maybe("title", odd()),
        maybe("data", anything()),
        maybe("schema", odd()),
        maybe("deadline", prop_oneof![2 => timestamp(), 1 => anything()]),
        maybe("refs", prop_oneof![2 => list(nonempty(), 2), 1 => anything()]),
        maybe("state", prop_oneof![2 => word(&["idle", "busy", "error", "offline"]), 1 => anything()]),
        maybe("substate", odd()),
        maybe("pid", prop_oneof![integer(0, 99_999), Just(Value::integer(-1)), number()]),
        maybe("gate", prop_oneof![2 => gate, 1 => anything()]),
        maybe("metrics", prop_oneof![2 => metrics, 1 => anything()]),
        maybe("severity", prop_oneof![2 => word(&["low", "high"]), 1 => anything()]),
    )
        .prop_map(|(a, b, c, d, e, f, g, h, i, j, k, l)| {
            // Half of the payloads are plain, as most senders write them.
            let members = vec![a, b, c, d, e, f, g, h, i, j, k, l];
            if members.iter().flatten().count() > 6 { Vec::new() } else { members }
        })
        .boxed()
}

fn task_request() -> BoxedStrategy<Vec<Member>> {
    let texts = || list(text(), 3);
    let types = word(&["code_review", "debugging", "help", "handoff", "approval", "question"]);
    (
        maybe("task_type", prop_oneof![4 => types, 1 => text(), 1 => Just(Value::Null)]),
        maybe("description", text()),
        maybe("files", texts()),
        maybe("acceptance_criteria", texts()),
        maybe("requirements", prop_oneof![texts(), anything()]),
        maybe("context", anything()),
        maybe("required_capabilities", texts()),
        maybe("preferred_framework", text()),
        maybe("task_id", text()),
        maybe("payload", prop_oneof![anything(), maybe("files", texts()).prop_map(|files| object([files]))]),
    )
        .prop_map(|(a, b, c, d, e, f, g, h, i, j)| vec![a, b, c, d, e, f, g, h, i, j])
        .boxed()
}

fn task_response() -> BoxedStrategy<Vec<Member>> {
    let finding = (
        maybe("severity", word(&["low", "medium", "high"])),
        maybe("file", text()),
        maybe("line", integer(0, 9_999)),
        maybe("message", text()),
        unknown_fields(),
    )
        .prop_map(|(a, b, c, d, unknown)| with(object([a, b, c, d]), unknown));
    let statuses = &["completed", "failed", "timeout", "pending", "in_progress", "rejected", "splendid"];
    (
        maybe("status", word(statuses)),
        maybe("findings", list(prop_oneof![4 => finding, 1 => text()], 3)),
        maybe("result", anything()),
        maybe("output", anything()),
        maybe("notes", text()),
        maybe("error", anything()),
        maybe("task_id", text()),
        maybe("agent_id", text()),
    )
        .prop_map(|(a, b, c, d, e, f, g, h)| vec![a, b, c, d, e, f, g, h])
        .boxed()
}

fn status_update() -> BoxedStrategy<Vec<Member>> {
    let statuses =
        &["in_progress", "blocked", "claimed", "healthy", "degraded", "offline", "shutdown", "odd"];
    (
        maybe("phase", text()),
        maybe("percent_complete", number()),
        maybe("notes", text()),
        maybe("status", word(statuses)),
        maybe("progress", Just(parsed("0.650"))),
        maybe("current_step", text()),
        maybe("completed_steps", list(anything(), 2)),
        maybe("remaining_steps", list(text(), 2)),
        maybe("estimated_completion", text()),
        maybe("resource_usage", resource_usage()),
        maybe("task_id", text()),
    )
        .prop_map(|(a, b, c, d, e, f, g, h, i, j, k)| vec![a, b, c, d, e, f, g, h, i, j, k])
        .boxed()
}

fn error() -> BoxedStrategy<Vec<Member>> {
    (
        maybe("code", text()),
        maybe("message", text()),
        maybe("details", prop_oneof![text(), anything()]),
        maybe("error_code", text()),
        maybe("error_message", text()),
        maybe("recovery_suggestions", list(text(), 3)),
        maybe("error", text()),
        maybe("status", word(&["failed", "odd"])),
        maybe("task_id", text()),
        maybe("agent_id", text()),
    )
        .prop_map(|(a, b, c, d, e, f, g, h, i, j)| vec![a, b, c, d, e, f, g, h, i, j])
        .boxed()
}

fn heartbeat() -> BoxedStrategy<Vec<Member>> {
    (
        maybe("status", word(&["healthy", "degraded", "unhealthy", "odd"])),
        maybe("active_tasks", integer(-1, 5)),
        maybe("cpu", number()),
        maybe("memory", number()),
        maybe("uptime", anything()),
        maybe("completed_tasks", integer(0, i64::MAX)),
        maybe("failed_tasks", integer(0, 5)),
        maybe("resource_usage", resource_usage()),
        maybe("performance_metrics", any_object()),
        maybe("current_tasks", prop_oneof![list(nonempty(), 3), anything()]),
    )
        .prop_map(|(a, b, c, d, e, f, g, h, i, j)| vec![a, b, c, d, e, f, g, h, i, j])
        .boxed()
}

fn resource_usage() -> BoxedStrategy<Value<'static>> {
    let share = || "0\\.[0-9]{1,4}".prop_map(|lexeme| parsed(&lexeme));
    (maybe("cpu", share()), maybe("memory", share()), maybe("network", share()), maybe("disk", share()))
        .prop_map(|(a, b, c, d)| object([a, b, c, d]))
        .boxed()
}

fn descriptor() -> BoxedStrategy<Value<'static>> {
    let texts = || list(text(), 2);
    let profile = (
        maybe("avg_response_time", word(&["5s", "200ms"])),
        maybe("success_rate", Just(parsed("0.940"))),
        maybe("concurrent_capacity", integer(0, 9)),
    )
        .prop_map(|(a, b, c)| object([a, b, c]));
    let capabilities = (
        maybe("input_types", texts()),
        maybe("output_types", texts()),
        maybe("languages", texts()),
        maybe("tools", texts()),
        maybe("model_preferences", texts()),
        maybe("optimal_tasks", texts()),
        maybe("performance_profile", profile),
        unknown_fields(),
    )
        .prop_map(|(a, b, c, d, e, f, g, unknown)| with(object([a, b, c, d, e, f, g]), unknown));
    let endpoints = (maybe("mcp", text()), maybe("http", text()), maybe("websocket", text()))
        .prop_map(|(a, b, c)| object([a, b, c]));
    let about = (
        maybe("version", text()),
        maybe("author", text()),
        maybe("tags", texts()),
        maybe("description", text()),
    )
        .prop_map(|(a, b, c, d)| object([a, b, c, d]));
    (agent(), always("capabilities", capabilities), always("endpoints", endpoints), always("metadata", about))
        .prop_filter("a framework has a name", |(agent, ..)| {
            agent.get("framework").and_then(Value::as_str).is_some_and(|framework| !framework.is_empty())
        })
        .prop_map(|(agent, a, b, c)| {
            let members = [a, b, c].into_iter().flatten();
            with(agent, members.map(|(key, value)| (key.to_owned(), value)).collect())
        })
        .boxed()
}

fn health() -> BoxedStrategy<Value<'static>> {
    (
        always("agent_id", nonempty()),
        always("status", word(&["healthy", "degraded", "unhealthy"])),
        always("last_check", timestamp()),
        always("response_time", integer(0, 9_999)),
        always("error_rate", Just(parsed("0.050"))),
        always("active_sessions", integer(0, 9)),
        always("resource_usage", resource_usage()),
        unknown_fields(),
    )
        .prop_map(|(a, b, c, d, e, f, g, unknown)| with(object([a, b, c, d, e, f, g]), unknown))
        .boxed()
}
