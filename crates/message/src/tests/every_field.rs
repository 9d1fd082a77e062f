//! Every field of every object refuses what it must: one table row a field, so none can be forgotten.

use json::{Object, Value};

use super::{good, parse, refusals, show};
use crate::{
    Attachment, Brief, DeliveryWishes, Failure, Gate, Handoff, Message, Metrics, Origin, Presence, from_value,
};

/// What a field takes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Takes {
    Anything,
    Text,
    Checked,
    Word,
    Integer,
    Quantity,
    Truth,
    Part,
    List(&'static Takes),
    Recipients,
    Version,
}

use Takes::{Anything, Checked, Integer, List, Part, Quantity, Recipients, Text, Truth, Version, Word};

/// An object, where it stands, its least content, and what each of its fields takes.
struct Row {
    prefix: &'static str,
    least: &'static str,
    known: &'static [&'static str],
    fields: &'static [(&'static str, Takes)],
}

#[rustfmt::skip]
const ROWS: [Row; 10] = [
    Row { prefix: "", least: r#"{"kind":"note","from":"ann","to":["bob"]}"#, known: Message::FIELDS, fields: &[
        ("convoke", Version), ("id", Checked), ("native_id", Checked), ("kind", Word), ("from", Checked),
        ("to", Recipients), ("thread", Checked), ("reply_to", Checked), ("correlation", Checked),
        ("task", Checked), ("title", Text), ("text", Text), ("code", Text), ("data", Anything),
        ("schema", Text), ("mime", Text), ("blob", Checked), ("attachments", List(&Part)),
        ("refs", List(&Checked)), ("priority", Word), ("severity", Word), ("created", Checked),
        ("expires", Checked), ("deadline", Checked), ("delivery", Part), ("status", Word),
        ("result", Anything), ("error", Part), ("metrics", Part), ("presence", Part), ("gate", Part),
        ("brief", Part), ("handoff", Part), ("origin", Part),
    ] },
    Row { prefix: "/attachments/0", least: r#"{"uri":"u"}"#, known: Attachment::FIELDS, fields: &[
        ("uri", Checked), ("name", Text), ("mime", Text), ("size", Integer), ("sha256", Checked),
    ] },
    Row { prefix: "/delivery", least: "{}", known: DeliveryWishes::FIELDS, fields: &[
        ("mode", Word), ("guarantee", Word), ("timeout", Checked), ("retries", Integer), ("backoff", Word),
        ("fallback", List(&Checked)), ("live_only", Truth), ("hold", Truth),
    ] },
    Row { prefix: "/error", least: "{}", known: Failure::FIELDS, fields: &[
        ("code", Text), ("message", Text), ("retryable", Truth), ("severity", Word), ("stack", Text),
        ("actions", List(&Text)), ("attempts", List(&Anything)),
    ] },
    Row { prefix: "/metrics", least: "{}", known: Metrics::FIELDS, fields: &[
        ("duration_ms", Quantity), ("tokens", Quantity), ("cost_usd", Quantity), ("cpu", Quantity),
        ("memory", Quantity),
    ] },
    Row { prefix: "/presence", least: r#"{"state":"idle"}"#, known: Presence::FIELDS, fields: &[
        ("state", Word), ("sub", Text), ("pid", Integer), ("tasks", List(&Checked)), ("next", Checked),
    ] },
    Row { prefix: "/gate", least: r#"{"action_required":true}"#, known: Gate::FIELDS, fields: &[
        ("action_required", Truth), ("decision", Word), ("reason", Text),
    ] },
    Row { prefix: "/brief", least: "{}", known: Brief::FIELDS, fields: &[
        ("task_type", Text), ("context", Anything), ("constraints", List(&Text)), ("criteria", List(&Text)),
        ("dependencies", List(&Checked)), ("output", Anything),
    ] },
    Row { prefix: "/handoff", least: "{}", known: Handoff::FIELDS, fields: &[
        ("reason", Text), ("state", Anything),
    ] },
    Row { prefix: "/origin", known: Origin::FIELDS, fields: &[
        ("dialect", Word), ("version", Text), ("document", Text), ("sha256", Checked), ("copy", Checked), ("seal", Text),
    ], least: r#"{"dialect":"bus","document":"","sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}"# },
];

const REQUIRED: [&str; 9] = [
    "/attachments/0/uri",
    "/from",
    "/gate/action_required",
    "/kind",
    "/origin/dialect",
    "/origin/document",
    "/origin/sha256",
    "/presence/state",
    "/to",
];

/// Puts an object where it belongs in an otherwise good message.
fn within(prefix: &str, object: Object<'static>) -> Value<'static> {
    let object = Value::Object(object);
    let mut message = ROWS[0].object();
    match prefix.trim_start_matches('/') {
        "" => return object,
        "attachments/0" => message.insert("attachments", vec![object]),
        key => message.insert(key.to_owned(), object),
    };
    Value::Object(message)
}

impl Row {
    fn object(&self) -> Object<'static> {
        parse(self.least).as_object().unwrap().clone()
    }

    /// Lists the findings of a message in which one field of this object has another value.
    fn with(&self, key: &'static str, value: Value<'static>) -> Vec<String> {
        let mut object = self.object();
        object.insert(key, value);
        from_value(within(self.prefix, object)).map_or_else(|findings| show(&findings), |_| Vec::new())
    }
}

/// Values that a field must refuse, each with the end of the path and the code.
fn refused(takes: Takes) -> Vec<(Value<'static>, &'static str)> {
    let samples = ["true", "7", r#""text""#, "[]", "{}"];
    let (kept, own): (&[&str], Vec<(&str, &'static str)>) = match takes {
        Anything => return Vec::new(),
        Text => (&[r#""text""#], vec![]),
        Checked => (&[r#""text""#], vec![(r#""""#, " format")]),
        Word => (&[r#""text""#], vec![(r#""""#, " enum"), (r#""nonsense""#, " enum")]),
        Integer => (&["7"], vec![("-1", " range"), ("1.5", " range"), ("9223372036854775808", " range")]),
        Version => (&["7"], ["7", "0", "1.5", "1e300"].map(|other| (other, " unsupported_version")).to_vec()),
        Quantity => (&["7"], vec![("-1", " range"), ("-0.5e-999", " range")]),
        Truth => (&["true"], vec![]),
        Part => (&["{}"], vec![]),
        Recipients => {
            (&[r#""text""#, "[]"], vec![("[]", " required"), ("[7]", "/0 type"), (r#"[""]"#, "/0 format")])
        }
        List(items) => {
            let inner = refused(*items).into_iter().map(|(value, code)| {
                let code: &'static str = Box::leak(format!("/0{code}").into_boxed_str());
                (Value::Array(vec![value]), code)
            });
            let others = samples.into_iter().filter(|sample| *sample != "[]");
            return others.map(|sample| (parse(sample), " type")).chain(inner).collect();
        }
    };
    let others = samples.into_iter().filter(|sample| !kept.contains(sample)).map(|sample| (sample, " type"));
    others.chain(own).map(|(text, code)| (parse(text), code)).collect()
}

#[test]
fn the_table_has_every_field() {
    for row in &ROWS {
        let listed: Vec<_> = row.fields.iter().map(|(key, _)| *key).collect();
        assert_eq!(listed, row.known, "{}", row.prefix);
        assert_eq!(row.with("x", Value::Bool(true)), Vec::<String>::new(), "{}", row.prefix);
    }
}

#[test]
fn every_field_refuses_what_it_does_not_take() {
    let mut count = 0;
    for row in &ROWS {
        for (key, takes) in row.fields {
            for (value, code) in refused(*takes) {
                let expected = vec![format!("{}/{key}{code}", row.prefix)];
                assert_eq!(row.with(key, value.clone()), expected, "{key}: {value}");
                count += 1;
            }
        }
    }
    assert!(count > 350, "{count}");
}

#[test]
fn null_counts_as_absent_everywhere() {
    let mut missing = Vec::new();
    for row in &ROWS {
        for key in row.known {
            missing.extend(row.with(key, Value::Null));
        }
    }
    missing.sort();
    assert_eq!(missing, REQUIRED.map(|path| format!("{path} required")));
}

#[test]
fn everything_wrong_is_reported_even_where_required_fields_are_missing() {
    let text =
        r#"{"id":7,"to":["Bob",7],"text":7,"delivery":{"retries":-1},"origin":{"dialect":"x"},"extra":7}"#;
    let expected = [
        "/kind required",
        "/from required",
        "/to/0 format",
        "/to/1 type",
        "/id type",
        "/text type",
        "/delivery/retries range",
        "/origin/dialect enum",
        "/origin/document required",
        "/origin/sha256 required",
    ];
    assert_eq!(refusals(text), expected);
}

#[test]
fn unknown_fields_are_kept_everywhere_and_known_names_among_them_are_not_written() {
    for row in &ROWS {
        let mut object = row.object();
        object.insert("x", parse(r#"{"deep":[null,1.50,12345678901234567890]}"#));
        let document = within(row.prefix, object).to_string();
        let message = good(&document).message;
        assert_eq!(message.to_value().pointer(&format!("{}/x/deep/1", row.prefix)), Some(&parse("1.50")));
    }
    let mut message = super::minimal();
    message.extra.insert("title", "not a title");
    message.extra.insert("convoke", 2_i64);
    assert_eq!(message.encode(), r#"{"convoke":1,"kind":"note","from":"ann","to":["bob"]}"#);
}

#[test]
fn false_is_not_true() {
    let text = r#"{"kind":"note","from":"ann","to":["bob"],"delivery":{"live_only":false,"hold":false},"error":{"retryable":false},"gate":{"action_required":false}}"#;
    let message = good(text).message;
    let delivery = message.delivery.as_ref().unwrap();
    assert_eq!((delivery.live_only, delivery.hold), (false, false));
    assert_eq!(message.error.as_ref().unwrap().retryable, Some(false));
    assert!(!message.gate.as_ref().unwrap().action_required);
    let written = r#""delivery":{},"error":{"retryable":false},"gate":{"action_required":false}}"#;
    assert!(message.encode().ends_with(written), "{}", message.encode());
}
