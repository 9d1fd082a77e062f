//! Documents of the dialect `channel`: messages and the presence documents of its users.
//!
//! Strategies are boxed: as one value of many nested types they would not fit the stack of a test.

use json::Value;
use proptest::prelude::*;

use super::{
    Member, always, any_object, anything, integer, list, maybe, nonempty, object, slug, text, timestamp,
    truth, unknown_fields, with, word,
};

/// The types of messages that are known, and one that is not.
#[rustfmt::skip]
pub const TYPES: &[&str] = &[
    "chat", "task_assign", "task_result", "review_vote", "ha_report", "bag_analysis", "incident", "docs",
    "qc_review", "review", "triage", "code-review", "code", "supervisor", "directive", "brainstorm",
];

/// Any valid document.
pub fn document() -> impl Strategy<Value = Value<'static>> {
    prop_oneof![
        12 => message(),
        2 => watcher_heartbeat(),
        2 => daemon_heartbeat(),
        1 => poller_heartbeat(),
        1 => typing(),
    ]
}

/// A message.
pub fn message() -> BoxedStrategy<Value<'static>> {
    (head(), content(), metadata(), unknown_fields())
        .prop_map(|(mut head, content, metadata, unknown)| {
            head.extend([content, metadata]);
            with(object(head), unknown)
        })
        .boxed()
}

/// A heartbeat as watchers write it.
pub fn watcher_heartbeat() -> BoxedStrategy<Value<'static>> {
    (heartbeat(), maybe("watcher_pid", integer(0, u32::MAX.into())), metadata(), unknown_fields())
        .prop_map(|(mut heartbeat, pid, metadata, unknown)| {
            heartbeat.extend([pid, metadata]);
            with(object(heartbeat), unknown)
        })
        .boxed()
}

/// A heartbeat as daemons write it.
pub fn daemon_heartbeat() -> BoxedStrategy<Value<'static>> {
    (heartbeat(), always("mode", word(&["daemon"])), maybe("session_persistent", truth()))
        .prop_map(|(mut heartbeat, mode, persistent)| {
            heartbeat.extend([mode, persistent]);
            object(heartbeat)
        })
        .boxed()
}

/// A heartbeat as the first pollers wrote it.
pub fn poller_heartbeat() -> BoxedStrategy<Value<'static>> {
    (
        always("agent", agent()),
        always("session", channel()),
        always("timestamp", utc()),
        metadata(),
        unknown_fields(),
    )
        .prop_map(|(agent, session, timestamp, metadata, unknown)| {
            let status = Some(("status", Value::from("active")));
            with(object([agent, session, timestamp, status, metadata]), unknown)
        })
        .boxed()
}

/// A typing indicator.
pub fn typing() -> BoxedStrategy<Value<'static>> {
    (
        always("agent", agent()),
        always("timestamp", utc()),
        always("ttl_ms", integer(0, 86_400_000)),
        always("session", channel()),
    )
        .prop_map(|(agent, timestamp, ttl, session)| {
            object([agent, Some(("status", Value::from("typing"))), timestamp, ttl, session])
        })
        .boxed()
}

fn head() -> BoxedStrategy<Vec<Member>> {
    let file_agent = prop_oneof!["[a-z][a-z0-9-]{0,10}", Just("qc-1".to_owned()), Just("hamgr".to_owned())];
    let to = prop_oneof![3 => agent(), 3 => word(&["all"]), 1 => word(&["human", "claude-1", "roles.dev"])];
    (second(), fraction(), file_agent, any::<u16>(), channel(), agent(), to, word(TYPES))
        .prop_map(|((date, time), fraction, file_agent, hex, channel, from, to, kind)| {
            let digits = |text: &str| text.replace(['-', ':'], "");
            let id = format!("msg-{}-{}-{file_agent}-{hex:04x}", digits(&date), digits(&time));
            vec![
                Some(("id", Value::from(id))),
                Some(("timestamp", Value::from(format!("{date}T{time}{fraction}Z")))),
                Some(("session_id", channel)),
                Some(("from", from)),
                Some(("to", to)),
                Some(("type", kind)),
            ]
        })
        .boxed()
}

fn content() -> BoxedStrategy<Member> {
    let described = (
        always("path", nonempty()),
        maybe("name", nonempty()),
        maybe("size", prop_oneof![integer(0, i64::MAX), anything()]),
        maybe("mime", word(&["text/x-diff"])),
        unknown_fields(),
    )
        .prop_map(|(path, name, size, mime, unknown)| with(object([path, name, size, mime]), unknown));
    let artifact = prop_oneof![4 => nonempty(), 2 => described, 1 => any_object(), 1 => text()];
    let spoken = prop_oneof![
        4 => text(),
        1 => word(&["", "@codex @gemini Please review", "Codex, look", "line one\ncodex: line two", "mail me@qc-1.example"]),
        1 => proptest::sample::select(&[1_023, 1_024, 1_025, 2_048, 2_049, 9_999, 10_000, 10_001][..])
            .prop_map(|bytes| Value::from("x".repeat(bytes))),
    ];
    let code = prop_oneof![text(), Just(Value::Null)];
    let artifacts = prop_oneof![3 => list(artifact, 4), 1 => Just(Value::Null)];
    (always("text", spoken), maybe("code", code), maybe("artifacts", artifacts), unknown_fields())
        .prop_map(|(text, code, artifacts, unknown)| with(object([text, code, artifacts]), unknown))
        .prop_map(|content| Some(("content", content)))
        .boxed()
}

fn metadata() -> BoxedStrategy<Member> {
    let or_null = |value: Value<'static>| prop_oneof![3 => Just(value), 1 => Just(Value::Null)];
    let known = (
        maybe("mode", word(&["chat", "watcher", "daemon"])),
        maybe("turn", slug()),
        maybe("in_reply_to", text().prop_flat_map(or_null)),
        maybe("in_reply_to", word(&["msg-20260111-163300-codex-a1b2"]).prop_flat_map(or_null)),
        maybe("model", nonempty()),
        maybe("role", word(&["quality_control", "incident_triage"])),
        maybe("session_persistent", truth()),
        maybe("hops", integer(0, 9)),
    )
        .prop_map(|(a, b, c, d, e, f, g, h)| vec![a, b, c, d, e, f, g, h])
        .boxed();
    // Names of our own: what they should hold, and anything else.
    let ours = (
        maybe("x_kind", prop_oneof![word(super::convoke::KINDS), text()]),
        maybe("x_priority", prop_oneof![word(&["low", "normal", "high", "critical", "URGENT1"]), anything()]),
        maybe("x_task", prop_oneof![nonempty(), anything()]),
        maybe(
            "x_to",
            prop_oneof![list(agent(), 3), list(word(&["all", "#deploys", "ann#2"]), 2), anything()],
        ),
        maybe("x_thread", prop_oneof![nonempty(), anything()]),
        maybe("x_expires", prop_oneof![timestamp(), anything()]),
        maybe("x_error", anything()),
        maybe("x_data", anything()),
        maybe("x_lead", prop_oneof![word(&["@codex ", "x", "Codex, look"]), anything()]),
        maybe("x_origin", anything()),
    )
        .prop_map(|(a, b, c, d, e, f, g, h, i, j)| vec![a, b, c, d, e, f, g, h, i, j])
        .boxed();
    let all = (known, proptest::option::weighted(0.3, ours), unknown_fields()).prop_map(
        |(known, ours, unknown)| with(object(known.into_iter().chain(ours.into_iter().flatten())), unknown),
    );
    maybe("metadata", prop_oneof![6 => all, 1 => Just(Value::Null)]).boxed()
}

fn heartbeat() -> BoxedStrategy<Vec<Member>> {
    let words = prop_oneof![
        4 => word(&["IDLE", "WORKING", "REVIEWING", "TRIAGING", "OFFLINE", "SHUTDOWN", "PONDERING"])
            .prop_map(|substate| ("AWAKE", Some(substate))),
        1 => Just(("SLEEPING", Some(Value::from("SHUTDOWN")))),
        1 => Just(("OFFLINE", None)),
    ];
    (always("agent_id", agent()), always("timestamp", utc()), words, always("channel", channel()))
        .prop_map(|(agent, timestamp, (state, substate), channel)| {
            let substate = substate.map(|substate| ("substate", substate));
            vec![agent, timestamp, Some(("state", Value::from(state))), substate, channel]
        })
        .boxed()
}

fn agent() -> BoxedStrategy<Value<'static>> {
    prop_oneof![3 => slug(), 2 => word(&["claude", "qc-1", "supervisor", "ha-mgr-1", "codex-1"]), 1 => nonempty()]
        .boxed()
}

fn channel() -> BoxedStrategy<Value<'static>> {
    prop_oneof![
        slug(),
        word(&["agent-os-paper", "human-supervisor", "Team A", "チーム", "a.b_c", "direct-ann-bob"])
    ]
    .boxed()
}

fn utc() -> impl Strategy<Value = Value<'static>> {
    (second(), fraction())
        .prop_map(|((date, time), fraction)| Value::from(format!("{date}T{time}{fraction}Z")))
}

fn fraction() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(&["", ".123", ".000", ".120000", ".123456789"][..])
}

fn second() -> impl Strategy<Value = (String, String)> {
    (2000_u32..2099, 1_u32..=12, 1_u32..=28, 0_u32..24, 0_u32..60, 0_u32..60).prop_map(
        |(year, month, day, hour, minute, second)| {
            (format!("{year:04}-{month:02}-{day:02}"), format!("{hour:02}:{minute:02}:{second:02}"))
        },
    )
}
