//! Documents of the dialect `wire`: wires of every type, and the bare pointer. Cards are no messages.
//!
//! The parts are boxed: a strategy of so many fields is otherwise larger than the stack of a test.

use json::Value;
use proptest::prelude::*;

use super::convoke::cost;
use super::{
    Member, always, any_object, integer, list, maybe, nonempty, number, object, parsed, slug, text,
    timestamp, truth, unknown_fields, with, word,
};

/// Any valid document.
pub fn document() -> impl Strategy<Value = Value<'static>> {
    prop_oneof![
        3 => wire("brief", sender(), brief()),
        4 => wire("inbox", sender(), inbox()),
        2 => wire("complete", sender(), complete()),
        2 => wire("blocked", sender(), blocked()),
        1 => claim(),
        1 => wire("available", slug(), available()),
        1 => ledger_names(),
        1 => task_id().prop_map(|id| object([Some(("task_id", id))])),
    ]
}

/// The id of a topic of the ledger.
pub fn task_id() -> impl Strategy<Value = Value<'static>> {
    prop_oneof![Just("0.0.4711".to_owned()), "[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,12}"].prop_map(Value::from)
}

fn wire(
    name: &'static str,
    sender: impl Strategy<Value = Value<'static>> + 'static,
    payload: impl Strategy<Value = Value<'static>> + 'static,
) -> BoxedStrategy<Value<'static>> {
    let id = || prop_oneof![4 => "[a-zA-Z0-9:._-]{1,24}", 1 => "[a-z\\t]{500,520}"].prop_map(Value::from);
    let seq = prop_oneof![integer(1, 9), Just(parsed("9007199254740993"))];
    (
        always("wire", word(&["1.0", "1.1", "1.2"])),
        always("type", Just(Value::from(name))),
        always("sender", sender),
        always("ts", timestamp()),
        maybe("wire_id", id()),
        maybe("stream_id", id()),
        maybe("stream_seq", seq),
        maybe("correlation_id", id()),
        always("payload", payload),
        unknown_fields(),
    )
        .prop_map(move |(a, b, c, d, e, f, g, h, i, unknown)| {
            // A role topic carries little.
            if name.ends_with("available") {
                object([a, b, c, d, g, i])
            } else {
                with(object([a, b, c, d, e, f, g, h, i]), unknown)
            }
        })
        .boxed()
}

fn sender() -> impl Strategy<Value = Value<'static>> {
    prop_oneof![
        4 => slug(),
        1 => word(&["system", "human", "runner", "dreamborn:publisher", "did:plc:zoe", "a_b.c:d-9"]),
    ]
}

fn brief() -> impl Strategy<Value = Value<'static>> {
    let texts = || list(nonempty(), 3);
    let output = (
        always("type", word(&["file", "json", "pr", "message", "report"])),
        maybe("schema_ref", or_null(slug())),
        maybe("output_ref_required", truth()),
        maybe("min_length", integer(0, 9_999)),
        maybe("evaluate", or_null(nonempty())),
        unknown_fields(),
    )
        .prop_map(|(a, b, c, d, e, unknown)| with(object([a, b, c, d, e]), unknown));
    let env = (
        always("client_id", nonempty()),
        always("task_id", task_id()),
        maybe("project_id", or_null(task_id())),
        maybe("repo_url", or_null(nonempty())),
        maybe("worktree_path", or_null(nonempty())),
        unknown_fields(),
    )
        .prop_map(|(a, b, c, d, e, unknown)| with(object([a, b, c, d, e]), unknown));
    let goal = prop_oneof![
        nonempty(),
        word(&["The parser is built.", "Build the parser.", "It is done. Really.", "Ünïcode 😀 is read."]),
    ];
    payload(
        (
            always("goal", goal),
            maybe("context", or_null(at_most_words(200))),
            maybe("constraints", or_null(texts())),
            always("acceptance_criteria", proptest::collection::vec(nonempty(), 1..4).prop_map(Value::Array)),
            always("output_contract", output),
            maybe("escalation_triggers", texts()),
            always("env", env),
        )
            .prop_map(|(a, b, c, d, e, f, g)| vec![a, b, c, d, e, f, g]),
    )
}

fn inbox() -> impl Strategy<Value = Value<'static>> {
    let to = prop_oneof![4 => slug(), 1 => word(&["all", "human", "roles.developer", "channel:team-a", "topic:x"])];
    let message_type =
        word(&["task.feedback", "status.update", "task.blocked", "exec.gate", "question", "info"]);
    payload(
        (
            always("to_agent", to),
            always("priority", integer(1, 3)),
            always("message_type", message_type),
            maybe("ref_task_id", or_null(task_id())),
            always("subject", text()),
            always("body", text()),
            always("action_required", truth()),
        )
            .prop_map(|(a, b, c, d, e, f, g)| vec![a, b, c, d, e, f, g]),
    )
}

fn complete() -> impl Strategy<Value = Value<'static>> {
    let verification = (
        always("mechanical", word(&["pass"])),
        always("semantic", word(&["pass", "skipped"])),
        always("attempts", integer(1, 9)),
        unknown_fields(),
    )
        .prop_map(|(a, b, c, unknown)| with(object([a, b, c]), unknown));
    let figure = || {
        let positive = number().prop_filter("not negative", |number| !number.to_string().starts_with('-'));
        prop_oneof![3 => cost(), 1 => positive, 1 => Just(parsed("-0.0"))]
    };
    payload(
        (
            always("task_id", task_id()),
            always("agent", slug()),
            always("output_ref", or_null(nonempty())),
            always("summary", at_most_words(150)),
            always("cost_usd", figure()),
            always("duration_seconds", figure()),
            always("verification", verification),
        )
            .prop_map(|(a, b, c, d, e, f, g)| vec![a, b, c, d, e, f, g]),
    )
}

fn blocked() -> impl Strategy<Value = Value<'static>> {
    let blocker =
        word(&["spec_gap", "dependency", "tool_failure", "ambiguity", "resource", "verification_fail"]);
    payload(
        (
            always("task_id", task_id()),
            always("agent", slug()),
            always("reason", prop_oneof![nonempty(), at_most_words(900).prop_filter("said", is_filled)]),
            always("blocker_type", blocker),
            maybe("suggested_resolution", or_null(text())),
            always("attempts", integer(1, 9)),
        )
            .prop_map(|(a, b, c, d, e, f)| vec![a, b, c, d, e, f]),
    )
}

/// A claim, whose agent is its sender.
fn claim() -> impl Strategy<Value = Value<'static>> {
    slug().prop_flat_map(|agent| wire("claim", Just(agent.clone()), claim_of(agent)))
}

fn claim_of(agent: Value<'static>) -> impl Strategy<Value = Value<'static>> {
    payload(
        (always("task_id", task_id()), always("agent", Just(agent)), always("role", role()))
            .prop_map(|(a, b, c)| vec![a, b, c]),
    )
}

fn available() -> impl Strategy<Value = Value<'static>> {
    (always("task_id", task_id()), always("role", role())).prop_map(object_of_two)
}

/// Wires under the names that the ledger has for their types.
fn ledger_names() -> impl Strategy<Value = Value<'static>> {
    prop_oneof![
        wire("task.complete", sender(), complete()),
        wire("task.blocked", sender(), blocked()),
        wire("task.available", slug(), available()),
    ]
}

fn role() -> impl Strategy<Value = Value<'static>> {
    word(&["developer", "ba", "roles.ba", "roles.developer", "4x", "any"])
}

fn object_of_two((a, b): (Member, Member)) -> Value<'static> {
    object([a, b])
}

fn payload(members: impl Strategy<Value = Vec<Member>> + 'static) -> BoxedStrategy<Value<'static>> {
    let strange = maybe("x_origin", any_object());
    (members, strange, unknown_fields())
        .prop_map(|(members, strange, unknown)| with(object(members.into_iter().chain([strange])), unknown))
        .boxed()
}

fn or_null(value: impl Strategy<Value = Value<'static>>) -> impl Strategy<Value = Value<'static>> {
    prop_oneof![4 => value, 1 => Just(Value::Null)]
}

/// Text, cut where it has more words than allowed.
fn at_most_words(words_max: usize) -> impl Strategy<Value = Value<'static>> {
    text().prop_map(move |value| {
        let text = value.as_str().unwrap_or_default();
        if text.split_whitespace().count() <= words_max {
            return value;
        }
        Value::from(text.split_whitespace().take(words_max).collect::<Vec<_>>().join(" "))
    })
}

fn is_filled(value: &Value<'static>) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}
