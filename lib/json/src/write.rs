//! Writing values: compact, in the order of the tree, numbers by their lexeme.

use std::fmt::{self, Write};

use crate::parse::special_from;
use crate::{Object, Value};

/// Writes a value as compact JSON.
pub fn write_value(out: &mut impl Write, value: &Value<'_>) -> fmt::Result {
    match value {
        Value::Null => out.write_str("null"),
        Value::Bool(truth) => out.write_str(if *truth { "true" } else { "false" }),
        Value::Number(number) => out.write_str(number.lexeme()),
        Value::String(text) => write_string(out, text),
        Value::Array(items) => write_array(out, items),
        Value::Object(object) => write_object(out, object),
    }
}

/// Writes a string with its quotes, escaping only what JSON demands.
pub fn write_string(out: &mut impl Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    let mut from = 0;
    loop {
        let special = special_from(text.as_bytes(), from);
        out.write_str(&text[from..special])?;
        let Some(byte) = text.as_bytes().get(special) else { return out.write_char('"') };
        match byte {
            b'"' => out.write_str("\\\"")?,
            b'\\' => out.write_str("\\\\")?,
            b'\n' => out.write_str("\\n")?,
            b'\r' => out.write_str("\\r")?,
            b'\t' => out.write_str("\\t")?,
            0x08 => out.write_str("\\b")?,
            0x0c => out.write_str("\\f")?,
            other => write!(out, "\\u{other:04x}")?,
        }
        from = special + 1;
    }
}

impl Value<'_> {
    /// Returns the value as compact JSON; the same text as `to_string`, sooner.
    pub fn to_json(&self) -> String {
        let mut text = String::with_capacity(256);
        write_value(&mut text, self).expect("writing to a string does not fail");
        text
    }
}

/// Writes compact JSON.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_value(f, self)
    }
}

/// Writes compact JSON.
impl fmt::Display for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_object(f, self)
    }
}

fn write_object(out: &mut impl Write, object: &Object<'_>) -> fmt::Result {
    out.write_char('{')?;
    for (nth, (key, value)) in object.iter().enumerate() {
        if nth > 0 {
            out.write_char(',')?;
        }
        write_string(out, key)?;
        out.write_char(':')?;
        write_value(out, value)?;
    }
    out.write_char('}')
}

fn write_array(out: &mut impl Write, items: &[Value<'_>]) -> fmt::Result {
    out.write_char('[')?;
    for (nth, item) in items.iter().enumerate() {
        if nth > 0 {
            out.write_char(',')?;
        }
        write_value(out, item)?;
    }
    out.write_char(']')
}
