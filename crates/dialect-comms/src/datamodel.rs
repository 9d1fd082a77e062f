//! The AT Protocol's data model: values of other dialects made to fit it.
//!
//! It has no fractions, and its readers keep 53 bits of an integer: other numbers are written as the text of
//! their digits. `null` is left out of an object; in a list, where that would move what follows, it is the
//! text `null`. Names that start with `$` are the protocol's own: others get `_` in front, and so do names
//! that look as if they had got one, so that no two become the same.

use json::{Number, Object, Value};
use lexicon::data::SAFE_INTEGER_MAX;

/// Makes a value fit the data model; `None` is what has to be left out.
pub(crate) fn fit(value: &Value<'_>) -> Option<Value<'static>> {
    (!value.is_null()).then(|| fit_item(value))
}

/// Makes an object fit the data model.
pub(crate) fn fit_object(object: &Object<'_>) -> Object<'static> {
    let members = object.iter().filter_map(|(key, value)| Some((fit_name(key), fit(value)?)));
    members.collect()
}

/// Tells whether a number is an integer that every reader keeps exactly.
pub(crate) fn is_safe_integer(number: &Number<'_>) -> bool {
    number.as_integer().is_some_and(|integer| integer.unsigned_abs() <= SAFE_INTEGER_MAX.unsigned_abs())
}

fn fit_item(value: &Value<'_>) -> Value<'static> {
    match value {
        Value::Null => Value::from("null"),
        Value::Bool(truth) => Value::Bool(*truth),
        Value::Number(number) if is_safe_integer(number) => Value::Number(number.clone().into_owned()),
        Value::Number(number) => Value::from(number.lexeme().to_owned()),
        Value::String(text) => Value::from(text.clone().into_owned()),
        Value::Array(items) => Value::Array(items.iter().map(fit_item).collect()),
        Value::Object(object) => Value::Object(fit_object(object)),
    }
}

fn fit_name(name: &str) -> String {
    if name.trim_start_matches('_').starts_with('$') { format!("_{name}") } else { name.to_owned() }
}
