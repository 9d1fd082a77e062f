//! Numbers as they were written: the lexeme is the value, conversions are exact or refused.

use std::borrow::Cow;
use std::fmt;

/// Decimal exponents beyond this cannot name an integer that we hold, and are not computed.
const EXPONENT_MAX: i64 = 400;

/// A JSON number, kept as the characters that stood in the document.
///
/// Equality compares lexemes: `1.0`, `1` and `1e0` are three different numbers to somebody who must give back
/// what he was given.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number<'a>(Cow<'a, str>);

impl<'a> Number<'a> {
    /// Wraps a lexeme that the parser has checked.
    pub(crate) fn from_lexeme(lexeme: &'a str) -> Self {
        Number(Cow::Borrowed(lexeme))
    }

    /// Returns the characters of the number.
    pub fn lexeme(&self) -> &str {
        &self.0
    }

    /// Returns the value if it is mathematically an integer that fits 64 bits: `7`, `7.0` and `70e-1` are 7.
    pub fn as_integer(&self) -> Option<i64> {
        if self.0.len() < 19 && !self.0.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
            return self.0.parse().ok();
        }
        exact_integer(&self.0)
    }

    /// Returns the nearest double; very large numbers become infinite.
    pub fn as_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }

    /// Detaches the number from the text it was read from.
    pub fn into_owned(self) -> Number<'static> {
        Number(Cow::Owned(self.0.into_owned()))
    }
}

impl fmt::Debug for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<i64> for Number<'_> {
    fn from(value: i64) -> Self {
        Number(Cow::Owned(value.to_string()))
    }
}

impl From<u64> for Number<'_> {
    fn from(value: u64) -> Self {
        Number(Cow::Owned(value.to_string()))
    }
}

/// Shifts the decimal point of a valid lexeme by its exponent and reads what is left, without rounding.
fn exact_integer(lexeme: &str) -> Option<i64> {
    let (negative, unsigned) = match lexeme.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, lexeme),
    };
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()),
        None => (unsigned, Some(0)),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    if digits.bytes().all(|digit| digit == b'0') {
        return Some(0);
    }
    let exponent = exponent.filter(|exponent| exponent.abs() <= EXPONENT_MAX)?;
    let point = whole.len() as i64 + exponent;
    let (kept, cut) = if point >= digits.len() as i64 {
        (digits.as_str(), "")
    } else {
        digits.split_at(usize::try_from(point).ok()?)
    };
    if !cut.bytes().all(|digit| digit == b'0') {
        return None;
    }
    let zeros = usize::try_from(point - kept.len() as i64).unwrap_or(0);
    let kept = kept.trim_start_matches('0');
    if kept.len() + zeros > 19 {
        return None;
    }
    let magnitude = format!("{}{kept}{}", if negative { "-" } else { "" }, "0".repeat(zeros));
    magnitude.parse().ok()
}
