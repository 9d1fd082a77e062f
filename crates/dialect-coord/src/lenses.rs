//! Which field of a document corresponds to which field of the message, payload by payload.

use dialect::{Codec, FINDINGS_MAX, Lens, Names, Strictness};
use json::{Findings, Number, Object, Path, Value};

use crate::envelope::{EVERYONE, Payload};
use crate::interfaces::failure::{ERROR_TYPES, RECOVERY_ATTEMPT};
use crate::interfaces::help::{HELP_RESPONSE_TYPES, HELP_TYPES};
use crate::interfaces::task::HANDOFF_REASONS;

/// Stands for no deadline where the specification demands one.
pub(crate) const NO_DEADLINE: &str = "9999-12-31T23:59:59Z";

/// Who, to whom and when.
pub(crate) static HEAD: &[Lens] = &[
    lens("/timestamp", "/created", Codec::Text),
    lens("/from", "/from", Codec::Custom { decode: agent, encode: agent_id }),
    lens("/to", "/to/0", Codec::Custom { decode: address, encode: agent_id }),
];

/// Returns the table of a payload.
pub(crate) fn of(payload: Payload) -> &'static [Lens] {
    match payload {
        Payload::Assignment => ASSIGNMENT,
        Payload::HandoffRequest => HANDOFF_REQUEST,
        Payload::HandoffResponse => HANDOFF_RESPONSE,
        Payload::Complete => COMPLETE,
        Payload::Failed => FAILED,
        Payload::HelpRequest => HELP_REQUEST,
        Payload::HelpResponse => HELP_RESPONSE,
        Payload::Status => STATUS,
        Payload::Heartbeat => HEARTBEAT,
        Payload::Error => ERROR,
        Payload::StateUpdate => STATE_UPDATE,
        Payload::Update => &[],
    }
}

static ASSIGNMENT: &[Lens] = &[
    lens("/payload/task/task_type", "/brief/task_type", Codec::Text),
    lens("/payload/task/dependencies", "/brief/dependencies", Codec::Same),
    lens("/payload/deadline", "/deadline", Codec::Text),
];
static HANDOFF_REQUEST: &[Lens] = &[
    lens("/payload/reason", "/handoff/reason", Codec::Custom { decode: same, encode: handoff_reason }),
    lens("/payload/context/task_type", "/brief/task_type", Codec::Text),
    lens("/payload/context/dependencies", "/brief/dependencies", Codec::Same),
    lens("/payload/deadline", "/deadline", DEADLINE),
];
static HANDOFF_RESPONSE: &[Lens] = &[
    lens("/payload/estimated_completion", "/deadline", DEADLINE),
    lens("/payload/requirements", "/brief/criteria", Codec::Same),
    lens("/payload/error", "/error/message", Codec::Text),
];
static COMPLETE: &[Lens] = &[lens("/payload/result", "/result", Codec::Same)];
static FAILED: &[Lens] = &[
    lens("/payload/error/error_type", "/error/code", ERROR_TYPE),
    lens("/payload/error/severity", "/error/severity", Codec::Text),
    lens("/payload/error/severity", "/severity", Codec::Text),
    lens("/payload/error/message", "/error/message", Codec::Text),
    lens("/payload/error/stack_trace", "/error/stack", Codec::Text),
    lens("/payload/error/context", "/data", MEMBERS),
    lens("/payload/error/recovery_attempts", "/error/attempts", ATTEMPTS),
    lens("/payload/error/suggested_actions", "/error/actions", Codec::Same),
];
static ERROR: &[Lens] = &[
    lens("/payload/error_type", "/error/code", ERROR_TYPE),
    lens("/payload/severity", "/error/severity", Codec::Text),
    lens("/payload/severity", "/severity", Codec::Text),
    lens("/payload/message", "/error/message", Codec::Text),
    lens("/payload/stack_trace", "/error/stack", Codec::Text),
    lens("/payload/context", "/data", MEMBERS),
    lens("/payload/recovery_attempts", "/error/attempts", ATTEMPTS),
    lens("/payload/suggested_actions", "/error/actions", Codec::Same),
];
static HELP_REQUEST: &[Lens] = &[
    lens("/payload/help_type", "/brief/task_type", Codec::Custom { decode: same, encode: help_type }),
    lens("/payload/description", "/text", Codec::Text),
    lens("/payload/urgency", "/severity", Codec::Text),
    lens("/payload/deadline", "/deadline", Codec::Text),
];
static HELP_RESPONSE: &[Lens] = &[
    lens("/payload/response_type", "/brief/task_type", Codec::Custom { decode: same, encode: response_type }),
    lens("/payload/content", "/text", Codec::Text),
    lens("/payload/resources", "/refs", Codec::Custom { decode: urls, encode: resources }),
];
static STATUS: &[Lens] = &[
    lens("/payload/status/state", "/presence/state", AGENT_STATE),
    lens("/payload/current_tasks", "/presence/tasks", Codec::Same),
    lens("/payload/resource_usage/tokens_used", "/metrics/tokens", QUANTITY),
    lens("/payload/resource_usage/cost_usd", "/metrics/cost_usd", QUANTITY),
    lens("/payload/resource_usage/cpu_usage", "/metrics/cpu", PERCENT),
    lens("/payload/resource_usage/memory_usage", "/metrics/memory", PERCENT),
    lens("/payload/next_available", "/presence/next", Codec::Text),
];
static HEARTBEAT: &[Lens] = &[lens("/payload/state", "/presence/state", AGENT_STATE)];
static STATE_UPDATE: &[Lens] = &[lens("/payload/state_update", "/data", Codec::Same)];

const AGENT_STATE: Codec = Codec::Words(&[
    ("IDLE", "idle"),
    ("BUSY", "busy"),
    ("ERROR", "error"),
    ("OFFLINE", "offline"),
    ("MAINTENANCE", "maintenance"),
]);
const DEADLINE: Codec = Codec::Custom { decode: deadline, encode: same };
const ERROR_TYPE: Codec = Codec::Custom { decode: same, encode: error_type };
const MEMBERS: Codec = Codec::Custom { decode: members, encode: members };
const ATTEMPTS: Codec = Codec::Custom { decode: same, encode: attempts };
const QUANTITY: Codec = Codec::Custom { decode: quantity, encode: same };
const PERCENT: Codec = Codec::Custom { decode: quantity, encode: percent };

const fn lens(native: &'static str, canonical: &'static str, codec: Codec) -> Lens {
    Lens { native, canonical, codec }
}

/// Returns what an agent, or another address, is called in this dialect: opaque ids, a known agent's by its name.
pub(crate) fn id_of(agent: &str, names: &Names) -> String {
    match names.find(agent) {
        Some(identity) => identity.slug.to_string(),
        None if agent == "all" => EVERYONE.to_owned(),
        None => agent.to_owned(),
    }
}

fn agent_id(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    value.as_str().map(|agent| Value::from(id_of(agent, names)))
}

fn agent(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    value.as_str().map(|id| Value::from(names.agent(id).to_string()))
}

fn address(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    match value.as_str()? {
        EVERYONE => Some(Value::from("all")),
        id => Some(Value::from(names.address(id).to_string())),
    }
}

fn same(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    Some(value.clone().into_owned())
}

fn deadline(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    same(value, names).filter(|value| value.as_str() != Some(NO_DEADLINE))
}

fn error_type(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    one_of(ERROR_TYPES, value)
}

fn help_type(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    one_of(HELP_TYPES, value)
}

fn response_type(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    one_of(HELP_RESPONSE_TYPES, value)
}

fn handoff_reason(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    one_of(HANDOFF_REASONS, value)
}

fn one_of(words: &'static [&'static str], value: &Value<'_>) -> Option<Value<'static>> {
    let word = value.as_str()?;
    words.iter().find(|known| **known == word).map(|known| Value::from(*known))
}

/// Carries objects that say something.
fn members(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    value.as_object().filter(|object| !object.is_empty())?;
    same(value, names)
}

/// Carries attempts to recover only if all of them are what the specification calls so.
fn attempts(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    let (mut errors, mut warnings) = (Findings::new(FINDINGS_MAX), Findings::new(FINDINGS_MAX));
    for item in value.as_array()? {
        RECOVERY_ATTEMPT.check(
            item.as_object()?,
            &Path::ROOT,
            Strictness::Strict,
            &mut errors,
            &mut warnings,
        );
    }
    same(value, names).filter(|_| errors.is_empty())
}

/// The message keeps figures without a sign; a negative zero is zero.
fn quantity(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    if value.as_number()?.lexeme().starts_with('-') {
        return Some(Value::integer(0));
    }
    same(value, names)
}

fn percent(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    let figure = value.as_number().map(Number::as_f64)?;
    same(value, names).filter(|_| (0.0..=100.0).contains(&figure))
}

fn urls(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    let urls = value.as_array()?.iter().filter_map(|item| item.get("url")?.as_str());
    Some(Value::Array(urls.map(|url| Value::from(url.to_owned())).collect()))
}

/// References have a sort and a title here; the message knows only where they lead.
fn resources(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    let urls = value.as_array()?.iter().filter_map(Value::as_str);
    Some(Value::Array(urls.map(|url| Value::Object(resource(url))).collect()))
}

fn resource(url: &str) -> Object<'static> {
    [("type", "documentation".to_owned()), ("url", url.to_owned()), ("title", url.to_owned())]
        .into_iter()
        .map(|(key, text)| (key, Value::from(text)))
        .collect()
}
