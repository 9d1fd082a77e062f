//! The rest: what a message says that its record's own fields do not, as plain data or in an envelope.

use dialect::{Encoded, Link, Names, cut_to_bytes, is_cut, put};
use json::{Object, Value};
use message::{Address, Kind, Message, Timestamp};

use super::fields::Shows;
use crate::envelope::{self, extension_of};
use crate::lenses::{ERROR_CODE_BYTES_MAX, ERROR_MESSAGE_BYTES_MAX};
use crate::view::View;
use crate::{Record, datamodel, decode, ids};

/// What is left to say.
struct Rest<'m> {
    /// The recipients, where the record cannot say them.
    to: Option<Vec<Value<'static>>>,
    /// Fields of the message by their names.
    fields: Vec<(&'static str, Value<'m>)>,
    /// Whether the record's own fields tell another kind.
    other_kind: bool,
}

/// Writes the rest of a message into its record.
pub(super) fn write(message: &Message, names: &Names, record: Record, shows: Shows, encoded: &mut Encoded) {
    let rest = rest_of(message, names, &encoded.document);
    let kind =
        encoded.document.get("content").and_then(|content| content.get("kind")).and_then(Value::as_str);
    let needs_data = matches!(kind, Some("json" | "event"));
    let plain_enough = shows.is_none() && rest.to.is_none() && !rest.other_kind;
    if plain_enough && rest.fields.is_empty() && !needs_data {
        return;
    }
    if plain_enough && write_plain(&rest.fields, record, encoded) {
        return;
    }
    open_envelope(message, record, shows, encoded);
    // The envelope changes what the record means, and so what its own fields say.
    let rest = rest_of(message, names, &encoded.document);
    fill_envelope(record, rest, encoded);
}

/// Reads the record as it stands and keeps what differs from the message.
fn rest_of<'m>(message: &'m Message, names: &Names, document: &Object<'static>) -> Rest<'m> {
    let read = View::of_lexicon(document).and_then(|view| decode::read(view, names));
    let read = read.and_then(|draft| draft.finish().ok()).map(|decoded| decoded.message);
    let seen = read.as_ref().map(Message::to_value);
    let mut fields = Vec::new();
    if let Value::Object(said) = message.to_value() {
        let wanted = said.into_iter().filter_map(|(key, value)| {
            let name = envelope::FIELDS.iter().find(|name| **name == key)?;
            Some((*name, value))
        });
        let unsaid = wanted
            .filter(|(name, value)| !is_said(name, value, seen.as_ref().and_then(|seen| seen.get(name))));
        fields = unsaid.collect();
    }
    Rest {
        to: unsaid_recipients(message, names, read.as_ref()),
        fields,
        other_kind: read.as_ref().is_none_or(|read| read.kind != message.kind),
    }
}

/// Returns the recipients, if reading the record does not give them.
fn unsaid_recipients(
    message: &Message,
    names: &Names,
    read: Option<&Message>,
) -> Option<Vec<Value<'static>>> {
    let written: Vec<String> = message.to.iter().map(|address| written(address, names)).collect();
    let mut meant: Vec<Address> = Vec::new();
    for address in written.iter().map(|text| names.address(text)) {
        if !meant.contains(&address) {
            meant.push(address);
        }
    }
    let said = read.is_some_and(|read| read.to == meant);
    (!said).then(|| written.into_iter().map(Value::from).collect())
}

fn written(address: &Address, names: &Names) -> String {
    match address {
        Address::Agent(agent) => ids::did_of(agent.as_str(), names).0,
        Address::Session { .. }
        | Address::Role(_)
        | Address::Topic(_)
        | Address::Channel(_)
        | Address::All => address.to_string(),
    }
}

/// Tells whether reading a record gives what the message says. A text that was cut has its whole in the origin.
fn is_said(name: &str, wanted: &Value<'_>, seen: Option<&Value<'_>>) -> bool {
    let text = seen.and_then(Value::as_str);
    match name {
        "priority" if seen.is_none() => wanted.as_str() == Some("normal"),
        "title" | "text" | "mime" => seen == Some(wanted) || text.is_some_and(is_cut),
        "expires" | "deadline" => {
            let at = |text: &str| text.parse::<Timestamp>().ok();
            text.and_then(at) == wanted.as_str().and_then(at)
        }
        "error" => {
            let mut shown = wanted.clone().into_owned();
            cut_member(&mut shown, "code", ERROR_CODE_BYTES_MAX);
            cut_member(&mut shown, "message", ERROR_MESSAGE_BYTES_MAX);
            seen == Some(&shown)
        }
        _ => seen == Some(wanted),
    }
}

fn cut_member(error: &mut Value<'static>, key: &str, bytes_max: usize) {
    let member = error.as_object_mut().and_then(|error| error.get_mut(key));
    if let Some(Value::String(text)) = member {
        *text = cut_to_bytes(text, bytes_max).into_owned().into();
    }
}

/// Writes data alone, with its own schema; tells whether that was all.
fn write_plain(fields: &[(&'static str, Value<'_>)], record: Record, encoded: &mut Encoded) -> bool {
    let schema = fields.iter().find(|(name, _)| *name == "schema").and_then(|(_, schema)| schema.as_str());
    let mut others = fields.iter().filter(|(name, _)| *name != "schema");
    let (Some((name, value)), None) = (others.next(), others.next()) else { return false };
    let place = record.payload_meaning();
    let value = match (*name, value.as_object()) {
        ("handoff", Some(handoff)) if handoff.len() == 1 => handoff.get("state"),
        (name, _) if place.strip_prefix('/') == Some(name) => Some(value),
        _ => None,
    };
    // What names a schema that we know would be held to it, and what names one of our own would be opened.
    let foreign =
        |schema: &str| atproto_syntax::nsid::check(schema).is_ok() && !schema.starts_with("agent.comms.");
    let (schema, data) = match (value, schema) {
        (Some(Value::Object(data)), Some(schema)) if foreign(schema) => {
            (Some(schema), datamodel::fit_object(data))
        }
        (Some(Value::Object(data)), None) => (None, datamodel::fit_object(data)),
        (Some(value), None) => {
            let Some(value) = datamodel::fit(value) else { return false };
            (Some(envelope::VALUE), [("value", value)].into_iter().collect())
        }
        (Some(_), Some(_)) | (None, _) => return false,
    };
    put_data(record, schema, place, data, encoded);
    true
}

/// Puts data where the record takes it, its schema beside it or, in content, as its `$type`.
fn put_data(record: Record, schema: Option<&str>, place: &str, data: Object<'static>, encoded: &mut Encoded) {
    let holder = record.payload();
    let native = format!("/{holder}/data");
    let wrapped = schema == Some(envelope::VALUE);
    let link = if wrapped { format!("{native}/value") } else { native.clone() };
    let named = match record {
        Record::Message | Record::Broadcast => format!("{native}/$type"),
        Record::Request | Record::Response | Record::Handoff => format!("/{holder}/schema"),
    };
    match record {
        Record::Message | Record::Broadcast => {
            let kind = schema.map(|schema| ("$type".into(), Value::from(schema.to_owned())));
            let members = kind.into_iter().chain(data).collect::<Object<'static>>();
            put(&mut encoded.document, &native, Value::Object(members));
        }
        Record::Request | Record::Response | Record::Handoff => {
            let schema = schema.unwrap_or(envelope::DATA).to_owned();
            put(&mut encoded.document, &named, Value::from(schema));
            put(&mut encoded.document, &native, Value::Object(data));
        }
    }
    match schema {
        Some(_) if !wrapped => encoded.links.push(Link { native: named.into(), canonical: "/schema".into() }),
        None if matches!(record, Record::Message | Record::Broadcast) => {}
        Some(_) | None => encoded.invented.push(named),
    }
    encoded.links.push(Link { native: link.into(), canonical: place.to_owned().into() });
}

fn open_envelope(message: &Message, record: Record, shows: Shows, encoded: &mut Encoded) {
    let holder = record.payload();
    let schema = extension_of(record, message.kind).expect("every kind has an extension of its record");
    let mut head = Object::new();
    let named = match record {
        Record::Message | Record::Broadcast => {
            head.insert("$type", schema);
            format!("/{holder}/data/$type")
        }
        Record::Request | Record::Response | Record::Handoff => {
            let named = format!("/{holder}/schema");
            put(&mut encoded.document, &named, Value::from(schema));
            named
        }
    };
    encoded.links.push(Link { native: named.into(), canonical: "/kind".into() });
    if message.kind == Kind::AgentHeartbeat {
        head.insert("kind", message.kind.name());
    }
    if let Some(shows) = shows {
        head.insert(envelope::SHOWS, shows);
    }
    put(&mut encoded.document, &format!("/{holder}/data"), Value::Object(head));
}

fn fill_envelope(record: Record, rest: Rest<'_>, encoded: &mut Encoded) {
    let to = rest.to.map(|to| ("to", Value::Array(to)));
    let fields = rest.fields.into_iter().filter_map(|(name, value)| Some((name, datamodel::fit(&value)?)));
    for (name, value) in to.into_iter().chain(fields) {
        let native = format!("/{}/data/{name}", record.payload());
        put(&mut encoded.document, &native, value);
        encoded.links.push(Link { native: native.into(), canonical: format!("/{name}").into() });
    }
}
