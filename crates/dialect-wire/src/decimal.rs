//! Decimals: moving the point of a number by three places, exactly, so that seconds become milliseconds and back.

use json::{Limits, Number, Value};

/// Decimal places between seconds and milliseconds.
const PLACES: usize = 3;

/// Returns a number times a thousand.
pub(crate) fn times_thousand(number: &Number<'_>) -> Option<Value<'static>> {
    let (mantissa, exponent) = split(number.lexeme());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let moved = fraction.len().min(PLACES);
    let whole = format!("{whole}{}{}", &fraction[..moved], "0".repeat(PLACES - moved));
    joined(&whole, &fraction[moved..], exponent)
}

/// Returns a thousandth of a number; a whole one gets no zeros at its end.
pub(crate) fn thousandth(number: &Number<'_>) -> Option<Value<'static>> {
    let (mantissa, exponent) = split(number.lexeme());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let padded = format!("{whole:0>width$}", width = PLACES + 1);
    let (whole, moved) = padded.split_at(padded.len() - PLACES);
    let moved = if fraction.is_empty() { moved.trim_end_matches('0') } else { moved };
    joined(whole, &format!("{moved}{fraction}"), exponent)
}

fn split(lexeme: &str) -> (&str, &str) {
    lexeme.find(['e', 'E']).map_or((lexeme, ""), |at| lexeme.split_at(at))
}

fn joined(whole: &str, fraction: &str, exponent: &str) -> Option<Value<'static>> {
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let point = if fraction.is_empty() { "" } else { "." };
    let lexeme = format!("{whole}{point}{fraction}{exponent}");
    json::parse_str(&lexeme, Limits::DOCUMENT).ok().map(Value::into_owned)
}
