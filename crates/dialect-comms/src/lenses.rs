//! The fields of records that correspond to one field of the message each, in both directions.

use dialect::{Codec, Lens, Names, cut_to_bytes};
use json::Value;
use message::{Priority, limits};

use crate::view::priority_of;
use crate::{datamodel, ids, time};

/// Bytes that fields of records may have.
pub(crate) const TEXT_BYTES_MAX: usize = 10_000;
pub(crate) const TASK_BYTES_MAX: usize = 512;
pub(crate) const MIME_BYTES_MAX: usize = 255;
pub(crate) const ERROR_CODE_BYTES_MAX: usize = 128;
pub(crate) const ERROR_MESSAGE_BYTES_MAX: usize = 2_048;
/// AT-URIs in a list of a message, a request or a response, and in one of a handoff.
const URIS_MAX: usize = 50;
const HANDOFF_URIS_MAX: usize = 100;

const PRIORITY: Codec = Codec::Custom { decode: read_priority, encode: write_priority };
pub(crate) const DATETIME: Codec = Codec::Custom { decode: read_text, encode: write_datetime };
const COUNT: Codec = Codec::Custom { decode: read_count, encode: write_count };
const SEVERITY: Codec =
    Codec::Words(&[("info", "low"), ("notice", "medium"), ("warning", "high"), ("critical", "critical")]);

/// When a record was made.
pub(crate) const CREATED: &[Lens] = &[lens("/createdAt", "/created", DATETIME)];

/// How long a record is wanted; those of a broadcast have a time to live beside it.
pub(crate) const EXPIRES: &[Lens] = &[lens("/expiresAt", "/expires", DATETIME)];

/// By when the work of a request is wanted.
pub(crate) const DEADLINE: &[Lens] = &[lens("/deadline", "/deadline", DATETIME)];

/// How urgent a message or a request is.
pub(crate) const PRIORITIES: &[Lens] = &[lens("/priority", "/priority", PRIORITY)];

/// How bad what a broadcast tells is.
pub(crate) const SEVERITIES: &[Lens] = &[lens("/severity", "/severity", SEVERITY)];

/// What the content is.
pub(crate) const MIME: &[Lens] = &[lens("/content/mimeType", "/mime", cut::<MIME_BYTES_MAX>())];

/// The code of a response's error, its message, and whether to try again.
pub(crate) const ERROR_CODE: &[Lens] = &[lens("/error/code", "/error/code", cut::<ERROR_CODE_BYTES_MAX>())];
pub(crate) const ERROR_MESSAGE: &[Lens] =
    &[lens("/error/message", "/error/message", cut::<ERROR_MESSAGE_BYTES_MAX>())];
pub(crate) const ERROR_RETRYABLE: &[Lens] = &[lens("/error/retryable", "/error/retryable", Codec::Same)];

/// What the work of a response cost, and what it produced.
pub(crate) const OUTCOME: &[Lens] = &[
    lens("/artifacts", "/attachments", Codec::Custom { decode: read_files, encode: write_files::<URIS_MAX> }),
    lens("/metrics/durationMs", "/metrics/duration_ms", COUNT),
    lens("/metrics/tokenUsage", "/metrics/tokens", COUNT),
];

/// What a message or a request refers to.
pub(crate) const CONTEXT: &[Lens] =
    &[lens("/context", "/refs", Codec::Custom { decode: read_uris, encode: write_uris::<URIS_MAX> })];

/// Attached records go with what a message or a request refers to, where nothing else is.
pub(crate) const FILES_AS_CONTEXT: &[Lens] =
    &[lens("/context", "/attachments", Codec::Custom { decode: read_uris, encode: write_files::<URIS_MAX> })];

/// What a handoff refers to and what was produced so far.
pub(crate) const HANDOFF_LISTS: &[Lens] = &[
    lens("/context", "/refs", Codec::Custom { decode: read_uris, encode: write_uris::<HANDOFF_URIS_MAX> }),
    lens(
        "/artifacts",
        "/attachments",
        Codec::Custom { decode: read_files, encode: write_files::<HANDOFF_URIS_MAX> },
    ),
];

/// Writes how urgent a message is.
pub(crate) fn level_of(priority: Priority) -> i64 {
    match priority {
        Priority::Low => 1,
        Priority::Normal => 3,
        Priority::High => 4,
        Priority::Critical => 5,
    }
}

const fn lens(native: &'static str, canonical: &'static str, codec: Codec) -> Lens {
    Lens { native, canonical, codec }
}

const fn cut<const BYTES_MAX: usize>() -> Codec {
    Codec::Custom { decode: read_text, encode: write_cut::<BYTES_MAX> }
}

fn read_text(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    value.as_str().map(|text| Value::from(text.to_owned()))
}

/// Nothing to say is left out, so that a code or message that is there says something.
fn write_cut<const BYTES_MAX: usize>(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    let text = value.as_str().filter(|text| !text.is_empty())?;
    Some(Value::from(cut_to_bytes(text, BYTES_MAX).into_owned()))
}

fn write_datetime(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    value.as_str().and_then(time::datetime).map(Value::from)
}

fn read_priority(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    value.as_integer().and_then(priority_of).map(|priority| Value::from(priority.name()))
}

fn write_priority(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    value.as_str().and_then(Priority::from_name).map(|priority| Value::from(level_of(priority)))
}

fn read_count(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    let number = value.as_number().filter(|number| !number.lexeme().starts_with('-'))?;
    Some(Value::Number(number.clone().into_owned()))
}

fn write_count(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    let number = value.as_number().filter(|number| datamodel::is_safe_integer(number))?;
    Some(Value::Number(number.clone().into_owned()))
}

/// Skips what the running network lists instead of URIs, and what a message could not hold.
fn read_uris(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    let uris = value.as_array()?.iter().filter_map(Value::as_str).filter(|uri| is_uri(uri));
    let uris: Vec<_> = uris.map(|uri| Value::from(uri.to_owned())).collect();
    (!uris.is_empty()).then_some(Value::Array(uris))
}

fn read_files(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    let Some(Value::Array(uris)) = read_uris(value, names) else { return None };
    let file = |uri| Value::Object([("uri", uri)].into_iter().collect());
    Some(Value::Array(uris.into_iter().map(file).collect()))
}

fn write_uris<const MAX: usize>(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    at_uris(value.as_array()?.iter().filter_map(Value::as_str), MAX)
}

fn write_files<const MAX: usize>(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    at_uris(value.as_array()?.iter().filter_map(|file| file.get("uri")?.as_str()), MAX)
}

fn at_uris<'u>(uris: impl Iterator<Item = &'u str>, max: usize) -> Option<Value<'static>> {
    let uris = uris.filter(|uri| ids::is_at_uri(uri)).take(max);
    let uris: Vec<_> = uris.map(|uri| Value::from(uri.to_owned())).collect();
    (!uris.is_empty()).then_some(Value::Array(uris))
}

fn is_uri(text: &str) -> bool {
    !text.is_empty() && text.len() <= limits::URI_BYTES_MAX && !text.chars().any(char::is_control)
}
