//! Durations as people write them: a number and one of `ms`, `s`, `m`, `h`, `d`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::codes;
use crate::limits::DURATION_BYTES_MAX;
use crate::read::Coded;

const NANOS_PER_MILLI: u128 = 1_000_000;
const NANOS_PER_SECOND: u128 = 1_000_000_000;
/// A day has 2¹⁶ · 3³ · 5¹¹ nanoseconds, so no longer fraction of any unit is a whole number of them.
const FRACTION_PLACES_MAX: u32 = 16;
/// The units, largest first, with their nanoseconds.
const UNITS: [(&str, u128); 5] = [
    ("d", 86_400 * NANOS_PER_SECOND),
    ("h", 3_600 * NANOS_PER_SECOND),
    ("m", 60 * NANOS_PER_SECOND),
    ("s", NANOS_PER_SECOND),
    ("ms", NANOS_PER_MILLI),
];

/// A duration together with the text in which its sender gave it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct WrittenDuration {
    text: Box<str>,
    duration: Duration,
}

/// Why a text is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// There is no number at its start, or not one that we read.
    #[error("a duration is a number and a unit without sign or spaces, such as `300s` or `1.5h`")]
    Number,
    /// There is a number alone.
    #[error("a duration needs its unit: write `{number}s` for seconds, or ms, m, h, d")]
    NoUnit {
        /// The number.
        number: String,
    },
    /// The unit is unknown.
    #[error("a duration ends with ms, s, m, h or d, not with {unit:?}")]
    Unit {
        /// What stands in its place.
        unit: String,
    },
    /// The text is too long.
    #[error("it has {bytes} bytes, at most {bytes_max} are allowed")]
    TooLong {
        /// How many bytes there are.
        bytes: usize,
        /// How many there may be.
        bytes_max: usize,
    },
    /// The duration is longer than can be counted.
    #[error("the duration is too long to be counted")]
    TooLarge,
    /// The duration is not a whole number of nanoseconds.
    #[error("the duration is finer than a nanosecond")]
    TooFine,
}

/// Reads a duration such as `300s`, `1.5h` or `500ms`.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    if text.len() > DURATION_BYTES_MAX {
        return Err(DurationError::TooLong { bytes: text.len(), bytes_max: DURATION_BYTES_MAX });
    }
    let (whole, rest) = split_digits(text);
    let (fraction, unit) = match rest.strip_prefix('.') {
        Some(rest) => split_digits(rest),
        None => ("", rest),
    };
    let dangling_point = rest.starts_with('.') && fraction.is_empty();
    if whole.is_empty() || dangling_point {
        return Err(DurationError::Number);
    }
    if unit.is_empty() {
        return Err(DurationError::NoUnit { number: text.to_owned() });
    }
    let Some((_, unit_nanos)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(DurationError::Unit { unit: unit.to_owned() });
    };
    let whole: u128 = whole.parse().map_err(|_| DurationError::TooLarge)?;
    let nanos = whole.checked_mul(*unit_nanos).ok_or(DurationError::TooLarge)?;
    let nanos = nanos.checked_add(fraction_nanos(fraction, *unit_nanos)?).ok_or(DurationError::TooLarge)?;
    let seconds = u64::try_from(nanos / NANOS_PER_SECOND).map_err(|_| DurationError::TooLarge)?;
    let subsecond = u32::try_from(nanos % NANOS_PER_SECOND).map_err(|_| DurationError::TooLarge)?;
    Ok(Duration::new(seconds, subsecond))
}

/// Writes a duration exactly, in the largest unit of which it is a whole number, such as `5m`.
///
/// What is not a whole number of milliseconds gets a fraction of them, and nothing is `0s`.
pub fn format_duration(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    if nanos == 0 {
        return "0s".to_owned();
    }
    if let Some((unit, unit_nanos)) = UNITS.iter().find(|(_, unit_nanos)| nanos.is_multiple_of(*unit_nanos)) {
        return format!("{}{unit}", nanos / unit_nanos);
    }
    let exact = format!("{}.{:06}", nanos / NANOS_PER_MILLI, nanos % NANOS_PER_MILLI);
    format!("{}ms", exact.trim_end_matches('0'))
}

impl WrittenDuration {
    /// Returns the text as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the duration.
    pub fn duration(&self) -> Duration {
        self.duration
    }
}

impl FromStr for WrittenDuration {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        Ok(WrittenDuration { duration: parse_duration(text)?, text: text.into() })
    }
}

/// Writes the duration in the canonical form.
impl From<Duration> for WrittenDuration {
    fn from(duration: Duration) -> Self {
        WrittenDuration { text: format_duration(duration).into(), duration }
    }
}

impl fmt::Display for WrittenDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for WrittenDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Coded for DurationError {
    fn code(&self) -> &'static str {
        match self {
            DurationError::TooLong { .. } => codes::TOO_LONG,
            DurationError::TooLarge | DurationError::TooFine => codes::RANGE,
            DurationError::Number | DurationError::NoUnit { .. } | DurationError::Unit { .. } => {
                codes::FORMAT
            }
        }
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

fn fraction_nanos(fraction: &str, unit_nanos: u128) -> Result<u128, DurationError> {
    let digits = fraction.trim_end_matches('0');
    if digits.is_empty() {
        return Ok(0);
    }
    let places = u32::try_from(digits.len()).map_err(|_| DurationError::TooFine)?;
    if places > FRACTION_PLACES_MAX {
        return Err(DurationError::TooFine);
    }
    let digits: u128 = digits.parse().map_err(|_| DurationError::TooFine)?;
    let (scaled, scale) = (digits * unit_nanos, 10_u128.pow(places));
    if scaled.is_multiple_of(scale) { Ok(scaled / scale) } else { Err(DurationError::TooFine) }
}
