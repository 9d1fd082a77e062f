//! Generators of documents for property tests: every field and word of each dialect, and what is awkward.

pub mod bus;
pub mod channel;
pub mod comms;
pub mod convoke;
pub mod coord;
pub mod wire;

use json::{Limits, Object, Value};
use proptest::prelude::*;

/// A field that may be absent.
pub type Member = Option<(&'static str, Value<'static>)>;

/// Collects the fields that are there.
pub fn object(members: impl IntoIterator<Item = Member>) -> Value<'static> {
    Value::Object(members.into_iter().flatten().collect())
}

/// A field that is always there.
pub fn always(
    name: &'static str,
    value: impl Strategy<Value = Value<'static>>,
) -> impl Strategy<Value = Member> {
    value.prop_map(move |value| Some((name, value)))
}

/// A field that is there half of the time.
pub fn maybe(
    name: &'static str,
    value: impl Strategy<Value = Value<'static>>,
) -> impl Strategy<Value = Member> {
    proptest::option::of(value).prop_map(move |value| value.map(|value| (name, value)))
}

/// One of some words.
pub fn word(words: &'static [&'static str]) -> impl Strategy<Value = Value<'static>> {
    proptest::sample::select(words).prop_map(Value::from)
}

/// Text as people and models write it: emoji, quotes, line breaks, mentions, some of it long.
pub fn text() -> impl Strategy<Value = Value<'static>> {
    prop_oneof![
        6 => "[ -~]{0,40}",
        2 => "[a-z ]{1,20}[é😀👩‍👩‍👧\n\t\"\\\\]{1,5}[a-z ]{0,20}",
        1 => "(word ){140,260}",
        1 => "[a-zé]{900,1200}",
    ]
    .prop_map(Value::from)
}

/// Text that is not empty.
pub fn nonempty() -> impl Strategy<Value = Value<'static>> {
    "[a-zA-Z0-9][ -~é😀]{0,30}".prop_map(Value::from)
}

/// An instant in one of the forms that RFC 3339 allows.
pub fn timestamp() -> impl Strategy<Value = Value<'static>> {
    let zone = prop_oneof![3 => Just("Z"), 1 => Just("+02:00"), 1 => Just("-07:30")];
    let fraction = prop_oneof![Just(""), Just(".123"), Just(".120000"), Just(".123456789")];
    (2000_u32..2099, 1_u32..=12, 1_u32..=28, 0_u32..24, 0_u32..60, 0_u32..60, fraction, zone).prop_map(
        |(year, month, day, hour, minute, second, fraction, zone)| {
            Value::from(format!(
                "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}"
            ))
        },
    )
}

/// A name of an agent.
pub fn slug() -> impl Strategy<Value = Value<'static>> {
    prop_oneof!["[a-z][a-z0-9-]{0,12}", Just("ann".to_owned()), Just("bob".to_owned())]
        .prop_filter("all is everyone", |name| name != "all")
        .prop_map(Value::from)
}

/// Any number, by its lexeme: fractions, exponents, integers beyond 2^53.
pub fn number() -> impl Strategy<Value = Value<'static>> {
    "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,6})?([eE][+-]?[0-9]{1,2})?".prop_map(|lexeme| parsed(&lexeme))
}

/// Any JSON value, with what is awkward: nulls, floats, deep nesting, strange keys.
pub fn anything() -> impl Strategy<Value = Value<'static>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number(),
        text(),
        Just(parsed("[[[[[[[[[[{}]]]]]]]]]]")),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            members(inner).prop_map(Value::Object),
        ]
    })
}

/// Any object.
pub fn any_object() -> impl Strategy<Value = Value<'static>> {
    members(anything()).prop_map(Value::Object)
}

/// Fields that no specification names.
pub fn unknown_fields() -> impl Strategy<Value = Vec<(String, Value<'static>)>> {
    proptest::collection::vec(("zz[A-Za-z_/~]{1,6}", anything()), 0..3)
}

/// Adds fields to an object.
pub fn with(mut value: Value<'static>, fields: Vec<(String, Value<'static>)>) -> Value<'static> {
    if let Some(object) = value.as_object_mut() {
        for (key, value) in fields {
            object.insert(key, value);
        }
    }
    value
}

/// A list of at most so many.
pub fn list(
    item: impl Strategy<Value = Value<'static>>,
    most: usize,
) -> impl Strategy<Value = Value<'static>> {
    proptest::collection::vec(item, 0..=most).prop_map(Value::Array)
}

/// A whole number between two bounds, both included.
pub fn integer(min: i64, max: i64) -> impl Strategy<Value = Value<'static>> {
    (min..=max).prop_map(Value::integer)
}

/// True or false.
pub fn truth() -> impl Strategy<Value = Value<'static>> {
    any::<bool>().prop_map(Value::Bool)
}

/// A value from its JSON text.
///
/// # Panics
///
/// If the text is not JSON.
pub fn parsed(text: &str) -> Value<'static> {
    json::parse_str(text, Limits::DOCUMENT).expect("the text is JSON").into_owned()
}

fn members(value: impl Strategy<Value = Value<'static>>) -> impl Strategy<Value = Object<'static>> {
    let key = prop_oneof![4 => "[a-zA-Z_]{1,8}", 1 => "[ -~é]{0,6}"];
    // Names that start with a dollar sign are the AT Protocol's own.
    let key = key.prop_filter("reserved", |key| !key.starts_with('$'));
    proptest::collection::vec((key, value), 0..4).prop_map(|members| members.into_iter().collect())
}
