//! Money: dollars in whole millionths, so that sums are exact.

use std::fmt;

/// Millionths of a dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Micros(pub u64);

const DIGITS: usize = 6;

impl Micros {
    /// Reads a decimal number as JSON writes it. Less than a millionth counts as one, so that nothing is free; what is
    /// negative or too large to count is nothing that can be read.
    pub fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_digits(whole) || !is_digits(part) || exponent.abs() > 40 {
            return None;
        }
        // The point goes six places to the right, and as many as the exponent says.
        let point = i64::try_from(whole.len()).ok()? + i64::from(exponent) + DIGITS as i64;
        let mut value = 0_u64;
        let mut has_rest = false;
        let digits = whole.bytes().chain(part.bytes());
        let count = (whole.len() + part.len()) as i64;
        for (place, digit) in (0_i64..).zip(digits) {
            if place < point {
                value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
            } else {
                has_rest |= digit != b'0';
            }
        }
        for _ in count..point.max(count) {
            value = value.checked_mul(10)?;
        }
        value.checked_add(has_rest.into()).map(Micros)
    }

    #[must_use]
    pub(crate) fn plus(self, other: Micros) -> Micros {
        Micros(self.0.saturating_add(other.0))
    }

    #[must_use]
    pub(crate) fn minus(self, other: Micros) -> Micros {
        Micros(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Micros {
    /// Writes dollars: at least two places, no zeros behind them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.0 / 1_000_000, self.0 % 1_000_000);
        let part = format!("{part:06}");
        let kept = part.trim_end_matches('0').len().max(2);
        write!(f, "{whole}.{}", &part[..kept])
    }
}
