//! Any JSON at all, made of words that mean something to the engine, so that it gets past the first check.

use json::{Object, Value};

use crate::tests::dice::Dice;
use crate::tests::value;

const KEYS: [&str; 40] = [
    "type",
    "properties",
    "items",
    "required",
    "nullable",
    "defs",
    "main",
    "record",
    "key",
    "refs",
    "ref",
    "closed",
    "enum",
    "const",
    "default",
    "maxLength",
    "minimum",
    "accept",
    "lexicon",
    "id",
    "parameters",
    "input",
    "output",
    "schema",
    "message",
    "errors",
    "permissions",
    "title:lang",
    "$type",
    "$link",
    "$bytes",
    "$x",
    "mimeType",
    "size",
    "cid",
    "text",
    "a",
    "a/b~c",
    "",
    "é",
];
const TEXTS: [&str; 32] = [
    "object",
    "string",
    "integer",
    "array",
    "record",
    "query",
    "procedure",
    "subscription",
    "union",
    "ref",
    "unknown",
    "null",
    "boolean",
    "bytes",
    "blob",
    "cid-link",
    "token",
    "params",
    "permission-set",
    "permission",
    "tid",
    "#main",
    "#a",
    "com.example.note",
    "com.example.note#a",
    "",
    "agent.comms.message",
    "AA==",
    "image/*",
    "did:web:a.example",
    "bafkreiccldh766hwcnuxnf2wh6jgzepf2nlu2lvcllt63eww5p6chi4ity",
    "\0\u{7f}👨‍👩‍👧‍👧\r\n",
];
const NUMBERS: [&str; 12] = [
    "1",
    "0",
    "-1",
    "1.0",
    "1.5",
    "1e3",
    "1e-400",
    "1e400",
    "-0",
    "9223372036854775808",
    "-9223372036854775808",
    "9007199254740993",
];

pub(in crate::tests) fn any_json(dice: &mut Dice<'_>) -> Value<'static> {
    inside(dice, 5)
}

fn inside(dice: &mut Dice<'_>, depth: usize) -> Value<'static> {
    match dice.below(if depth == 0 { 4 } else { 12 }) {
        0 => value(dice.pick::<&str>(&["null", "true", "false"])).into_owned(),
        1 => value(dice.pick::<&str>(&NUMBERS)).into_owned(),
        2 | 3 => Value::from(*dice.pick(&TEXTS)),
        4 | 5 => Value::Array((0..dice.below(5)).map(|_| inside(dice, depth - 1)).collect()),
        _ => {
            let members = (0..dice.below(7)).map(|_| (*dice.pick(&KEYS), inside(dice, depth - 1)));
            Value::Object(members.collect::<Object<'_>>())
        }
    }
}

/// Replaces or takes out one value somewhere inside.
pub(in crate::tests) fn damage(target: &mut Value<'static>, dice: &mut Dice<'_>) {
    let count = match target {
        Value::Object(object) => object.len(),
        Value::Array(items) => items.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    };
    let at = dice.below(count.clamp(1, 256));
    let deeper = dice.percent(75);
    match target {
        Value::Object(object) if count > 0 => {
            let key = object.iter().nth(at).map(|(key, _)| key.to_owned()).unwrap();
            match object.get_mut(&key) {
                Some(member) if deeper => damage(member, dice),
                _ if dice.percent(50) => {
                    object.insert(*dice.pick(&KEYS), inside(dice, 2));
                }
                _ => {
                    object.remove(&key);
                }
            }
        }
        Value::Array(items) if count > 0 && deeper => damage(&mut items[at], dice),
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => *target = inside(dice, 3),
    }
}
