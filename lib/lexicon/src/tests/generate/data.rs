//! Data that a lexicon allows, made by reading the schema anew: the engine is not asked.

use json::{Object, Value};
use unicode_segmentation::UnicodeSegmentation;

use super::{FORMATS, ID, WORDS};
use crate::document::{self, Blob, Integer, StringSchema, Union};
use crate::tests::dice::Dice;
use crate::tests::value;
use crate::{Bounds, Def, Document, Property, Schema};

const LINK: &str = "bafkreiccldh766hwcnuxnf2wh6jgzepf2nlu2lvcllt63eww5p6chi4ity";

/// Makes a record that a lexicon allows, or nothing if that is not easy.
pub(in crate::tests) fn record(dice: &mut Dice<'_>, document: &Document) -> Option<Value<'static>> {
    let Some(Def::Record(record)) = document.def("main") else { return None };
    let mut members = fields(dice, document, &record.object, 6)?;
    members.insert("$type", ID);
    Some(Value::Object(members))
}

fn fields(
    dice: &mut Dice<'_>,
    document: &Document,
    object: &document::Object,
    depth: usize,
) -> Option<Object<'static>> {
    let mut members = Object::new();
    for Property { name, required, nullable, schema } in &object.properties {
        if !required && dice.percent(40) {
            continue;
        }
        let value = if *nullable && dice.percent(30) {
            Some(Value::Null)
        } else {
            depth.checked_sub(1).and_then(|depth| allowed(dice, document, schema, depth))
        };
        match value {
            Some(value) => {
                members.insert(name.clone(), value);
            }
            None if *required => return None,
            None => {}
        }
    }
    if dice.percent(10) {
        members.insert("extra", value(r#"{"x":[1,null]}"#).into_owned());
    }
    Some(members)
}

fn allowed(
    dice: &mut Dice<'_>,
    document: &Document,
    schema: &Schema,
    depth: usize,
) -> Option<Value<'static>> {
    match schema {
        Schema::Null => Some(Value::Null),
        Schema::Boolean(schema) => Some(Value::Bool(schema.constant.unwrap_or_else(|| dice.percent(50)))),
        Schema::Integer(schema) => integer(dice, schema),
        Schema::String(schema) => text(dice, schema),
        Schema::Bytes(length) => {
            let counts: Vec<i64> = (0..9).filter(|count| length.hold(*count)).collect();
            let count = *pick(dice, &counts)? as usize;
            let digits = "A".repeat((count * 4).div_ceil(3));
            Some(value(&format!(r#"{{"$bytes":"{digits}"}}"#)).into_owned())
        }
        Schema::CidLink => Some(value(&format!(r#"{{"$link":"{LINK}"}}"#)).into_owned()),
        Schema::Blob(schema) => blob(dice, schema),
        Schema::Array(array) => {
            let counts: Vec<i64> = (0..6).filter(|count| array.length.hold(*count)).collect();
            let count = *pick(dice, &counts)?;
            if depth == 0 && count > 0 {
                return None;
            }
            let items = (0..count).map(|_| allowed(dice, document, &array.items, depth - 1));
            items.collect::<Option<Vec<_>>>().map(Value::Array)
        }
        Schema::Object(object) => fields(dice, document, object, depth).map(Value::Object),
        Schema::Ref(name) => match document.def(name.definition())? {
            Def::Schema(schema) => allowed(dice, document, schema, depth),
            Def::Token => Some(Value::from(name.to_string())),
            Def::Record(_)
            | Def::Query(_)
            | Def::Procedure(_)
            | Def::Subscription(_)
            | Def::PermissionSet(_) => None,
        },
        Schema::Union(union) => member(dice, document, union, depth),
        Schema::Unknown => {
            let text: &str = if dice.percent(50) { r#"{"k":{"l":[1]}}"# } else { "{}" };
            Some(value(text).into_owned())
        }
    }
}

fn member(dice: &mut Dice<'_>, document: &Document, union: &Union, depth: usize) -> Option<Value<'static>> {
    if !union.closed && (union.refs.is_empty() || dice.percent(20)) {
        return Some(value(r#"{"$type":"com.example.foreign","x":1}"#).into_owned());
    }
    let name = pick(dice, &union.refs)?;
    let Some(Def::Schema(Schema::Object(object))) = document.def(name.definition()) else { return None };
    let mut members = fields(dice, document, object, depth)?;
    members.insert("$type", name.to_string());
    Some(Value::Object(members))
}

fn integer(dice: &mut Dice<'_>, schema: &Integer) -> Option<Value<'static>> {
    let edges = [schema.bounds.min, schema.bounds.max, schema.constant].into_iter().flatten();
    let fits = |number: &i64| {
        schema.bounds.hold(*number)
            && schema.constant.is_none_or(|constant| constant == *number)
            && schema.values.as_ref().is_none_or(|values| values.contains(number))
    };
    let numbers: Vec<i64> = edges.chain(-2..12).filter(fits).collect();
    pick(dice, &numbers).map(|number| Value::integer(*number))
}

fn text(dice: &mut Dice<'_>, schema: &StringSchema) -> Option<Value<'static>> {
    let family = "👨‍👩‍👧‍👧";
    let repeated =
        ["a", "é", family].into_iter().flat_map(|text| (0..9).map(move |count| text.repeat(count)));
    let samples = FORMATS.map(|(_, sample)| sample.to_owned());
    let fits = |text: &String| {
        schema.length.hold(text.len() as i64)
            && (schema.graphemes == Bounds::default()
                || schema.graphemes.hold(text.graphemes(true).count() as i64))
            && schema.format.is_none_or(|format| format.check(text).is_ok())
            && schema.constant.as_ref().is_none_or(|constant| constant == text)
            && schema.values.as_ref().is_none_or(|values| values.contains(text))
    };
    let words = WORDS.map(str::to_owned);
    let texts: Vec<String> = words.into_iter().chain(repeated).chain(samples).filter(fits).collect();
    pick(dice, &texts).map(|text| Value::from(text.clone()))
}

fn blob(dice: &mut Dice<'_>, schema: &Blob) -> Option<Value<'static>> {
    let accepted = |media: &&&str| match &schema.accept {
        None => true,
        Some(accept) => accept.iter().any(|pattern| {
            pattern == "*/*" || pattern == *media || (pattern == "image/*" && media.starts_with("image/"))
        }),
    };
    let media: Vec<&&str> = ["image/png", "image/jpeg", "text/plain"].iter().filter(accepted).collect();
    let media = pick(dice, &media)?;
    let size = schema.size_max.unwrap_or(100).max(0);
    let blob = format!(r#"{{"$type":"blob","ref":{{"$link":"{LINK}"}},"mimeType":"{media}","size":{size}}}"#);
    (size > 0).then(|| value(&blob).into_owned())
}

fn pick<'l, T>(dice: &mut Dice<'_>, list: &'l [T]) -> Option<&'l T> {
    if list.is_empty() { None } else { Some(dice.pick(list)) }
}
