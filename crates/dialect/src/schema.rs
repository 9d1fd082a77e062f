//! Interfaces as JSON Schema (2020-12), for users who check their documents elsewhere.
//!
//! A schema says what an interface says; the rules beside it are only in our own validator.

use json::{Object, Value};

use crate::{Field, Interface, Need, Shape};

const META_SCHEMA: &str = "https://json-schema.org/draft/2020-12/schema";

/// Writes an interface, with all that it refers to under `$defs`.
pub fn json_schema(interface: &'static Interface) -> Value<'static> {
    let mut defs = Object::new();
    let mut schema = members([("$schema", Value::from(META_SCHEMA)), ("title", Value::from(interface.name))]);
    for (key, value) in object(interface, &mut defs) {
        schema.insert(key, value);
    }
    if !defs.is_empty() {
        schema.insert("$defs", defs);
    }
    Value::Object(schema)
}

fn object(interface: &'static Interface, defs: &mut Object<'static>) -> Object<'static> {
    let required: Vec<Value<'static>> =
        interface.fields.iter().filter(is_demanded).map(|field| Value::from(field.name)).collect();
    let mut properties = Object::new();
    for field in interface.fields {
        let schema = match field.need {
            Need::Optional => or_null(shape(&field.shape, defs)),
            Need::Required | Need::Defaulted(_) => shape(&field.shape, defs),
        };
        properties.insert(field.name, schema);
    }
    let mut schema = members([("type", Value::from("object"))]);
    if !required.is_empty() {
        schema.insert("required", required);
    }
    schema.insert("properties", properties);
    schema
}

fn is_demanded(field: &&Field) -> bool {
    match field.need {
        Need::Required | Need::Defaulted(_) => true,
        Need::Optional => false,
    }
}

fn shape(shape_of: &'static Shape, defs: &mut Object<'static>) -> Object<'static> {
    let typed = |name: &'static str| members([("type", Value::from(name))]);
    let string =
        |key: &'static str, value: Value<'static>| members([("type", Value::from("string")), (key, value)]);
    match shape_of {
        Shape::Any => Object::new(),
        Shape::Text => typed("string"),
        Shape::NonEmpty => string("minLength", Value::integer(1)),
        Shape::TextMax(bytes_max) => {
            string("description", Value::from(format!("at most {bytes_max} bytes of UTF-8")))
        }
        Shape::Boolean => typed("boolean"),
        Shape::Integer(min, max) => integer(*min, *max),
        Shape::Number(min, max) => number(*min, *max),
        Shape::Timestamp => string("format", Value::from("date-time")),
        Shape::Duration => string("pattern", Value::from(r"^[0-9]+(\.[0-9]+)?(ms|s|m|h|d)$")),
        Shape::Uuid => string("format", Value::from("uuid")),
        Shape::Words(words) => {
            members([("enum", Value::Array(words.iter().map(|word| Value::from(*word)).collect()))])
        }
        Shape::Checked(wanted, _) => string("description", Value::from(*wanted)),
        Shape::Map => typed("object"),
        Shape::MapOf(inner) => {
            let inner = shape(inner, defs);
            members([("type", Value::from("object")), ("additionalProperties", Value::Object(inner))])
        }
        Shape::List(item) => list(item, defs),
        Shape::NonEmptyList(item) => {
            let mut schema = list(item, defs);
            schema.insert("minItems", 1_i64);
            schema
        }
        Shape::Object(interface) => reference(interface, defs),
        Shape::OrNull(inner) => or_null(shape(inner, defs)),
    }
}

fn list(item: &'static Shape, defs: &mut Object<'static>) -> Object<'static> {
    let item = shape(item, defs);
    members([("type", Value::from("array")), ("items", Value::Object(item))])
}

/// Refers to another interface and makes sure that it is defined; one that refers to itself is entered first.
fn reference(interface: &'static Interface, defs: &mut Object<'static>) -> Object<'static> {
    if !defs.contains_key(interface.name) {
        defs.insert(interface.name, Value::Null);
        let schema = object(interface, defs);
        defs.insert(interface.name, schema);
    }
    members([("$ref", Value::from(format!("#/$defs/{}", interface.name)))])
}

fn integer(min: i64, max: i64) -> Object<'static> {
    let mut schema = members([("type", Value::from("integer"))]);
    if min != i64::MIN {
        schema.insert("minimum", min);
    }
    if max != i64::MAX {
        schema.insert("maximum", max);
    }
    schema
}

fn number(min: f64, max: f64) -> Object<'static> {
    let mut schema = members([("type", Value::from("number"))]);
    // The bounds of our interfaces are whole numbers.
    if min.is_finite() {
        schema.insert("minimum", min as i64);
    }
    if max.is_finite() {
        schema.insert("maximum", max as i64);
    }
    schema
}

fn or_null(schema: Object<'static>) -> Object<'static> {
    if schema.is_empty() {
        return schema;
    }
    let null = Value::Object(members([("type", Value::from("null"))]));
    members([("anyOf", Value::Array(vec![Value::Object(schema), null]))])
}

fn members<const N: usize>(members: [(&'static str, Value<'static>); N]) -> Object<'static> {
    members.into_iter().collect()
}
