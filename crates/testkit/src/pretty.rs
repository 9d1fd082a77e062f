//! JSON for people: short values on one line, longer ones with a member or an item a line.

use json::Value;

const LINE_BYTES_MAX: usize = 100;
const INDENT: &str = "  ";

/// Writes a value with a line break at its end.
pub fn pretty(value: &Value<'_>) -> String {
    let mut text = String::new();
    write(value, 0, &mut text);
    text.push('\n');
    text
}

fn write(value: &Value<'_>, depth: usize, out: &mut String) {
    let compact = value.to_string();
    let fits = compact.len() <= LINE_BYTES_MAX;
    let inner = INDENT.repeat(depth + 1);
    match value {
        Value::Object(object) if !fits && !object.is_empty() => {
            for (nth, (key, value)) in object.iter().enumerate() {
                out.push_str(if nth == 0 { "{\n" } else { ",\n" });
                out.push_str(&format!("{inner}{}: ", Value::from(key)));
                write(value, depth + 1, out);
            }
            out.push_str(&format!("\n{}}}", INDENT.repeat(depth)));
        }
        Value::Array(items) if !fits && !items.is_empty() => {
            for (nth, item) in items.iter().enumerate() {
                out.push_str(if nth == 0 { "[\n" } else { ",\n" });
                out.push_str(&inner);
                write(item, depth + 1, out);
            }
            out.push_str(&format!("\n{}]", INDENT.repeat(depth)));
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => {
            out.push_str(&compact);
        }
    }
}
