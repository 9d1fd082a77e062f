//! Writing values: compact, in the order of the tree, numbers by their lexeme.

use std::fmt::{self, Write};

use crate::{Object, Value};

/// Writes a string with its quotes, escaping only what JSON demands.
pub fn write_string(out: &mut impl Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    let mut plain_from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            0..=0x1f => "",
            0x20.. => continue,
        };
        out.write_str(&text[plain_from..at])?;
        if escape.is_empty() {
            write!(out, "\\u{byte:04x}")?;
        } else {
            out.write_str(escape)?;
        }
        plain_from = at + 1;
    }
    out.write_str(&text[plain_from..])?;
    out.write_char('"')
}

/// Writes compact JSON.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(truth) => f.write_str(if *truth { "true" } else { "false" }),
            Value::Number(number) => f.write_str(number.lexeme()),
            Value::String(text) => write_string(f, text),
            Value::Array(items) => write_array(f, items),
            Value::Object(object) => fmt::Display::fmt(object, f),
        }
    }
}

/// Writes compact JSON.
impl fmt::Display for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('{')?;
        for (nth, (key, value)) in self.iter().enumerate() {
            if nth > 0 {
                f.write_char(',')?;
            }
            write_string(f, key)?;
            f.write_char(':')?;
            fmt::Display::fmt(value, f)?;
        }
        f.write_char('}')
    }
}

fn write_array(f: &mut fmt::Formatter<'_>, items: &[Value<'_>]) -> fmt::Result {
    f.write_char('[')?;
    for (nth, item) in items.iter().enumerate() {
        if nth > 0 {
            f.write_char(',')?;
        }
        fmt::Display::fmt(item, f)?;
    }
    f.write_char(']')
}
