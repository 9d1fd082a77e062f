//! Documents of the dialect `convoke`: the canonical message as JSON.

use json::Value;
use proptest::prelude::*;

use super::{
    Member, always, any_object, anything, integer, list, maybe, nonempty, object, slug, text, timestamp,
    truth, unknown_fields, with, word,
};

/// Every kind of message.
pub const KINDS: &[&str] = &[
    "note",
    "announce",
    "task.request",
    "task.claim",
    "task.progress",
    "task.done",
    "task.failed",
    "task.rejected",
    "task.blocked",
    "help.ask",
    "help.reply",
    "handoff.offer",
    "handoff.reply",
    "agent.status",
    "agent.heartbeat",
    "error.report",
    "review.verdict",
    "gate",
    "question",
    "state.sync",
    "report",
];

/// Any valid document.
pub fn document() -> impl Strategy<Value = Value<'static>> {
    (head(), body(), work(), unknown_fields()).prop_map(|(head, body, work, unknown)| {
        let members = head.into_iter().chain(body).chain(work);
        with(object(members), unknown)
    })
}

fn head() -> impl Strategy<Value = Vec<Member>> {
    let address = prop_oneof![
        4 => slug(),
        1 => word(&["roles.developer", "#deploys", "channel:team-a", "all", "human", "claude#2", "did:plc:zoe", "codex://ann"]),
    ];
    let sender = prop_oneof![4 => slug(), 1 => word(&["did:plc:zoe", "codex://ann", "human", "system"])];
    let ids = "[a-zA-Z0-9:_-]{1,24}".prop_map(Value::from);
    (
        always("kind", word(KINDS)),
        always("from", sender),
        always("to", proptest::collection::vec(address, 1..3).prop_map(Value::Array)),
        maybe("native_id", ids.clone()),
        maybe("thread", ids.clone()),
        maybe("reply_to", ids.clone()),
        maybe("correlation", ids.clone()),
        maybe("task", prop_oneof![ids, Just(Value::from("0.0.4711"))]),
        maybe("priority", word(&["low", "normal", "high", "critical"])),
        maybe("severity", word(&["low", "medium", "high", "critical"])),
        maybe("created", timestamp()),
        maybe("deadline", timestamp()),
    )
        .prop_map(|(a, b, c, d, e, f, g, h, i, j, k, l)| vec![a, b, c, d, e, f, g, h, i, j, k, l])
}

fn body() -> impl Strategy<Value = Vec<Member>> {
    let attachment =
        (always("uri", word(&["file:a.diff", "https://example.com/x", "blob:1"])), maybe("name", nonempty()))
            .prop_map(|(uri, name)| object([uri, name]));
    (
        maybe("title", text()),
        maybe("text", text()),
        maybe("code", text()),
        maybe("data", anything()),
        maybe("schema", word(&["com.example.review", "note"])),
        maybe("attachments", list(attachment, 3)),
        maybe(
            "refs",
            list(word(&["at://did:plc:zoe/com.example.note/3jzfcijpj2z2a", "https://example.com/y"]), 2),
        ),
        maybe(
            "status",
            word(&["pending", "claimed", "running", "blocked", "done", "failed", "rejected", "cancelled"]),
        ),
        maybe("result", anything()),
    )
        .prop_map(|(a, b, c, d, e, f, g, h, i)| vec![a, b, c, d, e, f, g, h, i])
}

fn work() -> impl Strategy<Value = Vec<Member>> {
    let texts = || list(nonempty(), 3);
    let delivery = (
        maybe("mode", word(&["async", "sync"])),
        maybe("guarantee", word(&["at_least_once", "at_most_once"])),
        maybe("timeout", word(&["300s", "500ms", "1.5h"])),
        maybe("retries", integer(0, 9)),
        maybe("backoff", word(&["exponential", "linear"])),
        maybe("fallback", list(slug(), 2)),
    )
        .prop_map(|(a, b, c, d, e, f)| object([a, b, c, d, e, f]));
    let error = (
        maybe("code", nonempty()),
        maybe("message", text()),
        maybe("retryable", truth()),
        maybe("actions", texts()),
    )
        .prop_map(|(a, b, c, d)| object([a, b, c, d]));
    let metrics = (
        maybe("duration_ms", integer(0, 99_999)),
        maybe("tokens", integer(0, 99_999)),
        maybe("cost_usd", cost()),
    )
        .prop_map(|(a, b, c)| object([a, b, c]));
    let presence = (
        always("state", word(&["idle", "busy", "error", "offline", "maintenance"])),
        maybe("tasks", list(word(&["t-1", "t-2"]), 2)),
    )
        .prop_map(|(a, b)| object([a, b]));
    let brief = (
        maybe("task_type", nonempty()),
        maybe("context", prop_oneof![text(), any_object()]),
        maybe("constraints", texts()),
        maybe("criteria", texts()),
        maybe("dependencies", list(word(&["t-1", "t-2"]), 2)),
        maybe("output", any_object()),
    )
        .prop_map(|(a, b, c, d, e, f)| object([a, b, c, d, e, f]));
    let handoff =
        (maybe("reason", nonempty()), maybe("state", any_object())).prop_map(|(a, b)| object([a, b]));
    (
        maybe("delivery", delivery),
        maybe("error", error),
        maybe("metrics", metrics),
        maybe("presence", presence),
        maybe("brief", brief),
        maybe("handoff", handoff),
        maybe("gate", always("action_required", truth()).prop_map(|member| object([member]))),
    )
        .prop_map(|(a, b, c, d, e, f, g)| vec![a, b, c, d, e, f, g])
}

/// A cost, by its lexeme.
pub fn cost() -> impl Strategy<Value = Value<'static>> {
    "(0|[1-9][0-9]{0,3})(\\.[0-9]{1,6})?".prop_map(|lexeme| super::parsed(&lexeme))
}
