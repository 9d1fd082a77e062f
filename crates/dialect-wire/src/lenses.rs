//! The tables: fields of a wire that correspond one to one to fields of the canonical message.

use std::str::FromStr;

use dialect::{Codec, Lens, Names};
use json::Value;
use message::{NativeId, Reference, ThreadId, Uri};

use crate::decimal::{thousandth, times_thousand};

/// Fields of the envelope; those of version 1.1 are ids.
pub(crate) static ENVELOPE: &[Lens] = &[
    Lens { native: "/ts", canonical: "/created", codec: Codec::Text },
    Lens { native: "/wire_id", canonical: "/native_id", codec: id::<NativeId>() },
    Lens { native: "/stream_id", canonical: "/thread", codec: id::<ThreadId>() },
    Lens { native: "/correlation_id", canonical: "/correlation", codec: id::<Reference>() },
];

/// Fields of a brief.
pub(crate) static BRIEF: &[Lens] = &[
    Lens { native: "/payload/constraints", canonical: "/brief/constraints", codec: TEXTS },
    Lens { native: "/payload/acceptance_criteria", canonical: "/brief/criteria", codec: TEXTS },
];

/// Fields of a completion.
pub(crate) static COMPLETE: &[Lens] = &[
    Lens { native: "/payload/output_ref", canonical: "/attachments/0/uri", codec: id::<Uri>() },
    Lens { native: "/payload/cost_usd", canonical: "/metrics/cost_usd", codec: QUANTITY },
    Lens { native: "/payload/duration_seconds", canonical: "/metrics/duration_ms", codec: SECONDS },
    Lens { native: "/payload/verification", canonical: "/result/verification", codec: Codec::Same },
];

/// Fields of a report of a blocked task.
pub(crate) static BLOCKED: &[Lens] =
    &[Lens { native: "/payload/suggested_resolution", canonical: "/error/actions", codec: Codec::First }];

/// Lists of texts, of which empty ones say nothing.
const TEXTS: Codec = Codec::Custom { decode: texts, encode: texts };
/// Figures by their lexeme; a negative zero, which only wires allow, loses its sign.
const QUANTITY: Codec = Codec::Custom { decode: quantity, encode: quantity };
/// Seconds against milliseconds.
const SECONDS: Codec = Codec::Custom {
    decode: |value, names| times_thousand(quantity(value, names)?.as_number()?),
    encode: |value, _| thousandth(value.as_number()?),
};

/// An id that the canonical message can hold; a longer one stays in the origin.
const fn id<T: FromStr>() -> Codec {
    let same: dialect::Convert = |value, _| {
        let text = value.as_str()?;
        text.parse::<T>().is_ok().then(|| Value::from(text.to_owned()))
    };
    Codec::Custom { decode: same, encode: same }
}

fn texts(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    let items = value.as_array()?.iter().filter_map(Value::as_str).filter(|text| !text.is_empty());
    let items: Vec<Value<'static>> = items.map(|text| Value::from(text.to_owned())).collect();
    (!items.is_empty()).then_some(Value::Array(items))
}

fn quantity(value: &Value<'_>, _: &Names) -> Option<Value<'static>> {
    let number = value.as_number()?;
    match number.lexeme().strip_prefix('-') {
        Some(lexeme) => json::parse_str(lexeme, json::Limits::DOCUMENT).ok().map(Value::into_owned),
        None => Some(value.clone().into_owned()),
    }
}
