//! Reading a record into a message.

use dialect::{Codec, Decoded, Draft, Names, Recipients};
use json::{Finding, Findings, Object, Source, Value};
use message::{Address, Guarantee, Kind, RoleName, codes as message_codes};

use crate::codes::LEFT_OUT;
use crate::view::View;
use crate::{Record, drift, envelope, ids, lenses, rules, time};

/// Reads a record of the lexicons or of the running network.
pub(crate) fn decode(document: &Value<'_>, names: &Names) -> Result<Decoded, Findings> {
    let (view, mut warnings) = drift::admit(document)?;
    let mut broken = Findings::new(dialect::FINDINGS_MAX);
    rules::check(&view, &mut broken, &mut warnings);
    for finding in broken.into_kept() {
        warnings.add(finding);
    }
    let Some(mut draft) = read(view, names) else { return Err(unreadable(&view)) };
    for finding in draft.warnings.kept() {
        warnings.add(finding.clone());
    }
    draft.warnings = warnings;
    draft.finish()
}

/// Reads what a record says, valid or not; `None` if it does not say what it is, from whom and to whom.
pub(crate) fn read<'d>(view: View<'d>, names: &'d Names) -> Option<Draft<'d>> {
    let (kind, from, to) = (view.kind()?, view.from()?, view.to()?);
    let mut draft = Draft::new(view.object, names, kind, told_by(&view));
    if let Some(envelope) = view.envelope {
        envelope.read(view.record, &mut draft);
    }
    draft.set(&format!("/{}", view.sender_key()), "/from", names.agent(from).to_string());
    let to = recipients(&view, to, names);
    if dialect::get(view.object, view.recipient_key()).is_some() {
        draft.set(view.recipient_key(), "/to", to);
    } else {
        // Nobody named is everyone, or anyone.
        draft.assume("/to", to);
    }
    read_references(&view, &mut draft);
    draft.read(lenses::CREATED);
    match view.record {
        Record::Message => {
            read_content(&view, &mut draft);
            draft.read(lenses::CONTEXT);
            draft.read(lenses::PRIORITIES);
            draft.read(lenses::EXPIRES);
        }
        Record::Broadcast => {
            read_content(&view, &mut draft);
            draft.read(lenses::SEVERITIES);
            read_broadcast(&view, kind, &mut draft);
        }
        Record::Request => {
            if !shows_other(&view) {
                draft.read_one("/task", "/title", Codec::Text);
            }
            draft.read(lenses::CONTEXT);
            draft.read(lenses::PRIORITIES);
            draft.read(lenses::DEADLINE);
            read_payload(&view, &mut draft);
        }
        Record::Response => read_response(&view, &mut draft),
        Record::Handoff => {
            if !shows_other(&view) {
                draft.read_one("/summary", "/text", Codec::Text);
                // The running network tells why instead of what.
                draft.read_one("/reason", "/text", Codec::Text);
                draft.read_one("/reason", "/handoff/reason", Codec::Text);
            }
            draft.read(lenses::HANDOFF_LISTS);
            draft.read(lenses::EXPIRES);
            read_payload(&view, &mut draft);
        }
    }
    Some(draft)
}

fn told_by(view: &View<'_>) -> &'static [&'static str] {
    match (view.record, view.envelope.is_some()) {
        (Record::Message | Record::Broadcast, true) => &["/$type", "/content/data/$type"],
        (Record::Request, true) => &["/$type", "/params/schema"],
        (Record::Response, true) => &["/$type", "/status", "/result/schema"],
        (Record::Response, false) => &["/$type", "/status"],
        (Record::Handoff, true) => &["/$type", "/state/schema"],
        (Record::Message | Record::Broadcast | Record::Request | Record::Handoff, false) => &["/$type"],
    }
}

fn shows_other(view: &View<'_>) -> bool {
    view.envelope.is_some_and(|envelope| envelope.shows_other())
}

fn recipients(view: &View<'_>, to: Recipients<'_>, names: &Names) -> Value<'static> {
    let mut addresses: Vec<Address> = Vec::new();
    match to {
        Recipients::One(one) => addresses.push(Address::Agent(names.agent(one))),
        Recipients::Everyone => addresses.push(Address::All),
        Recipients::Anyone => {
            let any: RoleName = "any".parse().expect("any is a name");
            addresses.push(Address::Role(any));
        }
        Recipients::Each(items) => {
            for item in items.iter().filter_map(Value::as_str) {
                let address = view.address(item, names);
                if !addresses.contains(&address) {
                    addresses.push(address);
                }
            }
        }
    }
    Value::Array(addresses.iter().map(|address| Value::from(address.to_string())).collect())
}

/// Reads the conversation, what is answered and the task.
fn read_references(view: &View<'_>, draft: &mut Draft<'_>) {
    let own = match view.record {
        Record::Message => ("/thread", "/inReplyTo"),
        Record::Response if view.text("request").is_none() => ("", "/requestUri"),
        Record::Response => ("", "/request"),
        Record::Request => ("", "/replyTo"),
        Record::Handoff => ("/session", ""),
        Record::Broadcast => ("", ""),
    };
    let task = if view.record == Record::Handoff { "/context/0" } else { own.1 };
    let places = [
        (own.0, "/thread", view.thread()),
        (own.1, "/reply_to", view.reply_to()),
        (own.1, "/correlation", view.own_reply_to().filter(|reply| ids::is_reference(reply))),
        (task, "/task", view.task()),
    ];
    for (native, canonical, text) in places {
        if let Some(text) = text
            && draft.get(canonical).is_none()
        {
            draft.set(native, canonical, text.to_owned());
        }
    }
    if let Some(long) = view.own_reply_to().filter(|reply| !ids::is_reference(reply)) {
        draft.warn(own.1, LEFT_OUT, format!("a reference of {} bytes is not carried", long.len()));
    }
}

fn read_content(view: &View<'_>, draft: &mut Draft<'_>) {
    let Some(content) = view.object.get("content").and_then(Value::as_object) else { return };
    if !shows_other(view) {
        draft.read_one("/content/text", "/text", Codec::Text);
    }
    draft.read(lenses::MIME);
    if let Some(data) = content.get("data").filter(|data| !data.is_null() && view.envelope.is_none()) {
        read_data(data, draft);
    }
    if let Some(blob) = content.get("blob").and_then(Value::as_object) {
        read_blob(blob, draft);
    }
    // The running network's content that is elsewhere.
    let uri = content.get("uri").and_then(Value::as_str).filter(|uri| uri.parse::<message::Uri>().is_ok());
    if let Some(uri) = uri.filter(|_| content.get("kind").and_then(Value::as_str) == Some("ref")) {
        draft.set("/content/uri", "/blob", uri.to_owned());
        draft.set("/content/uri", "/attachments/0/uri", uri.to_owned());
    }
}

/// Reads data whose schema, if it has one, is its `$type`.
fn read_data(data: &Value<'_>, draft: &mut Draft<'_>) {
    let schema = data.get("$type").and_then(Value::as_str);
    match schema {
        Some(envelope::VALUE) if data.get("value").is_some() => {
            draft.read_one("/content/data/value", "/data", Codec::Same);
        }
        Some(schema) if atproto_syntax::nsid::check(schema).is_ok() => {
            let mut rest = data.clone().into_owned();
            if let Some(object) = rest.as_object_mut() {
                object.remove("$type");
            }
            draft.set("/content/data/$type", "/schema", schema.to_owned());
            draft.set("/content/data", "/data", rest);
        }
        Some(_) | None => draft.set("/content/data", "/data", data.clone().into_owned()),
    }
}

/// Reads a blob as an attachment, which other dialects have too, and says that it is the content.
fn read_blob(blob: &Object<'_>, draft: &mut Draft<'_>) {
    let link = blob.get("ref").and_then(|link| link.get("$link")).or_else(|| blob.get("cid"));
    let Some(cid) = link.and_then(Value::as_str).filter(|cid| ids::is_reference(cid)) else { return };
    let uri = format!("blob:{cid}");
    draft.set("/content/blob/ref", "/blob", uri.clone());
    draft.set("/content/blob/ref", "/attachments/0/uri", uri);
    if let Some(mime) = blob.get("mimeType").and_then(Value::as_str) {
        draft.set("/content/blob/mimeType", "/attachments/0/mime", mime.to_owned());
        draft.read_one("/content/blob/mimeType", "/mime", Codec::Text);
    }
    if let Some(size) = blob.get("size").and_then(Value::as_integer).filter(|size| *size >= 0) {
        draft.set("/content/blob/size", "/attachments/0/size", size);
    }
}

/// Reads what only a broadcast has: severity that implies a priority, and a time to live.
fn read_broadcast(view: &View<'_>, kind: Kind, draft: &mut Draft<'_>) {
    if let Some(priority) = view.priority()
        && draft.get("/priority").is_none()
    {
        draft.set("/severity", "/priority", priority.name());
    }
    if let Some(expiry) = time::expiry_of(view.object)
        && draft.get("/expires").is_none()
    {
        let by_expiry = view.text("expiresAt") == Some(expiry.text());
        draft.set(if by_expiry { "/expiresAt" } else { "/ttlSeconds" }, "/expires", expiry.text().to_owned());
    }
    // An expiry in the envelope replaces what the record itself says.
    if view.extended("expires").is_none_or(|text| !ids::is_timestamp(text)) {
        draft.lifetime_ms = time::lifetime_ms(view.object);
    }
    if view.is_live_only() {
        draft.set("/ttlSeconds", "/delivery/live_only", true);
    }
    let guarantee = view.guarantee(kind);
    if guarantee != Guarantee::AtLeastOnce {
        draft.assume("/delivery/guarantee", guarantee.name());
    }
}

fn read_response(view: &View<'_>, draft: &mut Draft<'_>) {
    if let Some(status) = view.status()
        && draft.get("/status").is_none()
    {
        draft.set("/status", "/status", status.name());
    }
    draft.read(lenses::ERROR_CODE);
    if !shows_other(view) {
        draft.read(lenses::ERROR_MESSAGE);
        // The running network's error is a text.
        draft.read_one("/error", "/error/message", Codec::Text);
    }
    draft.read(lenses::ERROR_RETRYABLE);
    draft.read(lenses::OUTCOME);
    read_payload(view, draft);
}

/// Reads a payload that is no envelope: data and its schema, or whatever the running network puts there.
fn read_payload(view: &View<'_>, draft: &mut Draft<'_>) {
    let holder = view.record.payload();
    let place = view.record.payload_meaning();
    let payload = view.object.get(holder).filter(|payload| !payload.is_null());
    let Some(payload) = payload.filter(|_| view.envelope.is_none()) else { return };
    let schema = payload.get("schema").and_then(Value::as_str);
    let data = payload.get("data").filter(|data| !data.is_null());
    match (schema, data) {
        (Some(envelope::VALUE), Some(data)) if data.get("value").is_some_and(|value| !value.is_null()) => {
            let value = data.get("value").cloned().unwrap_or(Value::Null).into_owned();
            draft.set(&format!("/{holder}/data/value"), place, value);
        }
        (Some(schema), Some(data)) => {
            if schema != envelope::DATA {
                draft.set(&format!("/{holder}/schema"), "/schema", schema.to_owned());
            }
            draft.set(&format!("/{holder}/data"), place, data.clone().into_owned());
        }
        (Some(_) | None, _) => draft.set(&format!("/{holder}"), place, payload.clone().into_owned()),
    }
}

/// Only a response whose request names nobody passes its schema and says not to whom it goes.
fn unreadable(view: &View<'_>) -> Findings {
    let mut errors = Findings::new(dialect::FINDINGS_MAX);
    let message = "it cannot be told to whom this goes".to_owned();
    let path = view.recipient_key().to_owned();
    errors.add(Finding { path, code: message_codes::REQUIRED, source: Source::Rule, message });
    errors
}
