//! How values of documents and messages correspond: words, and functions for what is special.

use dialect::{Codec, Names};
use json::Value;
use message::limits::{FALLBACKS_MAX, LIST_ITEMS_MAX, RETRIES_MAX};
use message::{Timestamp, Uri};

use crate::parts;
use crate::routing::{BUS, SYSTEM, is_for_the_bus};

pub(super) const ID: Codec = Codec::Custom { decode: id, encode: same };
pub(super) const TIME: Codec = Codec::Custom { decode: time, encode: same };
pub(super) const TEXTS: Codec = Codec::Custom { decode: texts, encode: same };
pub(super) const LIST: Codec = Codec::Custom { decode: list, encode: same };
pub(super) const QUANTITY: Codec = Codec::Custom { decode: quantity, encode: same };
pub(super) const TRUTH: Codec = Codec::Custom { decode: truth, encode: same };
pub(super) const SEVERITY: Codec = Codec::Words(SEVERITIES);

pub(super) const PRIORITIES: &[(&str, &str)] =
    &[("low", "low"), ("medium", "normal"), ("high", "high"), ("critical", "critical")];
pub(super) const SEVERITIES: &[(&str, &str)] =
    &[("low", "low"), ("medium", "medium"), ("high", "high"), ("critical", "critical")];
pub(super) const DECISIONS: &[(&str, &str)] = &[("approved", "approved"), ("rejected", "rejected")];
pub(super) const STATES: &[(&str, &str)] = &[
    ("idle", "idle"),
    ("busy", "busy"),
    ("error", "error"),
    ("offline", "offline"),
    ("maintenance", "maintenance"),
];
/// The first word of each status is the one that is written.
pub(super) const STATUSES: &[(&str, &str)] = &[
    ("pending", "pending"),
    ("claimed", "claimed"),
    ("in_progress", "running"),
    ("blocked", "blocked"),
    ("completed", "done"),
    ("failed", "failed"),
    ("rejected", "rejected"),
    ("cancelled", "cancelled"),
    ("accepted", "claimed"),
    ("running", "running"),
    ("done", "done"),
    ("success", "done"),
    ("ok", "done"),
    ("error", "failed"),
    ("timeout", "failed"),
    ("canceled", "cancelled"),
];

pub(super) fn same(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    Some(value.clone().into_owned())
}

pub(super) fn sender(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    let agent_id = value.as_str()?;
    let agent_id = if agent_id == BUS { SYSTEM } else { agent_id };
    Some(Value::from(names.agent(agent_id).to_string()))
}

pub(super) fn recipient(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    let agent_id = value.as_str()?;
    let agent_id = if is_for_the_bus(agent_id) { SYSTEM } else { agent_id };
    Some(Value::from(names.address(agent_id).to_string()))
}

/// Writes the id of an agent: its URI where it has one. The bus has a name of its own here.
pub(super) fn agent_id(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    let agent = value.as_str()?;
    if agent == SYSTEM {
        return Some(Value::from(BUS));
    }
    let uri = names.uri(agent);
    Some(Value::from(if uri.is_empty() { agent.to_owned() } else { uri }))
}

pub(super) fn agent_ids(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    Some(Value::Array(value.as_array()?.iter().filter_map(|agent| agent_id(agent, names)).collect()))
}

pub(super) fn fallbacks(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    let agents = value.as_array().filter(|agents| !agents.is_empty())?.iter().take(FALLBACKS_MAX);
    Some(Value::Array(agents.filter_map(|agent| sender(agent, names)).collect()))
}

pub(super) fn retries(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    value.as_integer().map(|retries| Value::integer(retries.min(i64::from(RETRIES_MAX))))
}

fn id(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    value.as_str().filter(|text| parts::is_id(text))?;
    same(value, names)
}

pub(super) fn ids(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    every(value, names, |item| item.as_str().is_some_and(parts::is_id))
}

fn texts(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    every(value, names, |item| item.as_str().is_some())
}

fn list(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    every(value, names, |_| true)
}

pub(super) fn uri(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    is_uri(value).then(|| same(value, names)).flatten()
}

pub(super) fn uri_list(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    every(value, names, is_uri)
}

pub(super) fn attachments(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    let Value::Array(uris) = uri_list(value, names)? else { return None };
    let attachment = |uri| Value::Object([("uri", uri)].into_iter().collect());
    Some(Value::Array(uris.into_iter().map(attachment).collect()))
}

pub(super) fn uris(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    let uris = value.as_array()?.iter().filter_map(|item| item.get("uri")?.as_str());
    Some(Value::Array(uris.map(|uri| Value::from(uri.to_owned())).collect()))
}

fn time(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    value.as_str()?.parse::<Timestamp>().ok()?;
    same(value, names)
}

fn quantity(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    let number = value.as_number()?;
    if number.lexeme().starts_with('-') { None } else { same(value, names) }
}

pub(super) fn pid(value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
    u32::try_from(value.as_integer()?).ok()?;
    same(value, names)
}

fn truth(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    value.as_bool().map(Value::Bool)
}

fn is_uri(value: &Value<'_>) -> bool {
    value.as_str().is_some_and(|text| text.parse::<Uri>().is_ok())
}

/// Carries a list only whole: half of one would say something else, and none at all says nothing.
fn every(value: &Value<'_>, names: &Names, fits: fn(&Value<'_>) -> bool) -> Option<Value<'static>> {
    let items = value.as_array()?;
    if items.is_empty() || items.len() > LIST_ITEMS_MAX || !items.iter().all(fits) {
        return None;
    }
    same(value, names)
}
