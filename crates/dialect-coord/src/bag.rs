//! The bag: an open map of the document in which fields of the message travel that have no place in it.
//!
//! Tasks and events have such a map in the specification; for the other payloads it is `metadata.x_details`. In
//! it a field has the name that it has in the message, so a reader of either finds it. Users of this dialect
//! write what they like into these maps: what does not fit the message is passed on as it is.

use dialect::{Draft, Lens, Sheet, get, put};
use json::{Object, Path, Value};

use crate::envelope::Envelope;

/// The fields that travel so, if nothing else in the document says them.
const CARRIED: &[&str] = &[
    "/title",
    "/text",
    "/code",
    "/data",
    "/schema",
    "/mime",
    "/blob",
    "/attachments",
    "/refs",
    "/severity",
    "/deadline",
    "/status",
    "/result",
    "/error/code",
    "/error/message",
    "/error/retryable",
    "/error/severity",
    "/error/stack",
    "/error/actions",
    "/error/attempts",
    "/metrics/duration_ms",
    "/metrics/tokens",
    "/metrics/cost_usd",
    "/metrics/cpu",
    "/metrics/memory",
    "/presence",
    "/gate",
    "/brief/task_type",
    "/brief/context",
    "/brief/constraints",
    "/brief/criteria",
    "/brief/dependencies",
    "/brief/output",
    "/handoff/reason",
    "/handoff/state",
];
/// What users call the text of an event or a task.
const TEXT_KEYS: &[&str] = &["message", "description", "summary", "notes", "note"];
/// Ids that travel in the bag and are read with the envelope.
const LINK_KEYS: &[&str] = &["thread", "reply_to", "correlation"];

/// Puts what neither the lenses nor the fields named in `said` have said into the bag.
pub(crate) fn pack(sheet: &mut Sheet<'_>, place: &str, lenses: &[Lens], said: &[&str]) {
    for canonical in CARRIED {
        let by_lens = lenses.iter().any(|lens| lens.canonical == *canonical && sheet.has(lens.native));
        if by_lens || said.contains(canonical) {
            continue;
        }
        if let Some(value) = sheet.get(canonical) {
            let value = value.clone().into_owned();
            sheet.set(&format!("{place}{canonical}"), canonical, value);
        }
    }
}

/// Reads what the bag holds and nothing has said before.
pub(crate) fn unpack(draft: &mut Draft<'_>, envelope: &Envelope<'_>) {
    let Some(bag) = envelope.bag() else { return };
    for canonical in CARRIED {
        take(draft, bag, envelope.bag_place(), canonical);
    }
}

/// Reads the bag of an event or a task, which its users fill as they like: the text by any of its usual names,
/// and the rest as a whole into the field `rest_to`.
pub(crate) fn unpack_open(draft: &mut Draft<'_>, envelope: &Envelope<'_>, rest_to: &str) {
    unpack(draft, envelope);
    let Some(bag) = envelope.bag() else { return };
    let place = envelope.bag_place();
    let mut text_key = None;
    if draft.get("/text").is_none()
        && let Some((key, text)) =
            TEXT_KEYS.iter().find_map(|key| bag.get(key)?.as_str().map(|text| (*key, text)))
    {
        draft.set(&format!("{place}/{key}"), "/text", text.to_owned());
        text_key = Some(key);
    }
    let is_rest =
        |key: &str| text_key != Some(key) && !LINK_KEYS.contains(&key) && !is_taken(draft, bag, key);
    let rest: Object<'static> = bag
        .iter()
        .filter(|(key, _)| is_rest(key))
        .map(|(key, value)| (key.to_owned(), value.clone().into_owned()))
        .collect();
    if rest.is_empty() || draft.get(rest_to).is_some() {
        return;
    }
    for (key, _) in rest.iter() {
        draft.link(&format!("{place}{}", Path::ROOT.key(key)), rest_to);
    }
    draft.assume(rest_to, rest);
}

/// Returns a text in the bag.
pub(crate) fn text_in<'v>(envelope: &Envelope<'v>, canonical: &str) -> Option<&'v str> {
    envelope.bag().and_then(|bag| get(bag, canonical)).and_then(Value::as_str)
}

fn take(draft: &mut Draft<'_>, bag: &Object<'_>, place: &str, canonical: &str) {
    if draft.get(canonical).is_some() {
        return;
    }
    let Some(value) = get(bag, canonical) else { return };
    let value = value.clone().into_owned();
    if fits(canonical, &value) {
        draft.set(&format!("{place}{canonical}"), canonical, value);
    }
}

/// Tells whether a member of the bag has become a field of the message.
fn is_taken(draft: &Draft<'_>, bag: &Object<'_>, key: &str) -> bool {
    CARRIED.iter().any(|canonical| {
        canonical.split('/').nth(1) == Some(key)
            && get(bag, canonical).is_some_and(|value| draft.get(canonical) == Some(value))
    })
}

/// Tells whether the message accepts a value in that field.
fn fits(canonical: &str, value: &Value<'static>) -> bool {
    let mut probe: Object<'static> = [("kind", "note"), ("from", "probe"), ("to", "probe")]
        .into_iter()
        .map(|(key, value)| (key, Value::from(value)))
        .collect();
    put(&mut probe, canonical, value.clone());
    message::from_value(Value::Object(probe)).is_ok()
}
