//! Documents of the dialect `comms`: records of the `agent.comms.*` lexicons.

mod drifted;

use json::{Object, Value};
use proptest::prelude::*;

use super::{Member, always, integer, list, maybe, object, parsed, text, timestamp, truth, with, word};

pub use drifted::drifted;

const ALICE: &str = "did:plc:alice7iza6de2dwap2sb";
const URIS: &[&str] = &[
    "at://did:plc:alice7iza6de2dwap2sb/agent.comms.request/3jzfcijpj2z2a",
    "at://did:web:bob.example.com/agent.comms.message/3kznmn7xqxl22",
    "at://did:plc:alice7iza6de2dwap2sb/agent.comms.handoff/3jzfcijpj2z2a",
    "at://did:web:cyd.agent.invalid/com.example.note/self#/text",
    "at://alice.example.com/agent.comms.request/2222222222222",
    "at://did:plc:alice7iza6de2dwap2sb",
];
const SCHEMAS: &[&str] = &[
    "com.example.review",
    "agent.comms.ext.data",
    "agent.comms.ext.value",
    "agent.comms.ext.other",
    "a.b.c.v2",
];
const EXTENSIONS: &[&str] = &[
    "note",
    "question",
    "gate",
    "announce",
    "report",
    "errorReport",
    "stateSync",
    "presence",
    "request",
    "help",
    "claim",
    "progress",
    "done",
    "failed",
    "rejected",
    "blocked",
    "handoff",
    "review",
];

/// Any valid record.
pub fn document() -> impl Strategy<Value = Value<'static>> {
    let record = prop_oneof![message(), broadcast(), request(), response(), handoff()];
    (record, unknown_fields()).prop_map(|(record, unknown)| with(record, unknown))
}

/// Any object of the AT Protocol's data model: no fractions, no integers beyond 64 bits, no reserved names.
pub fn data() -> impl Strategy<Value = Value<'static>> {
    members(data_value()).prop_map(Value::Object)
}

fn message() -> BoxedStrategy<Value<'static>> {
    let head = (
        always("sender", did()),
        maybe("senderHandle", handle()),
        always("recipient", did()),
        maybe("recipientHandle", handle()),
        maybe("thread", tid()),
        maybe("inReplyTo", uri()),
        maybe("context", uris(50)),
    )
        .prop_map(|(a, b, c, d, e, f, g)| vec![a, b, c, d, e, f, g]);
    let body = (
        always("content", content()),
        maybe("priority", integer(0, 5)),
        always("createdAt", timestamp()),
        maybe("expiresAt", timestamp()),
    )
        .prop_map(|(a, b, c, d)| vec![a, b, c, d]);
    record("agent.comms.message", head, body)
}

fn broadcast() -> BoxedStrategy<Value<'static>> {
    let selector = prop_oneof![
        did().prop_filter("a selector has at most 256 bytes", |did| did
            .as_str()
            .is_some_and(|did| did.len() <= 256)),
        word(&[
            "#deploys",
            "deploys",
            "backend",
            "Big Team",
            "roles.developer",
            "all",
            "channel:team-a",
            "#",
            ""
        ]),
        "[ -~é]{0,128}".prop_map(Value::from),
    ];
    let head = (
        always("sender", did()),
        maybe("senderHandle", handle()),
        maybe("audience", list(selector, 6)),
        maybe("topic", word(&["deploys", "backend", ""])),
        maybe("severity", word(&["info", "notice", "warning", "critical"])),
    )
        .prop_map(|(a, b, c, d, e)| vec![a, b, c, d, e]);
    let body = (
        always("content", content()),
        maybe("ttlSeconds", prop_oneof![integer(0, 604_800), integer(0, 1)]),
        always("createdAt", timestamp()),
        maybe("expiresAt", timestamp()),
    )
        .prop_map(|(a, b, c, d)| vec![a, b, c, d]);
    record("agent.comms.broadcast", head, body)
}

fn request() -> BoxedStrategy<Value<'static>> {
    let head = (
        always("sender", did()),
        maybe("senderHandle", handle()),
        maybe("assignee", did()),
        always("task", within(512)),
        maybe("params", payload()),
    )
        .prop_map(|(a, b, c, d, e)| vec![a, b, c, d, e]);
    let body = (
        maybe("context", uris(50)),
        maybe("priority", integer(0, 5)),
        maybe("deadline", timestamp()),
        always("createdAt", timestamp()),
    )
        .prop_map(|(a, b, c, d)| vec![a, b, c, d]);
    record("agent.comms.request", head, body)
}

fn response() -> BoxedStrategy<Value<'static>> {
    let code = prop_oneof![Just("BLOCKED".to_owned()), Just("TIMEOUT".to_owned()), "[a-zé]{1,60}"];
    let failure = (
        always("code", code.prop_map(Value::from)),
        maybe("message", within(2_048)),
        maybe("retryable", truth()),
    )
        .prop_map(|(a, b, c)| object([a, b, c]));
    let status = prop_oneof![
        word(&["ok", "partial"]).prop_map(|status| vec![Some(("status", status))]),
        (word(&["error", "rejected", "partial"]), failure)
            .prop_map(|(status, failure)| vec![Some(("status", status)), Some(("error", failure))]),
    ];
    let head = (
        always("sender", did()),
        maybe("senderHandle", handle()),
        always("request", uri()),
        status,
        maybe("result", payload()),
    )
        .prop_map(|(a, b, c, d, e)| [vec![a, b, c, e], d].concat());
    let metrics = (maybe("durationMs", integer(0, i64::MAX)), maybe("tokenUsage", integer(0, 99_999)))
        .prop_map(|(a, b)| object([a, b]));
    let body = (maybe("artifacts", uris(50)), maybe("metrics", metrics), always("createdAt", timestamp()))
        .prop_map(|(a, b, c)| vec![a, b, c]);
    record("agent.comms.response", head, body)
}

fn handoff() -> BoxedStrategy<Value<'static>> {
    let head = (
        always("from", did()),
        maybe("fromHandle", handle()),
        always("to", did()),
        maybe("toHandle", handle()),
        maybe("session", tid()),
        always("summary", within(10_000)),
    )
        .prop_map(|(a, b, c, d, e, f)| vec![a, b, c, d, e, f]);
    let body = (
        maybe("state", payload()),
        maybe("context", uris(100)),
        maybe("artifacts", uris(100)),
        maybe("expiresAt", timestamp()),
        always("createdAt", timestamp()),
    )
        .prop_map(|(a, b, c, d, e)| vec![a, b, c, d, e]);
    record("agent.comms.handoff", head, body)
}

fn record(
    name: &'static str,
    head: impl Strategy<Value = Vec<Member>> + 'static,
    body: impl Strategy<Value = Vec<Member>> + 'static,
) -> BoxedStrategy<Value<'static>> {
    (head, body)
        .prop_map(move |(head, body)| {
            let kind = Some(("$type", Value::from(name)));
            object(std::iter::once(kind).chain(head).chain(body))
        })
        .boxed()
}

fn content() -> BoxedStrategy<Value<'static>> {
    let one = |kind: &'static str, name: &'static str, value: BoxedStrategy<Value<'static>>| {
        (Just(Some(("kind", Value::from(kind)))), always(name, value)).prop_map(|(a, b)| vec![a, b])
    };
    let main = prop_oneof![
        one("text", "text", within(10_000).boxed()),
        one("json", "data", content_data().boxed()),
        one("event", "data", content_data().boxed()),
        one("binary", "blob", blob().boxed()),
    ];
    let siblings = (
        maybe("text", within(10_000)),
        maybe("data", content_data()),
        maybe("blob", blob()),
        maybe("mimeType", "[a-z]{1,8}/[a-z]{1,8}".prop_map(Value::from)),
    );
    let parts = (main, siblings, unknown_fields());
    let made = parts.prop_map(|(main, (a, b, c, d), unknown)| {
        let mut content = object([a, b, c, d]);
        if let Some(object) = content.as_object_mut() {
            for (key, value) in main.into_iter().flatten() {
                object.insert(key, value);
            }
        }
        with(content, unknown)
    });
    made.boxed()
}

fn content_data() -> BoxedStrategy<Value<'static>> {
    let named =
        |name: String, data: Value<'static>| with(data, vec![("$type".to_owned(), Value::from(name))]);
    prop_oneof![
        data(),
        (proptest::sample::select(SCHEMAS), data())
            .prop_map(move |(name, data)| named(name.to_owned(), data)),
        (proptest::sample::select(EXTENSIONS), envelope())
            .prop_map(move |(name, data)| named(format!("agent.comms.ext.{name}"), data)),
    ]
    .boxed()
}

fn payload() -> BoxedStrategy<Value<'static>> {
    let made = |schema: String, data: Value<'static>| {
        object([Some(("schema", Value::from(schema))), Some(("data", data))])
    };
    prop_oneof![
        (proptest::sample::select(SCHEMAS), data()).prop_map(move |(name, data)| made(name.to_owned(), data)),
        (proptest::sample::select(EXTENSIONS), envelope())
            .prop_map(move |(name, data)| made(format!("agent.comms.ext.{name}"), data)),
    ]
    .boxed()
}

/// What an envelope may hold, right and wrong.
fn envelope() -> BoxedStrategy<Value<'static>> {
    let odd = || prop_oneof![3 => text(), 1 => data_value()];
    let head = (
        maybe("kind", word(&["agent.heartbeat", "note", ""])),
        maybe("shows", word(&["title", "text"])),
        maybe(
            "to",
            prop_oneof![
                list(word(&["all", "#deploys", "did:plc:zoe", "roles.developer", "claude#2"]), 3),
                odd()
            ],
        ),
        maybe("task", odd()),
        maybe("thread", odd()),
        maybe("reply_to", odd()),
    )
        .prop_map(|(a, b, c, d, e, f)| vec![a, b, c, d, e, f]);
    let body = (
        maybe("title", odd()),
        maybe("text", odd()),
        maybe("data", data_value()),
        maybe("priority", prop_oneof![word(&["low", "critical"]), odd()]),
        maybe("status", prop_oneof![word(&["done", "blocked"]), odd()]),
        maybe("expires", prop_oneof![timestamp(), odd()]),
        maybe("error", prop_oneof![data(), odd()]),
        maybe("brief", data()),
        maybe("presence", prop_oneof![Just(parsed(r#"{"state":"busy","pid":7}"#)), odd()]),
    )
        .prop_map(|(a, b, c, d, e, f, g, h, i)| vec![a, b, c, d, e, f, g, h, i]);
    let made = (head, body, data()).prop_map(|(head, body, rest)| {
        let rest = rest.as_object().cloned().unwrap_or_default();
        let rest = rest.into_iter().map(|(key, value)| (key.into_owned(), value)).collect();
        with(object(head.into_iter().chain(body)), rest)
    });
    made.boxed()
}

fn blob() -> BoxedStrategy<Value<'static>> {
    let made = (integer(1, 10_485_760), word(&["image/png", "application/pdf"])).prop_map(|(size, mime)| {
        let mut blob = parsed(
            r#"{"$type":"blob","ref":{"$link":"bafkreibme22gw2h7y2h7tg2fhqotaqjucnbc24deqo72b6mkl2egezxhvy"}}"#,
        );
        if let Some(object) = blob.as_object_mut() {
            object.insert("mimeType", mime);
            object.insert("size", size);
        }
        blob
    });
    made.boxed()
}

fn did() -> BoxedStrategy<Value<'static>> {
    prop_oneof![
        word(&[ALICE, "did:web:bob.example.com", "did:web:ann.agent.invalid", "did:key:zQ3sh%41:x_y-z"]),
        "did:[a-z]{1,6}:[a-zA-Z0-9._-]{1,24}[a-z]".prop_map(Value::from),
        "did:plc:[a-z0-9]{500,700}".prop_map(Value::from),
    ]
    .boxed()
}

fn handle() -> BoxedStrategy<Value<'static>> {
    "[a-z]{1,8}\\.example\\.com".prop_map(Value::from).boxed()
}

fn tid() -> BoxedStrategy<Value<'static>> {
    "[2-7a-j][2-7a-z]{12}".prop_map(Value::from).boxed()
}

fn uri() -> BoxedStrategy<Value<'static>> {
    prop_oneof![
        6 => word(URIS),
        1 => "at://did:plc:[a-z]{600,700}/agent\\.comms\\.request/3jzfcijpj2z2a".prop_map(Value::from),
    ]
    .boxed()
}

/// A few URIs, or as many as there may be.
fn uris(most: usize) -> BoxedStrategy<Value<'static>> {
    let full = uri().prop_map(move |uri| Value::Array(vec![uri; most]));
    prop_oneof![9 => list(uri(), 3), 1 => full].boxed()
}

/// Text of at most so many bytes, often of exactly as many.
fn within(bytes_max: usize) -> impl Strategy<Value = Value<'static>> {
    let cut = move |text: Value<'static>| {
        let text = text.as_str().unwrap_or_default();
        let mut end = text.len().min(bytes_max);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Value::from(text[..end].to_owned())
    };
    prop_oneof![6 => text().prop_map(cut), 1 => Just(Value::from("é".repeat(bytes_max / 2)))]
}

/// Fields that no lexicon names.
fn unknown_fields() -> BoxedStrategy<Vec<(String, Value<'static>)>> {
    proptest::collection::vec(("zz[A-Za-z_/~]{1,6}", data_value()), 0..3).boxed()
}

fn data_value() -> BoxedStrategy<Value<'static>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::integer),
        word(&["1.5", "null"]),
        Just(parsed("123.0")),
        text(),
        Just(parsed("[[[[[[[[[[{}]]]]]]]]]]")),
    ];
    let tree = leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            members(inner).prop_map(Value::Object),
        ]
    });
    tree.boxed()
}

fn members(value: impl Strategy<Value = Value<'static>>) -> impl Strategy<Value = Object<'static>> {
    let key = prop_oneof![4 => "[a-zA-Z_]{1,8}", 1 => "[#-~é][ -~é]{0,6}"];
    let key = key.prop_filter("reserved", |key| !key.starts_with('$'));
    proptest::collection::vec((key, value), 0..4).prop_map(|members| members.into_iter().collect())
}
