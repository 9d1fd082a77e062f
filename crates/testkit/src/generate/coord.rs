//! Documents of the dialect `coord`: messages of every type, changes of the shared state, and all of it.

mod payload;
mod state;

use json::{Object, Value};
use proptest::prelude::*;

use super::{
    Member, always, any_object, anything, integer, maybe, number, object, slug, timestamp, unknown_fields,
    with, word,
};

/// Every type of message.
pub const TYPES: &[&str] = &[
    "TASK_ASSIGNMENT",
    "TASK_HANDOFF",
    "TASK_UPDATE",
    "TASK_COMPLETE",
    "TASK_FAILED",
    "HELP_REQUEST",
    "HELP_RESPONSE",
    "STATUS_UPDATE",
    "HEARTBEAT",
    "ERROR_REPORT",
];
const PRIORITIES: &[&str] = &["low", "normal", "high", "critical"];
const LEVELS: &[&str] = &["low", "medium", "high", "critical"];

/// Any valid document.
pub fn document() -> impl Strategy<Value = Value<'static>> {
    prop_oneof![10 => message().boxed(), 1 => state::update(), 1 => state::shared()]
}

/// Any valid message.
pub fn message() -> impl Strategy<Value = Value<'static>> {
    let typed = prop_oneof![
        payload::assignment().prop_map(|payload| ("TASK_ASSIGNMENT", payload)),
        payload::handoff_request().prop_map(|payload| ("TASK_HANDOFF", payload)),
        payload::handoff_response().prop_map(|payload| ("TASK_HANDOFF", payload)),
        payload::update().prop_map(|payload| ("TASK_UPDATE", payload)),
        payload::complete().prop_map(|payload| ("TASK_COMPLETE", payload)),
        payload::failed().prop_map(|payload| ("TASK_FAILED", payload)),
        payload::help_request().prop_map(|payload| ("HELP_REQUEST", payload)),
        payload::help_response().prop_map(|payload| ("HELP_RESPONSE", payload)),
        payload::status().prop_map(|payload| ("STATUS_UPDATE", payload)),
        state::update().prop_map(|update| ("STATUS_UPDATE", object([Some(("state_update", update))]))),
        payload::heartbeat().prop_map(|payload| ("HEARTBEAT", payload)),
        payload::error_report().prop_map(|payload| ("ERROR_REPORT", payload)),
    ];
    (head(), typed, metadata(), unknown_fields(), unknown_fields()).prop_map(
        |(head, (name, payload), metadata, unknown, inner)| {
            let mut message = object(head);
            let members = message.as_object_mut().expect("it was made as an object");
            members.insert("type", name);
            members.insert("payload", with(payload, inner));
            members.insert("metadata", metadata);
            agree(members);
            with(message, unknown)
        },
    )
}

/// Makes the payload name the agents and the request that the message names.
fn agree(message: &mut Object<'static>) {
    let text = |key: &str| message.get(key).cloned();
    let (from, to) = (text("from"), text("to"));
    let request = message.get("metadata").and_then(|metadata| metadata.get("correlation_id")).cloned();
    let is_response = ["responder_id", "accepted"]
        .iter()
        .any(|key| message.get("payload").is_some_and(|payload| payload.get(key).is_some()));
    let request = request.filter(|id| !id.is_null()).unwrap_or_else(|| Value::from("request-1"));
    if is_response && let Some(Value::Object(metadata)) = message.get_mut("metadata") {
        metadata.insert("correlation_id", request.clone());
    }
    let Some(Value::Object(payload)) = message.get_mut("payload") else { return };
    for key in ["from_agent", "requester_id", "responder_id", "agent_id"] {
        if let (true, Some(from)) = (payload.contains_key(key), &from) {
            payload.insert(key, from.clone());
        }
    }
    if let (true, Some(to)) = (payload.contains_key("to_agent"), to) {
        payload.insert("to_agent", to);
    }
    if payload.contains_key("request_id") {
        payload.insert("request_id", request);
    }
}

fn head() -> impl Strategy<Value = Vec<Member>> {
    let odd = word(&["CLAUDE", "Codex Agent #1", "did:plc:zoe", "codex://ann", "system", "日本", "qc_1"]);
    let sender = prop_oneof![4 => slug(), 1 => odd];
    let recipient = prop_oneof![
        4 => slug(),
        1 => word(&["*", "all", "roles.developer", "#deploys", "claude#2", "Big Bob!", "system"]),
    ];
    (always("id", uuid()), always("timestamp", timestamp()), always("from", sender), always("to", recipient))
        .prop_map(|(a, b, c, d)| vec![a, b, c, d])
}

fn metadata() -> BoxedStrategy<Value<'static>> {
    let lifetime = prop_oneof![integer(0, 10_000_000), word_number(&["0", "1.5", "3e5", "9007199254740993"])];
    let extension = (
        maybe("x_state", word(&["BLOCKED", "RUNNING", "REVIEW", "STABLE", "CLAIMED", "RATE_LIMITED", "odd"])),
        maybe("x_kind", word(&["question", "gate", "note", "odd"])),
        maybe("x_details", prop_oneof![any_object(), payload::details()]),
    )
        .prop_map(|(a, b, c)| vec![a, b, c]);
    (
        nullable("correlation_id", id()),
        always("priority", word(PRIORITIES)),
        nullable("ttl_ms", lifetime),
        always("retry_count", integer(0, 9)),
        always("max_retries", prop_oneof![integer(0, 9), integer(0, i64::MAX)]),
        extension,
        unknown_fields(),
    )
        .prop_map(|(a, b, c, d, e, extension, unknown)| {
            with(object([a, b, c, d, e].into_iter().chain(extension)), unknown)
        })
        .boxed()
}

/// A UUID of any version, in either case.
fn uuid() -> impl Strategy<Value = Value<'static>> {
    prop_oneof![
        3 => "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
        1 => "[0-9A-F]{8}-[0-9A-F]{4}-[1-8][0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}",
    ]
    .prop_map(Value::from)
}

/// An id of a task or a conversation.
fn id() -> impl Strategy<Value = Value<'static>> {
    prop_oneof![6 => "[a-zA-Z0-9:_-]{1,24}", 1 => "task é [0-9]{1,3}", 1 => "[a-z]{512}"]
        .prop_map(Value::from)
}

/// A number that is not negative, by its lexeme.
fn quantity() -> impl Strategy<Value = Value<'static>> {
    number().prop_map(|number| {
        let lexeme = number.to_string();
        super::parsed(lexeme.trim_start_matches('-'))
    })
}

/// A share of so many.
fn share(of: u32) -> impl Strategy<Value = Value<'static>> {
    let inner = (0..of, "[0-9]{1,9}").prop_map(|(whole, digits)| super::parsed(&format!("{whole}.{digits}")));
    prop_oneof![2 => inner, 1 => integer(0, of.into()), 1 => Just(super::parsed("-0.0"))]
}

fn word_number(lexemes: &'static [&'static str]) -> impl Strategy<Value = Value<'static>> {
    proptest::sample::select(lexemes).prop_map(super::parsed)
}

/// A field that may be absent or null.
fn nullable(
    name: &'static str,
    value: impl Strategy<Value = Value<'static>>,
) -> impl Strategy<Value = Member> {
    prop_oneof![2 => Just(None), 1 => Just(Some(Value::Null)), 4 => value.prop_map(Some)]
        .prop_map(move |value| value.map(|value| (name, value)))
}

/// Any value, or none.
fn any_value(name: &'static str) -> impl Strategy<Value = Member> {
    nullable(name, anything())
}
