//! DAG-CBOR: the one encoding of a value, so that equal data has equal bytes.
//!
//! Lengths are shortest, map keys are sorted by length and then by bytes, links are tag 42.

use atproto_syntax::Cid;
use json::{Object, Path, Value};

use crate::data::{Meaning, base64_decode, meaning};
use crate::{Report, codes};

const MAJOR_UNSIGNED: u8 = 0;
const MAJOR_NEGATIVE: u8 = 1;
const MAJOR_BYTES: u8 = 2;
const MAJOR_TEXT: u8 = 3;
const MAJOR_ARRAY: u8 = 4;
const MAJOR_MAP: u8 = 5;
const MAJOR_TAG: u8 = 6;
const TAG_LINK: u64 = 42;

/// Appends the encoding of a value that the data model allows; what it cannot encode is reported.
pub(crate) fn encode(value: &Value<'_>, path: &Path<'_>, out: &mut Vec<u8>, report: &mut Report) {
    match value {
        Value::Null => out.push(0xf6),
        Value::Bool(truth) => out.push(if *truth { 0xf5 } else { 0xf4 }),
        Value::Number(number) => match number.as_integer() {
            Some(integer) => write_integer(integer, out),
            None => report.error(path, codes::FLOAT, || "only integers can be encoded".to_owned()),
        },
        Value::String(text) => {
            write_head(MAJOR_TEXT, text.len() as u64, out);
            out.extend_from_slice(text.as_bytes());
        }
        Value::Array(items) => {
            write_head(MAJOR_ARRAY, items.len() as u64, out);
            for (index, item) in items.iter().enumerate() {
                encode(item, &path.index(index), out, report);
            }
        }
        Value::Object(object) => encode_object(object, path, out, report),
    }
}

fn encode_object(object: &Object<'_>, path: &Path<'_>, out: &mut Vec<u8>, report: &mut Report) {
    let special = |key| object.get(key).and_then(Value::as_str).unwrap_or_default();
    match meaning(object) {
        Meaning::Link => match link_bytes(special("$link")) {
            Some(bytes) => {
                write_head(MAJOR_TAG, TAG_LINK, out);
                write_head(MAJOR_BYTES, bytes.len() as u64 + 1, out);
                out.push(0);
                out.extend_from_slice(&bytes);
            }
            None => report.error(path, codes::LINK, || {
                "this text has the form of a CID, but spells none of version 1".to_owned()
            }),
        },
        Meaning::Bytes => match base64_decode(special("$bytes")) {
            Some(bytes) => {
                write_head(MAJOR_BYTES, bytes.len() as u64, out);
                out.extend_from_slice(&bytes);
            }
            None => report.error(path, codes::BYTES, || "the text is not base64".to_owned()),
        },
        Meaning::Blob | Meaning::Map => {
            let mut members: Vec<(&str, &Value<'_>)> = object.iter().collect();
            members.sort_unstable_by(|left, right| (left.0.len(), left.0).cmp(&(right.0.len(), right.0)));
            write_head(MAJOR_MAP, members.len() as u64, out);
            for (key, value) in members {
                write_head(MAJOR_TEXT, key.len() as u64, out);
                out.extend_from_slice(key.as_bytes());
                encode(value, &path.key(key), out, report);
            }
        }
    }
}

/// Returns the bytes that a link holds; a text may look like a CID and spell something else.
fn link_bytes(text: &str) -> Option<Vec<u8>> {
    let cid: Cid = text.parse().ok()?;
    cid.decode().and_then(|_| cid.to_bytes()).ok()
}

fn write_integer(integer: i64, out: &mut Vec<u8>) {
    if integer < 0 {
        write_head(MAJOR_NEGATIVE, !integer.cast_unsigned(), out);
    } else {
        write_head(MAJOR_UNSIGNED, integer.cast_unsigned(), out);
    }
}

/// Writes a major type with its argument in the fewest bytes.
fn write_head(major: u8, argument: u64, out: &mut Vec<u8>) {
    let major = major << 5;
    match argument {
        0..=23 => out.push(major | argument as u8),
        24..=0xff => out.extend_from_slice(&[major | 24, argument as u8]),
        0x100..=0xffff => {
            out.push(major | 25);
            out.extend_from_slice(&(argument as u16).to_be_bytes());
        }
        0x1_0000..=0xffff_ffff => {
            out.push(major | 26);
            out.extend_from_slice(&(argument as u32).to_be_bytes());
        }
        0x1_0000_0000.. => {
            out.push(major | 27);
            out.extend_from_slice(&argument.to_be_bytes());
        }
    }
}
