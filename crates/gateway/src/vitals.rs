//! Vitals: what an agent says of itself with a sign of life, whatever its dialect. The broker keeps it and reads of it
//! only how good the agent is and from when on it takes work.

use broker::{Sign, Time, share};
use dialect::Name;
use json::{Number, Object, Value};
use message::{Kind, Message, PresenceState};

use crate::intake::time;

/// Bytes that are kept of what an agent says of itself.
const DETAIL_BYTES_MAX: usize = 4_096;
/// Figures that are kept under their own names.
const FIGURES: [&str; 5] =
    ["capability_level", "error_rate", "avg_response_time_ms", "resource_usage", "health_metrics"];
/// The share of work that went well, where it does not stand among the health metrics.
const SUCCESS_RATE: &str = "success_rate";

/// Returns the figures of a status update of the coordination protocols, for which messages have no fields.
pub(crate) fn figures(name: Name, document: &Value<'_>) -> Object<'static> {
    let mut found: Object<'static> = Object::new();
    let payload = document.get("payload").filter(|_| name == Name::Coord);
    for place in [payload.and_then(|payload| payload.get("status")), payload] {
        for key in FIGURES {
            if let Some(value) = place.and_then(|place| place.get(key)) {
                found.insert(key, value.clone().into_owned());
            }
        }
    }
    found
}

/// Reads what a message says of its sender, with the figures that its dialect had beside it. A status says all: what it
/// leaves out is no longer so.
pub(crate) fn sign(name: Name, message: &Message, mut figures: Object<'static>) -> Option<Box<Sign>> {
    if !matches!(message.kind, Kind::AgentStatus | Kind::AgentHeartbeat) {
        return None;
    }
    let presence = message.presence.as_deref();
    let metrics = message.metrics.as_deref();
    let extras = [presence.map(|presence| &presence.extra), metrics.map(|metrics| &metrics.extra)];
    let data = message.data.as_ref().and_then(Value::as_object);
    for extra in extras.into_iter().flatten().chain(data) {
        for key in FIGURES.into_iter().chain([SUCCESS_RATE]) {
            if let Some(value) = extra.get(key).filter(|_| !figures.contains_key(key)) {
                figures.insert(key, value.clone());
            }
        }
    }
    if !figures.contains_key("resource_usage") {
        let usage = usage(name, message);
        if !usage.is_empty() {
            figures.insert("resource_usage", usage);
        }
    }
    let next = presence.and_then(|presence| presence.next.as_ref());
    if let Some(next) = next {
        figures.insert("next_available", Value::from(next.text().to_owned()));
    }
    let (quality, is_whole) = (quality(&figures), message.kind == Kind::AgentStatus);
    let text = if figures.is_empty() { String::new() } else { Value::Object(figures).to_json() };
    let detail = if text.len() > DETAIL_BYTES_MAX { Vec::new() } else { text.into_bytes() };
    Some(Box::new(Sign {
        state: presence.map_or(PresenceState::Idle, |presence| presence.state),
        detail: Some(detail).filter(|detail| is_whole || !detail.is_empty()),
        quality,
        from: next.map(|next| time(next.at())).or(is_whole.then_some(Time(0))),
    }))
}

/// Returns what an agent uses, in percent where the protocols say so.
fn usage(name: Name, message: &Message) -> Object<'static> {
    let mut usage: Object<'static> = Object::new();
    let Some(metrics) = message.metrics.as_deref() else { return usage };
    let cpu = match name {
        // There the load is a share of one.
        Name::Bus => metrics.cpu.as_ref().and_then(share).map(|share| Value::from(u64::from(share / 10_000))),
        Name::Comms | Name::Coord | Name::Channel | Name::Wire | Name::Convoke => {
            number(metrics.cpu.as_ref())
        }
    };
    let memory = number(metrics.memory.as_ref()).filter(|_| name != Name::Bus);
    for (key, value) in [
        ("tokens_used", number(metrics.tokens.as_ref())),
        ("cost_usd", number(metrics.cost_usd.as_ref())),
        ("cpu_usage", cpu),
        ("memory_usage", memory),
    ] {
        if let Some(value) = value {
            usage.insert(key, value);
        }
    }
    usage
}

fn number(number: Option<&Number<'static>>) -> Option<Value<'static>> {
    number.cloned().map(Value::Number)
}

/// Returns how good an agent is, in millionths: how much of its work goes well, else how able it says that it is.
fn quality(figures: &Object<'static>) -> Option<u32> {
    let health = figures.get("health_metrics").and_then(|health| health.get(SUCCESS_RATE));
    let rate = health.or_else(|| figures.get(SUCCESS_RATE)).and_then(Value::as_number).and_then(share);
    let level = || {
        let level = figures.get("capability_level").and_then(Value::as_number)?;
        let percent = broker::Micros::parse(level.lexeme())?.0;
        u32::try_from(percent / 100).ok().filter(|share| *share <= 1_000_000)
    };
    rate.or_else(level)
}
