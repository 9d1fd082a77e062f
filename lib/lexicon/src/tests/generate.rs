//! Generated lexicons, changes to them and data that they allow.

mod any;
mod change;
mod data;

use json::Value;

use super::dice::Dice;
use super::value;

pub(super) use any::{any_json, damage};
pub(super) use change::change;
pub(super) use data::record;

pub(super) const ID: &str = "com.example.note";
const NAMES: [&str; 7] = ["a", "b", "c", "one", "main", "word", "a b"];
/// The definitions of every generated lexicon besides `main`.
const OBJECTS: [&str; 3] = ["one", "two", "three"];
const WORDS: [&str; 4] = ["", "x", "é", "long enough"];
const FORMATS: [(&str, &str); 4] = [
    ("did", "did:web:a.example"),
    ("datetime", "2025-02-01T10:00:00Z"),
    ("tid", "3jzfcijpj2z2a"),
    ("nsid", "com.example.note"),
];
const MEDIA: [&str; 5] = ["image/png", "image/*", "*/*", "text/plain", "image/jpeg"];

/// Makes a lexicon with a record, three objects, a string and a token.
pub(super) fn lexicon(dice: &mut Dice<'_>) -> Value<'static> {
    let mut defs = vec![format!(r#""main":{{"type":"record","key":"tid","record":{}}}"#, object(dice, 3))];
    defs.extend(OBJECTS.map(|name| format!(r#""{name}":{}"#, object(dice, 2))));
    defs.push(format!(r#""word":{},"token":{{"type":"token"}}"#, string(dice)));
    value(&format!(r#"{{"lexicon":1,"id":"{ID}","defs":{{{}}}}}"#, defs.join(","))).into_owned()
}

fn object(dice: &mut Dice<'_>, depth: usize) -> String {
    let names = dice.some(&NAMES);
    let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    let properties: Vec<String> =
        quoted.iter().map(|name| format!("{name}:{}", schema(dice, depth))).collect();
    format!(
        r#"{{"type":"object","required":[{}],"nullable":[{}],"properties":{{{}}}}}"#,
        dice.some(&quoted).join(","),
        if dice.percent(30) { dice.some(&quoted).join(",") } else { String::new() },
        properties.join(",")
    )
}

fn schema(dice: &mut Dice<'_>, depth: usize) -> String {
    match dice.below(if depth == 0 { 11 } else { 14 }) {
        0 => r#"{"type":"boolean"}"#.to_owned(),
        1 => format!(r#"{{"type":"integer"{}}}"#, bounds(dice, "minimum", "maximum")),
        2 => format!(r#"{{"type":"integer","enum":[1,{}]}}"#, dice.below(9)),
        3 | 4 => string(dice),
        5 => format!(r#"{{"type":"bytes"{}}}"#, bounds(dice, "minLength", "maxLength")),
        6 => r#"{"type":"cid-link"}"#.to_owned(),
        7 => format!(r#"{{"type":"blob","accept":{:?},"maxSize":{}}}"#, dice.some(&MEDIA), dice.below(9)),
        8 => r#"{"type":"unknown"}"#.to_owned(),
        9 => {
            let name = dice.pick(&["one", "two", "three", "word", "token"]);
            format!(r##"{{"type":"ref","ref":"#{name}"}}"##)
        }
        10 => {
            let refs = dice.some(&OBJECTS.map(|name| format!("#{name}")));
            let closed = !refs.is_empty() && dice.percent(50);
            format!(r#"{{"type":"union","refs":{refs:?},"closed":{closed}}}"#)
        }
        11 => {
            let length = bounds(dice, "minLength", "maxLength");
            format!(r#"{{"type":"array","items":{}{length}}}"#, schema(dice, depth - 1))
        }
        _ => object(dice, depth - 1),
    }
}

fn string(dice: &mut Dice<'_>) -> String {
    let more = match dice.below(6) {
        0 => String::new(),
        1 => bounds(dice, "minLength", "maxLength"),
        2 => bounds(dice, "minGraphemes", "maxGraphemes"),
        3 => format!(r#","enum":["x",{:?}]"#, dice.pick(&WORDS)),
        4 => format!(r#","knownValues":{:?},"default":"x""#, dice.some(&WORDS)),
        _ => format!(r#","format":"{}""#, dice.pick(&FORMATS).0),
    };
    format!(r#"{{"type":"string"{more}}}"#)
}

fn bounds(dice: &mut Dice<'_>, min: &str, max: &str) -> String {
    let least = dice.below(4);
    let mut text = if dice.percent(50) { format!(r#","{min}":{least}"#) } else { String::new() };
    if dice.percent(50) {
        text.push_str(&format!(r#","{max}":{}"#, least + dice.below(5)));
    }
    text
}
