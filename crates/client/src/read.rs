//! Reading answers: members of an object, or an error that names the one that is missing.

use std::str::FromStr;

use json::{Limits, Value};

use crate::ClientError;

/// Bytes of an answer at most; a page of history with large texts is far below.
pub(crate) const ANSWER_BYTES_MAX: usize = 256 << 20;

/// Answers hold whole documents some levels down.
const ANSWER: Limits = Limits {
    bytes_max: ANSWER_BYTES_MAX,
    depth_max: Limits::DOCUMENT.depth_max + 8,
    number_bytes_max: Limits::DOCUMENT.number_bytes_max,
};

/// Parses an answer.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value<'_>, ClientError> {
    json::parse(bytes, ANSWER).map_err(|error| ClientError::answer(format!("not JSON: {error}")))
}

/// Returns a text that must be there.
pub(crate) fn text(value: &Value<'_>, key: &'static str) -> Result<String, ClientError> {
    text_maybe(value, key).ok_or_else(|| missing(key))
}

/// Returns a text, if it is there.
pub(crate) fn text_maybe(value: &Value<'_>, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// Returns a text that is something more particular, such as an id.
pub(crate) fn parsed<T: FromStr>(value: &Value<'_>, key: &'static str) -> Result<T, ClientError> {
    value.get(key).and_then(Value::as_str).and_then(|text| text.parse().ok()).ok_or_else(|| missing(key))
}

/// Returns a word of a closed list; a word that is newer than this client is none.
pub(crate) fn word<T>(value: &Value<'_>, key: &str, from_name: fn(&str) -> Option<T>) -> Option<T> {
    value.get(key).and_then(Value::as_str).and_then(from_name)
}

/// Returns a count.
pub(crate) fn number(value: &Value<'_>, key: &str) -> Option<u64> {
    value.get(key).and_then(Value::as_integer).and_then(|number| u64::try_from(number).ok())
}

/// Returns a list of texts, empty where there is none.
pub(crate) fn texts(value: &Value<'_>, key: &str) -> Vec<String> {
    let list = value.get(key).and_then(Value::as_array).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Reads every item of a list that must be there.
pub(crate) fn list<T>(
    value: &Value<'_>,
    key: &'static str,
    item: impl Fn(&Value<'_>) -> Result<T, ClientError>,
) -> Result<Vec<T>, ClientError> {
    let list = value.get(key).and_then(Value::as_array).ok_or_else(|| missing(key))?;
    list.iter().map(item).collect()
}

pub(crate) fn missing(key: &str) -> ClientError {
    ClientError::answer(format!("`{key}` is missing or is not what it should be"))
}
