//! The JSON reader: what it accepts, it writes again, and reads as the same value. A scan accepts nothing else.

use json::{Limits, Scan, Value};

pub(crate) fn run(bytes: &[u8]) {
    let is_scanned = is_scanned(bytes);
    let value = match json::parse(bytes, Limits::DOCUMENT) {
        Ok(value) => value,
        Err(error) => return assert!(!is_scanned, "what was scanned can be read, but {error}"),
    };
    let text = value.to_string();
    let again = json::parse_str(&text, Limits { bytes_max: usize::MAX, ..Limits::DOCUMENT });
    assert_eq!(again.as_ref(), Ok(&value), "what was written reads back");
    assert_eq!(again.map(|again| again.to_string()).as_deref(), Ok(text.as_str()), "writing is stable");
    assert_eq!(value.clone().into_owned(), value, "owned and borrowed values are equal");
    integers(&value);
}

fn is_scanned(bytes: &[u8]) -> bool {
    let scan = std::str::from_utf8(bytes).ok().and_then(|text| Scan::of(text, Limits::DOCUMENT));
    scan.and_then(|mut scan| scan.skip().and_then(|()| scan.end())).is_some()
}

/// An exact integer is also the nearest double, as far as doubles reach.
fn integers(value: &Value<'_>) {
    match value {
        Value::Number(number) => {
            if let Some(integer) = number.as_integer() {
                assert_eq!(integer as f64, number.as_f64(), "{number:?}");
            }
        }
        Value::Array(items) => items.iter().for_each(integers),
        Value::Object(object) => object.iter().for_each(|(_, value)| integers(value)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}
