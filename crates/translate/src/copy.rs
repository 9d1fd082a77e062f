//! Copies: a translated document without the origin that it carries, and the digest that shows an edit.

use dialect::Name;
use json::{Value, write_string};
use message::Sha256;

/// Returns a document without its origin, and without an object that would hold nothing else.
pub(crate) fn bare(document: &Value<'_>, name: Name) -> Value<'static> {
    let place = OriginPlace::of(name);
    let Some(object) = document.as_object() else { return document.clone().into_owned() };
    let members = object
        .iter()
        .filter_map(|(key, value)| Some((key.to_owned(), place.strip(key, value)?.into_owned())));
    Value::Object(members.collect())
}

/// Returns the digest of a document without its origin, whatever the order of its members and the space
/// between them.
pub(crate) fn digest(document: &Value<'_>, name: Name) -> Sha256 {
    let place = OriginPlace::of(name);
    let mut text = String::new();
    if let Some(object) = document.as_object() {
        let stripped = object.iter().filter_map(|(key, value)| Some((key, place.strip(key, value)?)));
        write_members(stripped.collect(), &mut text);
    }
    Sha256::of(text.as_bytes())
}

/// Where the origin of a dialect's documents is: at the top, or in an object there.
struct OriginPlace {
    holder: Option<&'static str>,
    name: &'static str,
}

impl OriginPlace {
    fn of(name: Name) -> Self {
        let place = crate::dialect(name).origin_place();
        let (parent, name) = place.rsplit_once('/').unwrap_or_default();
        OriginPlace { holder: parent.strip_prefix('/'), name }
    }

    /// Returns a member of the document as it is without the origin; nothing, if it holds nothing else.
    fn strip<'v>(&self, key: &str, value: &'v Value<'v>) -> Option<Stripped<'v>> {
        match (self.holder, value) {
            (None, _) => (key != self.name).then_some(Stripped::Whole(value)),
            (Some(holder), Value::Object(object)) if key == holder => {
                let others = object.iter().filter(|(key, _)| *key != self.name);
                let others: Vec<_> = others.collect();
                (!others.is_empty()).then_some(Stripped::Members(others))
            }
            (Some(_), _) => Some(Stripped::Whole(value)),
        }
    }
}

/// A member of a document, perhaps without the origin that it held.
enum Stripped<'v> {
    Whole(&'v Value<'v>),
    Members(Vec<(&'v str, &'v Value<'v>)>),
}

impl Stripped<'_> {
    fn into_owned(self) -> Value<'static> {
        match self {
            Stripped::Whole(value) => value.clone().into_owned(),
            Stripped::Members(members) => {
                let owned =
                    members.into_iter().map(|(key, value)| (key.to_owned(), value.clone().into_owned()));
                Value::Object(owned.collect())
            }
        }
    }

    fn write_sorted(self, out: &mut String) {
        match self {
            Stripped::Whole(value) => write_sorted(value, out),
            Stripped::Members(members) => {
                let members = members.into_iter().map(|(key, value)| (key, Stripped::Whole(value)));
                write_members(members.collect(), out);
            }
        }
    }
}

fn write_members(mut members: Vec<(&str, Stripped<'_>)>, out: &mut String) {
    members.sort_unstable_by_key(|(key, _)| *key);
    out.push('{');
    for (key, value) in members {
        write_string(out, key).expect("writing to a string does not fail");
        out.push(':');
        value.write_sorted(out);
        out.push(',');
    }
    out.push('}');
}

fn write_sorted(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Object(object) => {
            write_members(object.iter().map(|(key, value)| (key, Stripped::Whole(value))).collect(), out);
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write_sorted(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::String(text) => write_string(out, text).expect("writing to a string does not fail"),
        Value::Number(number) => out.push_str(number.lexeme()),
        Value::Null | Value::Bool(_) => out.push_str(&value.to_string()),
    }
}
