//! Instants, and instants as somebody wrote them.
//!
//! An instant is a count of seconds and nanoseconds: comparing and adding, which the broker does all the time,
//! need no calendar. The calendar is jiff's, and only reading and writing text use it.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time};

use crate::codes;
use crate::limits::TIMESTAMP_BYTES_MAX;
use crate::read::Coded;

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
/// 0000-01-01T00:00:00Z.
const SECONDS_MIN: i64 = -62_167_219_200;
/// 9999-12-31T23:59:59Z.
const SECONDS_MAX: i64 = 253_402_300_799;
/// `2026-11-15T10:00:00`, a letter standing for each kind of character.
const SHAPE: &[u8; 19] = b"dddd-dd-ddTdd:dd:dd";
/// `2026-11-15T10:00:00.123456789Z`.
const SHOWN_BYTES_MAX: usize = 30;

/// An instant of the years 0 to 9999, to the nanosecond.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    seconds: i64,
    nanos: u32,
}

/// An instant together with the text in which its sender gave it.
///
/// The text is what we give back; the instant is what we count with.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct WrittenTimestamp {
    text: Box<str>,
    at: Timestamp,
}

/// Why a text or a number is not an instant that we hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimestampError {
    /// The text has another form.
    #[error("a timestamp is written like `2026-11-15T10:00:00Z` (RFC 3339)")]
    Format,
    /// The offset is missing, so the instant is not known.
    #[error("a timestamp needs its offset: end it with `Z` or for example `+02:00`")]
    NoOffset,
    /// The text is too long.
    #[error("it has {bytes} bytes, at most {bytes_max} are allowed")]
    TooLong {
        /// How many bytes there are.
        bytes: usize,
        /// How many there may be.
        bytes_max: usize,
    },
    /// The form is right, but no calendar or clock shows this.
    #[error("there is no such date, time or offset")]
    Calendar,
    /// The instant lies outside of the years 0 to 9999.
    #[error("it lies outside of the years 0 to 9999")]
    Range,
}

impl Timestamp {
    /// The first instant of the year 0.
    pub const MIN: Timestamp = Timestamp { seconds: SECONDS_MIN, nanos: 0 };
    /// The last instant of the year 9999.
    pub const MAX: Timestamp = Timestamp { seconds: SECONDS_MAX, nanos: 999_999_999 };

    /// Makes an instant from the microseconds since 1970.
    pub fn from_unix_micros(micros: i64) -> Result<Self, TimestampError> {
        let micros_of_second = micros.rem_euclid(1_000_000).unsigned_abs();
        let nanos = u32::try_from(micros_of_second * 1_000).map_err(|_| TimestampError::Range)?;
        Timestamp::new(micros.div_euclid(1_000_000), nanos)
    }

    /// Returns the microseconds since 1970; what is finer is cut towards the past.
    pub fn unix_micros(self) -> i64 {
        self.seconds * 1_000_000 + i64::from(self.nanos / 1_000)
    }

    /// Returns the instant that much later, unless it is after the year 9999.
    pub fn checked_add(self, duration: Duration) -> Option<Self> {
        let nanos = self.nanos + duration.subsec_nanos();
        let seconds = self.seconds.checked_add_unsigned(duration.as_secs())?;
        let carry = i64::from(nanos / 1_000_000_000);
        Timestamp::new(seconds.checked_add(carry)?, nanos % 1_000_000_000).ok()
    }

    /// Returns the instant that much earlier, unless it is before the year 0.
    pub fn checked_sub(self, duration: Duration) -> Option<Self> {
        let nanos = 1_000_000_000 + self.nanos - duration.subsec_nanos();
        let seconds = self.seconds.checked_sub_unsigned(duration.as_secs())?;
        let borrow = 1 - i64::from(nanos / 1_000_000_000);
        Timestamp::new(seconds.checked_sub(borrow)?, nanos % 1_000_000_000).ok()
    }

    /// Returns the time that has passed since an earlier instant; `None` if that one is later.
    pub fn duration_since(self, earlier: Timestamp) -> Option<Duration> {
        let nanos = 1_000_000_000 + self.nanos - earlier.nanos;
        let borrow = 1 - i64::from(nanos / 1_000_000_000);
        let seconds = u64::try_from(self.seconds - earlier.seconds - borrow).ok()?;
        Some(Duration::new(seconds, nanos % 1_000_000_000))
    }

    fn new(seconds: i64, nanos: u32) -> Result<Self, TimestampError> {
        if (SECONDS_MIN..=SECONDS_MAX).contains(&seconds) {
            Ok(Timestamp { seconds, nanos })
        } else {
            Err(TimestampError::Range)
        }
    }

    /// Returns the text and how much of it there is. Receipts are full of these, so no formatter is asked.
    fn characters(self) -> ([u8; SHOWN_BYTES_MAX], usize) {
        let civil = self.to_civil();
        let (date, time) = (civil.date(), civil.time());
        let mut characters = *b"0000-00-00T00:00:00.000000000Z";
        put_digits(&mut characters[0..4], date.year().unsigned_abs().into());
        let parts = [date.month(), date.day(), time.hour(), time.minute(), time.second()];
        for (nth, part) in parts.into_iter().enumerate() {
            let at = 5 + 3 * nth;
            put_digits(&mut characters[at..at + 2], part.unsigned_abs().into());
        }
        put_digits(&mut characters[20..29], self.nanos);
        let end = match self.nanos {
            0 => 19,
            nanos if nanos % 1_000_000 == 0 => 23,
            nanos if nanos % 1_000 == 0 => 26,
            _ => 29,
        };
        characters[end] = b'Z';
        (characters, end + 1)
    }

    fn to_civil(self) -> DateTime {
        let since_epoch =
            SignedDuration::from_secs(self.seconds) + SignedDuration::from_nanos(self.nanos.into());
        EPOCH.checked_add(since_epoch).expect("every instant of the years 0 to 9999 has a date")
    }
}

/// Reads RFC 3339 with an offset. A leap second counts as the second before it; digits beyond the ninth of the
/// fraction are cut.
impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let bytes = text.as_bytes();
        if bytes.len() > TIMESTAMP_BYTES_MAX {
            return Err(TimestampError::TooLong { bytes: bytes.len(), bytes_max: TIMESTAMP_BYTES_MAX });
        }
        let Some((date_time, rest)) = bytes.split_at_checked(SHAPE.len()) else {
            return Err(TimestampError::Format);
        };
        if !has_shape(date_time) {
            return Err(TimestampError::Format);
        }
        let (nanos, offset) = split_fraction(rest)?;
        let local = local_seconds(date_time)?;
        Timestamp::new(local - offset_seconds(offset)?, nanos)
    }
}

/// Writes UTC with none, 3, 6 or 9 digits of a second, as many as are needed.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (characters, count) = self.characters();
        f.write_str(std::str::from_utf8(&characters[..count]).unwrap_or_default())
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl WrittenTimestamp {
    /// Returns the text as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the instant.
    pub fn at(&self) -> Timestamp {
        self.at
    }
}

impl FromStr for WrittenTimestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        Ok(WrittenTimestamp { at: text.parse()?, text: text.into() })
    }
}

/// Writes the instant in the canonical form.
impl From<Timestamp> for WrittenTimestamp {
    fn from(at: Timestamp) -> Self {
        WrittenTimestamp { text: at.to_string().into(), at }
    }
}

impl fmt::Display for WrittenTimestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for WrittenTimestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Coded for TimestampError {
    fn code(&self) -> &'static str {
        match self {
            TimestampError::TooLong { .. } => codes::TOO_LONG,
            TimestampError::Range => codes::RANGE,
            TimestampError::Format | TimestampError::NoOffset | TimestampError::Calendar => codes::FORMAT,
        }
    }
}

/// Puts a number into as many digits as there are places.
fn put_digits(places: &mut [u8], mut number: u32) {
    for place in places.iter_mut().rev() {
        *place = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
    }
}

fn has_shape(date_time: &[u8]) -> bool {
    SHAPE.iter().zip(date_time).all(|(shape, byte)| match shape {
        b'd' => byte.is_ascii_digit(),
        b'T' => byte.eq_ignore_ascii_case(&b'T'),
        punctuation => byte == punctuation,
    })
}

/// Splits what follows the seconds into nanoseconds and the offset.
fn split_fraction(rest: &[u8]) -> Result<(u32, &[u8]), TimestampError> {
    let Some(fraction) = rest.strip_prefix(b".") else {
        return Ok((0, rest));
    };
    let end = fraction.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(fraction.len());
    if end == 0 {
        return Err(TimestampError::Format);
    }
    let digits = fraction[..end].iter().copied().chain(std::iter::repeat(b'0')).take(9);
    let nanos = digits.fold(0, |nanos, digit| nanos * 10 + u32::from(digit - b'0'));
    Ok((nanos, &fraction[end..]))
}

/// Counts the seconds since 1970 of a date and time of the right shape, as if it were in UTC.
fn local_seconds(date_time: &[u8]) -> Result<i64, TimestampError> {
    let part = |from: usize, to: usize| -> i16 {
        date_time[from..to].iter().fold(0, |number, digit| number * 10 + i16::from(digit - b'0'))
    };
    let two = |from: usize| i8::try_from(part(from, from + 2)).map_err(|_| TimestampError::Calendar);
    let second = match two(17)? {
        60 => 59,
        second => second,
    };
    let date = Date::new(part(0, 4), two(5)?, two(8)?).map_err(|_| TimestampError::Calendar)?;
    let time = Time::new(two(11)?, two(14)?, second, 0).map_err(|_| TimestampError::Calendar)?;
    Ok(DateTime::from_parts(date, time).duration_since(EPOCH).as_secs())
}

fn offset_seconds(offset: &[u8]) -> Result<i64, TimestampError> {
    let (sign, hours, minutes) = match offset {
        [] => return Err(TimestampError::NoOffset),
        [b'Z' | b'z'] => return Ok(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2]
            if [h1, h2, m1, m2].iter().all(|d| d.is_ascii_digit()) =>
        {
            (sign, two_digits(*h1, *h2), two_digits(*m1, *m2))
        }
        _ => return Err(TimestampError::Format),
    };
    if hours > 23 || minutes > 59 {
        return Err(TimestampError::Calendar);
    }
    let seconds = hours * 3600 + minutes * 60;
    Ok(if *sign == b'-' { -seconds } else { seconds })
}

fn two_digits(tens: u8, ones: u8) -> i64 {
    i64::from(tens - b'0') * 10 + i64::from(ones - b'0')
}
