//! The data model of the AT Protocol: what a value may be before any schema is asked, its bytes and its CID.
//!
//! Values have no floats, links are `{"$link": cid}`, bytes are `{"$bytes": base64}`, blobs are
//! `{"$type": "blob", …}`, and other names that start with `$` are reserved.

use atproto_syntax::Cid;
use json::{Object, Path, Value, excerpt};
use sha2::{Digest, Sha256};

use crate::{Report, blob, cbor, codes};

/// The largest integer that JavaScript keeps exactly; the data model advises to stay within it.
pub const SAFE_INTEGER_MAX: i64 = (1 << 53) - 1;

/// The first number beyond 64 bits; what is smaller and no integer has a fraction.
const INTEGER_LIMIT: f64 = 9_223_372_036_854_775_808.0;
const CODEC_DAG_CBOR: u64 = 0x71;
const CODEC_RAW: u64 = 0x55;

/// What an object of the data model stands for.
pub(crate) enum Meaning {
    /// Members with values of their own.
    Map,
    /// A link to other content.
    Link,
    /// A byte string.
    Bytes,
    /// A reference to a blob.
    Blob,
}

/// Checks a record or any other top-level value, which must be an object.
pub fn check(value: &Value<'_>) -> Report {
    let mut report = Report::new();
    match value {
        Value::Object(object) => check_object(object, &Path::ROOT, &mut report),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            let found = value.type_name();
            report.error(&Path::ROOT, codes::TYPE, || format!("expected an object, found {found}"));
        }
    }
    report
}

/// Encodes a value as DAG-CBOR, the bytes that its CID is computed from; refuses what [`check`] refuses.
pub fn to_dag_cbor(value: &Value<'_>) -> Result<Vec<u8>, Report> {
    let mut report = check(value);
    if !report.is_valid() {
        return Err(report);
    }
    let mut bytes = Vec::with_capacity(256);
    cbor::encode(value, &Path::ROOT, &mut bytes, &mut report);
    if report.is_valid() { Ok(bytes) } else { Err(report) }
}

/// Computes the CID of a value: CIDv1, DAG-CBOR, sha-256.
pub fn cid(value: &Value<'_>) -> Result<Cid, Report> {
    to_dag_cbor(value).map(|bytes| cid_of_dag_cbor(&bytes))
}

/// Computes the CID of bytes that [`to_dag_cbor`] made.
pub fn cid_of_dag_cbor(bytes: &[u8]) -> Cid {
    Cid::new(CODEC_DAG_CBOR, Sha256::digest(bytes).into())
}

/// Computes the CID of a blob: CIDv1, raw, sha-256.
pub fn cid_of_blob(bytes: &[u8]) -> Cid {
    Cid::new(CODEC_RAW, Sha256::digest(bytes).into())
}

/// Computes the CID of a blob whose bytes come piece by piece.
#[derive(Clone, Debug, Default)]
pub struct BlobHash(Sha256);

impl BlobHash {
    /// Begins before the first byte.
    pub fn new() -> Self {
        BlobHash::default()
    }

    /// Adds the next bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the CID of all bytes that were added.
    pub fn cid(self) -> Cid {
        Cid::new(CODEC_RAW, self.0.finalize().into())
    }
}

/// Checks any value that no schema describes.
pub(crate) fn check_value(value: &Value<'_>, path: &Path<'_>, report: &mut Report) {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => {}
        Value::Number(_) => {
            check_integer(value, path, report);
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                check_value(item, &path.index(index), report);
            }
        }
        Value::Object(object) => check_object(object, path, report),
    }
}

/// Returns the integer that a value is, or reports why it is none.
pub(crate) fn check_integer(value: &Value<'_>, path: &Path<'_>, report: &mut Report) -> Option<i64> {
    let Value::Number(number) = value else {
        let found = value.type_name();
        report.error(path, codes::TYPE, || format!("expected an integer, found {found}"));
        return None;
    };
    match number.as_integer() {
        Some(integer) => {
            if integer.unsigned_abs() > SAFE_INTEGER_MAX.unsigned_abs() {
                report.warn(path, codes::UNSAFE_INTEGER, || {
                    format!("{integer} is beyond 53 bits; JavaScript readers lose its last digits")
                });
            }
            Some(integer)
        }
        None if number.as_f64().abs() >= INTEGER_LIMIT => {
            report.error(path, codes::INTEGER_RANGE, || {
                format!("{} does not fit a 64-bit integer", excerpt(number.lexeme()))
            });
            None
        }
        None => {
            report.error(path, codes::FLOAT, || {
                format!("{} is not an integer; write other numbers as strings", excerpt(number.lexeme()))
            });
            None
        }
    }
}

/// Tells what an object stands for, by its reserved fields.
pub(crate) fn meaning(object: &Object<'_>) -> Meaning {
    for (key, value) in object.iter().filter(|(key, _)| key.starts_with('$')) {
        match key {
            "$link" => return Meaning::Link,
            "$bytes" => return Meaning::Bytes,
            "$type" if value.as_str() == Some("blob") => return Meaning::Blob,
            _ => {}
        }
    }
    Meaning::Map
}

/// Checks `{"$link": cid}` and returns the CID.
pub(crate) fn check_link<'v>(
    object: &'v Object<'_>,
    path: &Path<'_>,
    report: &mut Report,
) -> Option<&'v str> {
    let link = object.get("$link").and_then(Value::as_str).filter(|_| object.len() == 1);
    let Some(link) = link else {
        report.error(path, codes::LINK, || "a link is an object with the one string field $link".to_owned());
        return None;
    };
    match atproto_syntax::cid::check(link) {
        Ok(()) => Some(link),
        Err(error) => {
            report.error(&path.key("$link"), codes::LINK, || error.to_string());
            None
        }
    }
}

/// Checks `{"$bytes": base64}` and returns how many bytes it holds.
pub(crate) fn check_bytes(object: &Object<'_>, path: &Path<'_>, report: &mut Report) -> Option<usize> {
    let text = object.get("$bytes").and_then(Value::as_str).filter(|_| object.len() == 1);
    let Some(text) = text else {
        report
            .error(path, codes::BYTES, || "bytes are an object with the one string field $bytes".to_owned());
        return None;
    };
    let length = base64_length(text);
    if length.is_none() {
        report.error(&path.key("$bytes"), codes::BYTES, || "the text is not base64".to_owned());
    }
    length
}

/// Checks a name that starts with `$`, where only `$type` has a meaning among the members of a map.
pub(crate) fn check_reserved(key: &str, value: &Value<'_>, path: &Path<'_>, report: &mut Report) {
    if key != "$type" {
        report.warn(&path.key(key), codes::RESERVED_FIELD, || {
            format!("names that start with $ are reserved; {key:?} may get a meaning of its own")
        });
        return;
    }
    if value.as_str().is_none_or(str::is_empty) {
        report.error(&path.key(key), codes::TYPE_FIELD, || "$type must be a non-empty string".to_owned());
    }
}

/// Decodes base64, with or without padding.
pub(crate) fn base64_decode(text: &str) -> Option<Vec<u8>> {
    let length = base64_length(text)?;
    let mut bytes = Vec::with_capacity(length);
    let (mut bits, mut count) = (0_u32, 0_u32);
    for digit in text.trim_end_matches('=').bytes().map_while(base64_digit) {
        bits = bits << 6 | digit;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    Some(bytes)
}

fn check_object(object: &Object<'_>, path: &Path<'_>, report: &mut Report) {
    match meaning(object) {
        Meaning::Link => {
            check_link(object, path, report);
        }
        Meaning::Bytes => {
            check_bytes(object, path, report);
        }
        Meaning::Blob => {
            blob::check(object, path, report);
        }
        Meaning::Map => {
            for (key, value) in object.iter() {
                if key.starts_with('$') {
                    check_reserved(key, value, path, report);
                }
                check_value(value, &path.key(key), report);
            }
        }
    }
}

/// Counts the bytes that a base64 text holds, or tells by `None` that it is not base64.
fn base64_length(text: &str) -> Option<usize> {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    let padded_right = padding == 0 || (padding <= 2 && text.len().is_multiple_of(4));
    let whole = digits.len() % 4 != 1 && digits.bytes().all(|byte| base64_digit(byte).is_some());
    (padded_right && whole).then(|| digits.len() * 3 / 4)
}

fn base64_digit(byte: u8) -> Option<u32> {
    let digit = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(digit))
}
