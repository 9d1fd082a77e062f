//! Interfaces: what a specification says about the fields of its documents, as data.
//!
//! Unknown fields are always allowed; they are kept for the round trip and mean nothing.

use json::{Findings, Object, Path, Value, excerpt};
use message::codes;

/// An interface of a specification.
#[derive(Debug)]
pub struct Interface {
    /// Its name in the specification.
    pub name: &'static str,
    /// Its fields.
    pub fields: &'static [Field],
}

/// A field of an interface.
#[derive(Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Whether it must be there.
    pub need: Need,
    /// What its value looks like.
    pub shape: Shape,
}

/// Whether a field must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Without it the document cannot be understood.
    Required,
    /// The specification demands it; a tolerant reader takes the default, which is named here for people.
    Defaulted(&'static str),
    /// It may be absent, or null, which is the same.
    Optional,
}

/// What a value looks like.
#[derive(Debug)]
pub enum Shape {
    /// Anything.
    Any,
    /// A string.
    Text,
    /// A string that is not empty.
    NonEmpty,
    /// A string of at most so many bytes.
    TextMax(usize),
    /// True or false.
    Boolean,
    /// A whole number between two bounds, both included.
    Integer(i64, i64),
    /// A number between two bounds, both included.
    Number(f64, f64),
    /// An instant, as RFC 3339 writes it.
    Timestamp,
    /// A number and a unit, such as `300s`.
    Duration,
    /// A UUID of any version.
    Uuid,
    /// One of a closed list of words.
    Words(&'static [&'static str]),
    /// A string that a function accepts; the words say what it should be.
    Checked(&'static str, fn(&str) -> bool),
    /// An object of any fields.
    Map,
    /// An object whose values all have that shape.
    MapOf(&'static Shape),
    /// A list of that shape.
    List(&'static Shape),
    /// A list of that shape with at least one item.
    NonEmptyList(&'static Shape),
    /// An object of that interface.
    Object(&'static Interface),
    /// That shape, or null.
    OrNull(&'static Shape),
}

/// How a document is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// As the specification says.
    Strict,
    /// As its users write: what has a default may be absent, with a warning.
    Tolerant,
}

impl Interface {
    /// Checks an object and reports everything that is wrong.
    pub fn check(
        &self,
        object: &Object<'_>,
        path: &Path<'_>,
        strictness: Strictness,
        errors: &mut Findings,
        warnings: &mut Findings,
    ) {
        Checker { strictness, errors, warnings }.object(self, object, path);
    }

    /// Returns the field of that name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

struct Checker<'c> {
    strictness: Strictness,
    errors: &'c mut Findings,
    warnings: &'c mut Findings,
}

impl Checker<'_> {
    fn object(&mut self, interface: &Interface, object: &Object<'_>, path: &Path<'_>) {
        for field in interface.fields {
            let path = path.key(field.name);
            match object.get(field.name) {
                None => self.absent(field, &path),
                Some(Value::Null) if field.need == Need::Optional => {}
                Some(value) => self.value(&field.shape, value, &path),
            }
        }
    }

    fn absent(&mut self, field: &Field, path: &Path<'_>) {
        match (field.need, self.strictness) {
            (Need::Optional, _) => {}
            (Need::Defaulted(default), Strictness::Tolerant) => {
                self.warnings.schema(path, codes::REQUIRED, || {
                    format!("{:?} is missing; {default} is taken", field.name)
                });
            }
            (Need::Required, _) | (Need::Defaulted(_), Strictness::Strict) => {
                self.errors.schema(path, codes::REQUIRED, || format!("{:?} is required", field.name));
            }
        }
    }

    fn value(&mut self, shape: &Shape, value: &Value<'_>, path: &Path<'_>) {
        match shape {
            Shape::Any => {}
            Shape::Text
            | Shape::NonEmpty
            | Shape::TextMax(_)
            | Shape::Timestamp
            | Shape::Duration
            | Shape::Uuid
            | Shape::Words(_)
            | Shape::Checked(..) => {
                let Value::String(text) = value else { return self.wrong_type("a string", value, path) };
                self.text(shape, text, path);
            }
            Shape::Boolean => {
                if value.as_bool().is_none() {
                    self.wrong_type("true or false", value, path);
                }
            }
            Shape::Integer(min, max) => self.integer(*min, *max, value, path),
            Shape::Number(min, max) => self.number(*min, *max, value, path),
            Shape::Map | Shape::MapOf(_) | Shape::Object(_) => {
                let Value::Object(object) = value else { return self.wrong_type("an object", value, path) };
                self.members(shape, object, path);
            }
            Shape::List(item) | Shape::NonEmptyList(item) => {
                let Value::Array(items) = value else { return self.wrong_type("an array", value, path) };
                if items.is_empty() && matches!(shape, Shape::NonEmptyList(_)) {
                    self.errors.schema(path, codes::REQUIRED, || "at least one item is needed".to_owned());
                }
                for (index, value) in items.iter().enumerate() {
                    self.value(item, value, &path.index(index));
                }
            }
            Shape::OrNull(inner) => {
                if !value.is_null() {
                    self.value(inner, value, path);
                }
            }
        }
    }

    fn members(&mut self, shape: &Shape, object: &Object<'_>, path: &Path<'_>) {
        if let Shape::Object(interface) = shape {
            self.object(interface, object, path);
        } else if let Shape::MapOf(inner) = shape {
            for (key, value) in object.iter() {
                self.value(inner, value, &path.key(key));
            }
        }
    }

    fn text(&mut self, shape: &Shape, text: &str, path: &Path<'_>) {
        if let Shape::Words(words) = shape {
            if !words.contains(&text) {
                self.errors.schema(path, codes::ENUM, || {
                    format!("{:?} is not one of {}", excerpt(text), words.join(", "))
                });
            }
        } else if let Shape::TextMax(bytes_max) = shape {
            if text.len() > *bytes_max {
                self.errors.schema(path, codes::TOO_LONG, || {
                    format!("{} bytes, at most {bytes_max} are allowed", text.len())
                });
            }
        } else if let Some(wanted) = shape.broken_by(text) {
            self.errors.schema(path, codes::FORMAT, || format!("{:?} is not {wanted}", excerpt(text)));
        }
    }

    fn integer(&mut self, min: i64, max: i64, value: &Value<'_>, path: &Path<'_>) {
        match value.as_integer() {
            Some(integer) if (min..=max).contains(&integer) => {}
            Some(integer) => {
                self.errors.schema(path, codes::RANGE, || {
                    range(&integer.to_string(), &min, &max, min == i64::MIN, max == i64::MAX)
                });
            }
            None => self.wrong_type("a whole number", value, path),
        }
    }

    fn number(&mut self, min: f64, max: f64, value: &Value<'_>, path: &Path<'_>) {
        let Value::Number(number) = value else { return self.wrong_type("a number", value, path) };
        let figure = number.as_f64();
        if figure < min || figure > max {
            self.errors.schema(path, codes::RANGE, || {
                range(number.lexeme(), &min, &max, min == f64::NEG_INFINITY, max == f64::INFINITY)
            });
        }
    }

    fn wrong_type(&mut self, expected: &str, value: &Value<'_>, path: &Path<'_>) {
        let found = value.type_name();
        self.errors.schema(path, codes::TYPE, || format!("expected {expected}, found {found}"));
    }
}

impl Shape {
    /// Returns what a text should have been, if it is not that.
    fn broken_by(&self, text: &str) -> Option<&'static str> {
        let (holds, wanted) = match self {
            Shape::NonEmpty => (!text.is_empty(), "a text that is not empty"),
            Shape::Timestamp => {
                (text.parse::<message::Timestamp>().is_ok(), "a time such as 2026-11-15T10:00:00Z (RFC 3339)")
            }
            Shape::Duration => (
                message::parse_duration(text).is_ok(),
                "a duration such as 300s: a number and ms, s, m, h or d",
            ),
            Shape::Uuid => (is_uuid(text), "a UUID"),
            Shape::Checked(wanted, check) => (check(text), *wanted),
            Shape::Any
            | Shape::Text
            | Shape::TextMax(_)
            | Shape::Boolean
            | Shape::Integer(..)
            | Shape::Number(..)
            | Shape::Words(_)
            | Shape::Map
            | Shape::MapOf(_)
            | Shape::List(_)
            | Shape::NonEmptyList(_)
            | Shape::Object(_)
            | Shape::OrNull(_) => return None,
        };
        (!holds).then_some(wanted)
    }
}

/// Tells whether a text is a UUID of any version, in either case.
pub fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn range(
    found: &str,
    min: &dyn std::fmt::Display,
    max: &dyn std::fmt::Display,
    no_min: bool,
    no_max: bool,
) -> String {
    let found = excerpt(found);
    match (no_min, no_max) {
        (false, false) => format!("{found} is not between {min} and {max}"),
        (false, true) => format!("{found} is less than {min}"),
        (true, _) => format!("{found} is more than {max}"),
    }
}
