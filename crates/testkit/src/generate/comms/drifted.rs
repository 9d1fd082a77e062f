//! Records as the network writes them that drifted from the lexicons.

use json::Value;
use proptest::prelude::*;

use super::{record, unknown_fields};
use crate::generate::{always, anything, integer, list, maybe, object, parsed, text, timestamp, with, word};

/// Any record as the running network writes it: read, though no lexicon has it.
pub fn drifted() -> impl Strategy<Value = Value<'static>> {
    let record = prop_oneof![message(), broadcast(), task(), response(), handoff(),];
    (record, unknown_fields()).prop_map(|(record, unknown)| with(record, unknown))
}

fn message() -> BoxedStrategy<Value<'static>> {
    let content = prop_oneof![
        (Just(Some(("kind", Value::from("ref")))), always("uri", text())).prop_map(|(a, b)| object([a, b])),
        (Just(Some(("kind", Value::from("json")))), always("data", anything()))
            .prop_map(|(a, b)| object([a, b])),
        (Just(Some(("kind", Value::from("text")))), always("text", text())).prop_map(|(a, b)| object([a, b])),
    ];
    let head = (
        always("sender", did()),
        always("recipient", did()),
        maybe("thread", prop_oneof!["thread-[a-z0-9]{14}", "[a-z0-9]{14}"].prop_map(Value::from)),
        maybe("priority", integer(1, 5)),
    )
        .prop_map(|(a, b, c, d)| vec![a, b, c, d]);
    let body = (always("content", content), maybe("createdAt", timestamp())).prop_map(|(a, b)| vec![a, b]);
    record("agent.comms.message", head, body)
}

fn broadcast() -> BoxedStrategy<Value<'static>> {
    let content = always("text", text()).prop_map(|text| object([Some(("kind", Value::from("text"))), text]));
    let head = (
        always("sender", did()),
        maybe("senderName", text()),
        always("recipient", did()),
        maybe("intent", word(&["plan", "request", "status", "response", "alert", "other"])),
    )
        .prop_map(|(a, b, c, d)| vec![a, b, c, d]);
    let body = (
        always("content", content),
        always("createdAt", timestamp()),
        maybe("processedAt", timestamp()),
        maybe("consumedCycles", integer(0, 9)),
    )
        .prop_map(|(a, b, c, d)| vec![a, b, c, d]);
    record("agent.comms.broadcast", head, body)
}

fn task() -> BoxedStrategy<Value<'static>> {
    let head = (
        always("sender", did()),
        always("recipient", did()),
        always("replyTo", id()),
        always("task", text()),
    )
        .prop_map(|(a, b, c, d)| vec![a, b, c, d]);
    let body = (
        maybe("params", anything()),
        maybe("resultVisibility", word(&["private", "shared", "public"])),
        always("createdAt", timestamp()),
    )
        .prop_map(|(a, b, c)| vec![a, b, c]);
    record("agent.comms.task", head, body)
}

fn response() -> BoxedStrategy<Value<'static>> {
    let head = (
        always("sender", did()),
        always("recipient", did()),
        always("requestUri", id()),
        always("status", word(&["accepted", "completed", "failed", "rejected"])),
    )
        .prop_map(|(a, b, c, d)| vec![a, b, c, d]);
    let body = (maybe("result", anything()), maybe("error", text()), always("createdAt", timestamp()))
        .prop_map(|(a, b, c)| vec![a, b, c]);
    record("agent.comms.response", head, body)
}

fn handoff() -> BoxedStrategy<Value<'static>> {
    let shared = parsed(r#"{"recordId":"did:cf:abc/agent.comms.message/x","encryptedDek":"AAAA"}"#);
    let head = (always("from", did()), always("to", did()), always("reason", text()))
        .prop_map(|(a, b, c)| vec![a, b, c]);
    let body = (maybe("context", list(Just(shared), 3)), always("createdAt", timestamp()))
        .prop_map(|(a, b)| vec![a, b]);
    record("agent.comms.handoff", head, body)
}

/// DIDs of the running network; a federated one is no DID.
fn did() -> impl Strategy<Value = Value<'static>> {
    prop_oneof!["did:cf:[0-9a-f]{16}", "did:cf:[0-9a-f]{16}@[a-z]{3,9}"].prop_map(Value::from)
}

/// Ids of records of the running network.
fn id() -> impl Strategy<Value = Value<'static>> {
    prop_oneof![
        "did:cf:[0-9a-f]{16}/agent.comms.task/[0-9a-z]{14}",
        "at://did:cf:[0-9a-f]{16}/agent.comms.task/[0-9a-z]{14}",
    ]
    .prop_map(Value::from)
}
