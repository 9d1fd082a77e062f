//! The value tree: borrowed where the text allows it, in the order in which it was written.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::Number;

/// Up to this many members an object is built by searching; a larger one keeps an index while it is built.
const MEMBERS_SEARCHED_MAX: usize = 32;

/// Any JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, by its lexeme.
    Number(Number<'a>),
    /// A string, with its escapes resolved.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Value<'a>>),
    /// An object.
    Object(Object<'a>),
}

/// The members of an object, in order, each key once.
///
/// Two objects are equal when they have equal members, whatever their order.
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, Value<'a>)>,
}

impl<'a> Value<'a> {
    /// Makes a string value.
    pub fn string(text: impl Into<Cow<'a, str>>) -> Self {
        Value::String(text.into())
    }

    /// Makes an integer value.
    pub fn integer(value: i64) -> Self {
        Value::Number(Number::from(value))
    }

    /// Returns the text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// Returns the truth value of a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(truth) => Some(*truth),
            Value::Null | Value::String(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// Returns a number.
    pub fn as_number(&self) -> Option<&Number<'a>> {
        match self {
            Value::Number(number) => Some(number),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// Returns the value of a number that is exactly a 64-bit integer.
    pub fn as_integer(&self) -> Option<i64> {
        self.as_number().and_then(Number::as_integer)
    }

    /// Returns the items of an array.
    pub fn as_array(&self) -> Option<&[Value<'a>]> {
        match self {
            Value::Array(items) => Some(items),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Number(_) | Value::Object(_) => None,
        }
    }

    /// Returns an object.
    pub fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Value::Object(object) => Some(object),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Number(_) | Value::Array(_) => None,
        }
    }

    /// Returns an object, to be changed.
    pub fn as_object_mut(&mut self) -> Option<&mut Object<'a>> {
        match self {
            Value::Object(object) => Some(object),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Number(_) | Value::Array(_) => None,
        }
    }

    /// Tells whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Returns the member of that name, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        self.as_object().and_then(|object| object.get(key))
    }

    /// Returns the value at a JSON Pointer (RFC 6901), such as `/content/text` or the empty string for the whole.
    pub fn pointer(&self, pointer: &str) -> Option<&Value<'a>> {
        let (mut value, mut rest) = (self, pointer);
        while !rest.is_empty() {
            let (token, further) = split_pointer(rest)?;
            rest = further;
            let key = if token.bytes().any(|byte| byte == b'~') {
                Cow::Owned(token.replace("~1", "/").replace("~0", "~"))
            } else {
                Cow::Borrowed(token)
            };
            value = match value {
                Value::Object(object) => object.get(&key)?,
                Value::Array(items) => items.get(array_index(&key)?)?,
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
            };
        }
        Some(value)
    }

    /// Names the JSON type, with its article, for messages to people.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        }
    }

    /// Detaches the value from the text it was read from.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Bool(truth) => Value::Bool(truth),
            Value::Number(number) => Value::Number(number.into_owned()),
            Value::String(text) => Value::String(Cow::Owned(text.into_owned())),
            Value::Array(items) => Value::Array(items.into_iter().map(Value::into_owned).collect()),
            Value::Object(object) => Value::Object(object.into_owned()),
        }
    }
}

impl<'a> Object<'a> {
    /// Makes an empty object.
    pub fn new() -> Self {
        Object::default()
    }

    /// Takes members that are known to have different keys.
    pub(crate) fn from_members(members: Vec<(Cow<'a, str>, Value<'a>)>) -> Self {
        Object { members }
    }

    /// Returns the member of that name.
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        self.members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns the member of that name, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value<'a>> {
        self.members.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Tells whether there is a member of that name.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Replaces the member of that name, or adds it at the end; returns what stood there before.
    pub fn insert(&mut self, key: impl Into<Cow<'a, str>>, value: impl Into<Value<'a>>) -> Option<Value<'a>> {
        let (key, value) = (key.into(), value.into());
        match self.get_mut(&key) {
            Some(old) => Some(std::mem::replace(old, value)),
            None => {
                self.members.push((key, value));
                None
            }
        }
    }

    /// Takes the member of that name out; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Value<'a>> {
        let index = self.members.iter().position(|(name, _)| name == key)?;
        Some(self.members.remove(index).1)
    }

    /// Counts the members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Tells whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Goes through the members in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value<'a>)> {
        self.members.iter().map(|(key, value)| (key.as_ref(), value))
    }

    /// Detaches the object from the text it was read from.
    pub fn into_owned(self) -> Object<'static> {
        let members = self.members.into_iter();
        Object {
            members: members.map(|(key, value)| (Cow::Owned(key.into_owned()), value.into_owned())).collect(),
        }
    }
}

impl PartialEq for Object<'_> {
    fn eq(&self, other: &Self) -> bool {
        if self.members.len() != other.members.len() {
            return false;
        }
        if self.members.iter().zip(&other.members).all(|(mine, theirs)| mine.0 == theirs.0) {
            return self.members.iter().zip(&other.members).all(|(mine, theirs)| mine.1 == theirs.1);
        }
        let (mine, theirs) = (sorted(&self.members), sorted(&other.members));
        mine == theirs
    }
}

impl<'a> IntoIterator for Object<'a> {
    type Item = (Cow<'a, str>, Value<'a>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}

/// Collects members; a key that comes again replaces the one before it.
impl<'a, K: Into<Cow<'a, str>>, V: Into<Value<'a>>> FromIterator<(K, V)> for Object<'a> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        let mut object = Object::new();
        let mut places: HashMap<Cow<'a, str>, usize> = HashMap::new();
        for (key, value) in members {
            let (key, value) = (key.into(), value.into());
            if object.len() < MEMBERS_SEARCHED_MAX {
                object.insert(key, value);
                continue;
            }
            if places.is_empty() {
                places = object.members.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)).collect();
            }
            match places.get(&key) {
                Some(at) => object.members[*at].1 = value,
                None => {
                    places.insert(key.clone(), object.len());
                    object.members.push((key, value));
                }
            }
        }
        object
    }
}

impl<'a> From<Object<'a>> for Value<'a> {
    fn from(object: Object<'a>) -> Self {
        Value::Object(object)
    }
}

impl<'a> From<Vec<Value<'a>>> for Value<'a> {
    fn from(items: Vec<Value<'a>>) -> Self {
        Value::Array(items)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::String(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Value::String(Cow::Owned(text))
    }
}

impl From<bool> for Value<'_> {
    fn from(truth: bool) -> Self {
        Value::Bool(truth)
    }
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Value::integer(value)
    }
}

impl From<u64> for Value<'_> {
    fn from(value: u64) -> Self {
        Value::Number(Number::from(value))
    }
}

type Member<'a> = (Cow<'a, str>, Value<'a>);

fn sorted<'m, 'a>(members: &'m [Member<'a>]) -> Vec<&'m Member<'a>> {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_by(|left, right| left.0.cmp(&right.0));
    members
}

/// Splits a JSON Pointer into its first name, escaped as it is, and the rest; nothing if it does not begin with `/`.
pub fn split_pointer(pointer: &str) -> Option<(&str, &str)> {
    let names = pointer.strip_prefix('/')?;
    // A document is read by a hundred of them, so no searcher is made for a character.
    let end = names.bytes().position(|byte| byte == b'/').unwrap_or(names.len());
    Some(names.split_at(end))
}

/// RFC 6901 allows no sign and no leading zero in an array index.
fn array_index(token: &str) -> Option<usize> {
    let canonical =
        token == "0" || (!token.starts_with('0') && token.bytes().all(|byte| byte.is_ascii_digit()));
    canonical.then(|| token.parse().ok()).flatten()
}
