//! Reaching a place in a document by JSON Pointer, and making it where it is not there yet. Our own pointers have no
//! escapes.

use json::{Object, Value, split_pointer};

/// Returns what stands at a place, if it is not null: null and absent mean the same here.
pub fn get<'v, 'a>(object: &'v Object<'a>, pointer: &str) -> Option<&'v Value<'a>> {
    let (first, rest) = split_pointer(pointer)?;
    object.get(first)?.pointer(rest).filter(|value| !value.is_null())
}

/// Puts a value at a place, making objects and lists on the way; a number in a list is the next free one.
///
/// Does nothing where something that is neither object nor list stands in the way.
pub fn put(object: &mut Object<'static>, pointer: &str, value: Value<'static>) {
    let Some((first, rest)) = split_pointer(pointer) else { return };
    if rest.is_empty() {
        object.insert(first.to_owned(), value);
        return;
    }
    if object.get(first).is_none_or(Value::is_null) {
        object.insert(first.to_owned(), empty_for(rest));
    }
    if let Some(inner) = object.get_mut(first) {
        put_into(inner, rest, value);
    }
}

fn put_into(place: &mut Value<'static>, pointer: &str, value: Value<'static>) {
    match place {
        Value::Object(object) => put(object, pointer, value),
        Value::Array(items) => {
            let Some((first, rest)) = split_pointer(pointer) else { return };
            let Ok(index) = first.parse::<usize>() else { return };
            if index >= items.len() {
                items.push(if rest.is_empty() { Value::Null } else { empty_for(rest) });
            }
            let index = index.min(items.len() - 1);
            match rest {
                "" => items[index] = value,
                rest => put_into(&mut items[index], rest, value),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Makes what can hold the next step: a list for a number, an object for a name.
fn empty_for(rest: &str) -> Value<'static> {
    let number =
        split_pointer(rest).is_some_and(|(first, _)| first.bytes().all(|byte| byte.is_ascii_digit()));
    if number { Value::Array(Vec::new()) } else { Value::Object(Object::new()) }
}
