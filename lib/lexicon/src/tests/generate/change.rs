//! Changes to a lexicon, as its author might make them.

use json::{Object, Value};

use super::{FORMATS, MEDIA, OBJECTS, WORDS};
use crate::tests::dice::Dice;
use crate::tests::{generate, value};

/// Changes one schema somewhere in a document; the outcome may be no lexicon any more.
pub(in crate::tests) fn change(document: &mut Value<'static>, dice: &mut Dice<'_>) {
    let count = visit(document, usize::MAX, &mut |_| {});
    let wanted = dice.below(count.clamp(1, 256));
    visit(document, wanted, &mut |schema| change_schema(schema, dice));
}

/// Counts the schemas of a document and shows the wanted one.
fn visit(node: &mut Value<'static>, wanted: usize, show: &mut dyn FnMut(&mut Object<'static>)) -> usize {
    let mut count = 0;
    if let Value::Object(object) = node {
        if object.get("type").and_then(Value::as_str).is_some() {
            if wanted == 0 {
                show(object);
            }
            count = 1;
        }
        let keys: Vec<String> = object.iter().map(|(key, _)| key.to_owned()).collect();
        for key in keys {
            let inside = object.get_mut(&key).into_iter();
            count += inside.map(|node| visit(node, wanted.wrapping_sub(count), show)).sum::<usize>();
        }
    }
    count
}

fn change_schema(schema: &mut Object<'static>, dice: &mut Dice<'_>) {
    let (key, new) = match schema.get("type").and_then(Value::as_str).unwrap_or_default() {
        "object" => return change_object(schema, dice),
        "integer" => match dice.below(5) {
            0 | 1 => ("maximum", dice.below(9).to_string()),
            2 => ("minimum", dice.below(3).to_string()),
            3 => ("enum", format!("[1,{}]", dice.below(9))),
            _ => ("default", dice.below(3).to_string()),
        },
        "string" => match dice.below(9) {
            0 | 1 => ("maxLength", dice.below(30).to_string()),
            2 => ("minLength", dice.below(3).to_string()),
            3 => ("maxGraphemes", dice.below(12).to_string()),
            4 => ("enum", format!(r#"["x",{:?}]"#, dice.pick(&WORDS))),
            5 => ("const", r#""x""#.to_owned()),
            6 => ("format", format!("{:?}", dice.pick(&FORMATS).0)),
            7 => ("default", r#""x""#.to_owned()),
            _ => ("knownValues", format!("{:?}", dice.some(&WORDS))),
        },
        "bytes" | "array" => (*dice.pick(&["maxLength", "minLength"]), dice.below(6).to_string()),
        "blob" if dice.percent(50) => ("accept", format!("{:?}", dice.some(&MEDIA))),
        "blob" => ("maxSize", dice.below(9).to_string()),
        "union" if dice.percent(30) => ("closed", dice.percent(50).to_string()),
        "union" => ("refs", format!("{:?}", dice.some(&OBJECTS.map(|name| format!("#{name}"))))),
        "ref" => ("ref", format!("\"#{}\"", dice.pick(&["one", "two", "word"]))),
        "boolean" => (*dice.pick(&["default", "const"]), "true".to_owned()),
        _ => ("description", r#""x""#.to_owned()),
    };
    if dice.percent(30) {
        schema.remove(key);
    } else {
        schema.insert(key, value(&new).into_owned());
    }
}

fn change_object(schema: &mut Object<'static>, dice: &mut Dice<'_>) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    let names: Vec<String> = properties.iter().map(|(name, _)| name.to_owned()).collect();
    let what = dice.below(10);
    match (what, names.is_empty()) {
        (0..=5, _) => {
            properties.insert("new", value(&generate::schema(dice, 1)).into_owned());
        }
        (6, false) => {
            let name = dice.pick(&names);
            properties.insert(name.clone(), value(&generate::schema(dice, 1)).into_owned());
        }
        (7, false) => {
            let name = dice.pick(&names);
            properties.remove(name);
        }
        (_, false) => {
            let key = if what == 8 { "required" } else { "nullable" };
            schema.insert(key, value(&format!("{:?}", dice.some(&names))).into_owned());
        }
        (_, true) => {}
    }
}
