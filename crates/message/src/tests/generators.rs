//! Arbitrary values of every type, with every field, unknown fields, odd numbers and odd text.

use json::{Number, Object, Value};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use std::str::FromStr;

use super::parse;
use crate::{
    Address, AgentName, AgentRef, Attachment, Backoff, Brief, DeliveryWishes, Dialect, Failure, Gate,
    GateDecision, Guarantee, Handoff, Kind, Message, MessageId, Metrics, Mode, Origin, Presence,
    PresenceState, Priority, Reachability, Receipt, RecipientReceipt, Severity, Sha256, Stage, StageEntry,
    TaskStatus, Timestamp, Warning, WrittenDuration, WrittenTimestamp,
};

const NAME: &str = "[a-z0-9][a-z0-9._-]{0,63}";
const ALIAS: &str = "did:[a-z0-9]{1,4}:[A-Za-z0-9._:%@#-]{1,20}|[a-zA-Z][a-z0-9+.-]{0,5}://[!-~é😀]{1,20}";
const TIME: &str = "20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,12})?([Zz]|[+-](0[0-9]|1[0-9]|2[0-3]):[0-5][0-9])";
const DURATION: &str = "[0-9]{1,6}(\\.[0-9]{1,3})?(ms|s|m|h|d)";
const NUMBER: &str = "(0|[1-9][0-9]{0,30})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,3})?";
/// No known field starts with `x`, so these names are unknown everywhere.
const UNKNOWN: &str = "x[a-z_/~é😀\"\\\\]{0,6}";
/// What a checked id may hold: anything on one line.
const ID: &str = "[!-~ éß😀]{1,24}";

pub(super) fn address() -> impl Strategy<Value = Address> {
    prop_oneof![
        4 => agent_ref().prop_map(Address::Agent),
        1 => (agent_name(), any::<u32>()).prop_map(|(agent, session)| Address::Session { agent, session }),
        1 => checked(NAME).prop_map(Address::Role),
        1 => checked(NAME).prop_map(Address::Topic),
        1 => checked(NAME).prop_map(Address::Channel),
        1 => Just(Address::All),
    ]
}

/// Any JSON, `null` inside included.
pub(super) fn json_value() -> impl Strategy<Value = Value<'static>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number("-?").prop_map(Value::Number),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::Array),
            vec((text(), inner), 0..6).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

pub(super) fn message() -> impl Strategy<Value = Message> {
    (head(), body(), levels(), parts(), more_parts(), unknown()).prop_map(
        |(head, body, levels, parts, more, extra)| Message {
            extra,
            title: body.title,
            text: body.text,
            code: body.code,
            data: body.data,
            schema: body.schema,
            mime: body.mime,
            blob: body.blob,
            attachments: body.attachments,
            refs: body.refs,
            priority: levels.priority,
            severity: levels.severity,
            created: levels.created,
            expires: levels.expires,
            deadline: levels.deadline,
            status: levels.status,
            result: levels.result,
            delivery: parts.delivery,
            error: parts.error,
            metrics: parts.metrics,
            presence: parts.presence,
            gate: more.gate,
            brief: more.brief,
            handoff: more.handoff,
            origin: more.origin,
            ..head
        },
    )
}

pub(super) fn receipt() -> impl Strategy<Value = Receipt> {
    let entry = (select(Stage::ALL), instant(), of(text()))
        .prop_map(|(stage, at, by)| StageEntry { by, ..StageEntry::new(stage, at) });
    let recipient =
        (address(), select(Stage::ALL), vec(entry, 0..4), any::<u32>(), select(Reachability::ALL)).prop_map(
            |(agent, stage, stages, attempts, reachability)| RecipientReceipt {
                stage,
                stages,
                attempts,
                ..RecipientReceipt::new(agent, reachability)
            },
        );
    let source = select(&[json::Source::Schema, json::Source::Rule][..]);
    let warning = (text(), text(), source, text()).prop_map(|(path, code, source, message)| Warning {
        path,
        code,
        source,
        message,
    });
    let shape = (any::<[u8; 16]>(), select(Guarantee::ALL), any::<bool>());
    (head(), levels(), shape, vec(recipient, 0..4), vec(warning, 0..3)).prop_map(
        |(head, levels, (id, guarantee, duplicate), recipients, warnings)| {
            let message = Message { priority: levels.priority, ..head };
            let fresh = Receipt::new(MessageId::from_bytes(id), guarantee, &message);
            Receipt { recipients, duplicate, warnings, ..fresh }
        },
    )
}

/// Messages of which only the head is filled; the other parts are filled likewise and put together at the end.
fn head() -> impl Strategy<Value = Message> {
    let pointers = (of(checked(ID)), of(checked(ID)), of(checked(ID)), of(checked(ID)));
    (blank(), of(any::<[u8; 16]>()), of(checked(ID)), pointers).prop_map(
        |(blank, id, native_id, pointers)| {
            let (thread, reply_to, correlation, task) = pointers;
            let id = id.map(MessageId::from_bytes);
            Message { id, native_id, thread, reply_to, correlation, task, ..blank }
        },
    )
}

fn body() -> impl Strategy<Value = Message> {
    let texts = (of(text()), of(text()), of(text()), of(text()), of(text()));
    let lists = (vec(attachment(), 0..3), vec(checked(ID), 0..3));
    (blank(), texts, of(content()), of(checked(ID)), lists).prop_map(|(blank, texts, data, blob, lists)| {
        let (title, text, code, schema, mime) = texts;
        let (attachments, refs) = lists;
        Message { title, text, code, data, schema, mime, blob, attachments, refs, ..blank }
    })
}

fn levels() -> impl Strategy<Value = Message> {
    let words = (of(select(Priority::ALL)), of(select(Severity::ALL)), of(select(TaskStatus::ALL)));
    let times = (of(time()), of(time()), of(time()));
    (blank(), words, times, of(content())).prop_map(|(blank, words, times, result)| {
        let (priority, severity, status) = words;
        let (created, expires, deadline) = times;
        Message { priority, severity, status, created, expires, deadline, result, ..blank }
    })
}

fn parts() -> impl Strategy<Value = Message> {
    (blank(), of(delivery()), of(failure()), of(metrics()), of(presence())).prop_map(
        |(blank, delivery, error, metrics, presence)| Message {
            delivery: delivery.map(Box::new),
            error: error.map(Box::new),
            metrics: metrics.map(Box::new),
            presence: presence.map(Box::new),
            ..blank
        },
    )
}

fn more_parts() -> impl Strategy<Value = Message> {
    (blank(), of(gate()), of(brief()), of(handoff()), of(origin())).prop_map(
        |(blank, gate, brief, handoff, origin)| Message {
            gate: gate.map(Box::new),
            brief: brief.map(Box::new),
            handoff: handoff.map(Box::new),
            origin: origin.map(Box::new),
            ..blank
        },
    )
}

fn blank() -> impl Strategy<Value = Message> {
    (select(Kind::ALL), agent_ref(), vec(address(), 1..4))
        .prop_map(|(kind, from, to)| Message::new(kind, from, to))
}

fn attachment() -> impl Strategy<Value = Attachment> {
    let size = of(0..=i64::MAX.unsigned_abs());
    (checked(ID), of(text()), of(text()), size, of(any::<[u8; 32]>()), unknown()).prop_map(
        |(uri, name, mime, size, sha256, extra)| Attachment {
            uri,
            name,
            mime,
            size,
            sha256: sha256.map(Sha256::from_bytes),
            extra,
        },
    )
}

fn delivery() -> impl Strategy<Value = DeliveryWishes> {
    let words = (of(select(Mode::ALL)), of(select(Guarantee::ALL)), of(select(Backoff::ALL)));
    let timeout = of(checked::<WrittenDuration>(DURATION));
    let flags = any::<(bool, bool)>();
    (words, timeout, of(0..=1000_u32), vec(agent_ref(), 0..3), flags, unknown()).prop_map(
        |((mode, guarantee, backoff), timeout, retries, fallback, (live_only, hold), extra)| DeliveryWishes {
            mode,
            guarantee,
            timeout,
            retries,
            backoff,
            fallback,
            live_only,
            hold,
            extra,
        },
    )
}

fn failure() -> impl Strategy<Value = Failure> {
    let texts = (of(text()), of(text()), of(text()));
    let lists = (vec(text(), 0..3), vec(json_value(), 0..3));
    (texts, of(any::<bool>()), of(select(Severity::ALL)), lists, unknown()).prop_map(
        |((code, message, stack), retryable, severity, (actions, attempts), extra)| Failure {
            code,
            message,
            retryable,
            severity,
            stack,
            actions,
            attempts,
            extra,
        },
    )
}

fn metrics() -> impl Strategy<Value = Metrics> {
    let figure = || of(number(""));
    (figure(), figure(), figure(), figure(), figure(), unknown()).prop_map(
        |(duration_ms, tokens, cost_usd, cpu, memory, extra)| Metrics {
            duration_ms,
            tokens,
            cost_usd,
            cpu,
            memory,
            extra,
        },
    )
}

fn presence() -> impl Strategy<Value = Presence> {
    let state = select(PresenceState::ALL);
    (state, of(text()), of(any::<u32>()), vec(checked(ID), 0..3), of(time()), unknown())
        .prop_map(|(state, sub, pid, tasks, next, extra)| Presence { state, sub, pid, tasks, next, extra })
}

fn gate() -> impl Strategy<Value = Gate> {
    (any::<bool>(), of(select(GateDecision::ALL)), of(text()), unknown()).prop_map(
        |(action_required, decision, reason, extra)| Gate { action_required, decision, reason, extra },
    )
}

fn brief() -> impl Strategy<Value = Brief> {
    let lists = (vec(text(), 0..3), vec(text(), 0..3), vec(checked(ID), 0..3));
    (of(text()), of(content()), lists, of(content()), unknown()).prop_map(
        |(task_type, context, (constraints, criteria, dependencies), output, extra)| Brief {
            task_type,
            context,
            constraints,
            criteria,
            dependencies,
            output,
            extra,
        },
    )
}

fn handoff() -> impl Strategy<Value = Handoff> {
    (of(text()), of(content()), unknown()).prop_map(|(reason, state, extra)| Handoff { reason, state, extra })
}

fn origin() -> impl Strategy<Value = Origin> {
    let digest = any::<[u8; 32]>().prop_map(Sha256::from_bytes);
    (select(Dialect::ALL), of(text()), text(), of(digest), of(text()), unknown()).prop_map(
        |(dialect, version, document, copy, seal, extra)| Origin {
            copy,
            seal,
            extra,
            ..Origin::of(dialect, version, document)
        },
    )
}

fn agent_name() -> impl Strategy<Value = AgentName> {
    NAME.prop_filter_map("a role or everybody", |name: String| name.parse().ok())
}

fn agent_ref() -> impl Strategy<Value = AgentRef> {
    prop_oneof![3 => agent_name().prop_map(AgentRef::Name), 1 => checked(ALIAS).prop_map(AgentRef::Alias)]
}

fn instant() -> impl Strategy<Value = Timestamp> {
    let micros = Timestamp::MIN.unix_micros()..=Timestamp::MAX.unix_micros();
    micros.prop_map(|micros| Timestamp::from_unix_micros(micros).unwrap())
}

fn time() -> impl Strategy<Value = WrittenTimestamp> {
    prop_oneof![checked(TIME), instant().prop_map(WrittenTimestamp::from)]
}

/// Values of a checked type from texts that all pass its check.
fn checked<T: FromStr<Err: std::fmt::Debug> + std::fmt::Debug>(
    pattern: &'static str,
) -> impl Strategy<Value = T> {
    pattern.prop_map(|text: String| text.parse().unwrap())
}

fn number(sign: &str) -> impl Strategy<Value = Number<'static>> {
    let pattern = format!("{sign}{NUMBER}");
    let lexeme = proptest::string::string_regex(&pattern).unwrap();
    lexeme.prop_map(|lexeme| parse(&lexeme).as_number().unwrap().clone())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[ -~]{0,12}", "[a\\n\\t\\x00\"\\\\\u{7f}é😀\u{2028}]{0,8}", any::<String>()]
}

/// A value in a place where `null` would count as absent.
fn content() -> impl Strategy<Value = Value<'static>> {
    json_value().prop_filter("null counts as absent", |value| !value.is_null())
}

fn unknown() -> impl Strategy<Value = Object<'static>> {
    prop_oneof![
        2 => Just(Object::new()),
        1 => vec((UNKNOWN, json_value()), 1..4).prop_map(|members| members.into_iter().collect()),
    ]
}
