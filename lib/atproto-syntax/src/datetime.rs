//! Datetimes: the common ground of RFC 3339, ISO 8601 and HTML, as in `1985-04-12T23:20:50.123Z`.

use std::fmt;
use std::str::FromStr;

use crate::{Format, SyntaxError};

const BYTES_MAX: usize = 64;
const SECONDS_PER_DAY: i64 = 86_400;
const MICROS_PER_SECOND: i64 = 1_000_000;
/// From 0000-01-01 to 1970-01-01, in the proleptic Gregorian calendar.
const DAYS_TO_EPOCH: i64 = 719_528;
const DAYS_PER_400_YEARS: i64 = 146_097;
/// 0000-01-01T00:00:00Z.
const SECONDS_MIN: i64 = -DAYS_TO_EPOCH * SECONDS_PER_DAY;
/// 9999-12-31T23:59:59Z.
const SECONDS_MAX: i64 = SECONDS_MIN + 25 * DAYS_PER_400_YEARS * SECONDS_PER_DAY - 1;
/// Days before each month, in a year that is not a leap year.
const DAYS_BEFORE_MONTH: [i64; 13] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];

/// Holds a text that follows the [`datetime` format](https://atproto.com/specs/lexicon#datetime), and its moment.
///
/// Values sort by their moment, then by offset and text. Texts of the same moment are not equal, because a record
/// must keep the one it was given.
///
/// ```
/// use atproto_syntax::{Datetime, Precision};
///
/// let noon: Datetime = "2024-02-29T12:00:00+01:00".parse()?;
/// assert_eq!(noon.moment().unix_seconds, 1_709_204_400);
///
/// let now = Datetime::from_unix_micros(1_709_204_400_123_456, Precision::Millis)?;
/// assert_eq!(now.as_str(), "2024-02-29T11:00:00.123Z");
/// assert!(noon < now);
/// # Ok::<(), atproto_syntax::SyntaxError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Datetime {
    moment: Moment,
    text: Box<str>,
}

/// Says when something happened, and in which time zone it was written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment {
    /// Whole seconds since the Unix epoch, rounded towards the past; leap seconds do not count.
    pub unix_seconds: i64,
    /// Nanoseconds after that second; further digits are cut off.
    pub nanos: u32,
    /// Minutes that the written time is ahead of UTC.
    pub offset_minutes: i16,
}

/// Chooses how many digits follow the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Three digits, the form that the protocol prefers.
    Millis,
    /// Six digits, which keep every microsecond.
    Micros,
}

impl Moment {
    /// Returns the microseconds since the Unix epoch, rounded towards the past.
    pub const fn unix_micros(self) -> i64 {
        self.unix_seconds * MICROS_PER_SECOND + (self.nanos / 1000) as i64
    }
}

impl Datetime {
    /// Writes a time in UTC, cut to the precision; the years 0000 to 9999 can be written.
    pub fn from_unix_micros(micros: i64, precision: Precision) -> Result<Self, SyntaxError> {
        let unix_seconds = micros.div_euclid(MICROS_PER_SECOND);
        check_range(unix_seconds)?;
        let fraction = micros.rem_euclid(MICROS_PER_SECOND);
        let (year, month, day) = date_of(unix_seconds.div_euclid(SECONDS_PER_DAY));
        let second = unix_seconds.rem_euclid(SECONDS_PER_DAY);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let start = format_args!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
        match precision {
            Precision::Millis => format!("{start}.{:03}Z", fraction / 1000),
            Precision::Micros => format!("{start}.{fraction:06}Z"),
        }
        .try_into()
    }

    /// Returns the text as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the moment that the text stands for.
    pub fn moment(&self) -> Moment {
        self.moment
    }
}

impl FromStr for Datetime {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        Ok(Self { moment: parse(text)?, text: text.into() })
    }
}

impl TryFrom<String> for Datetime {
    type Error = SyntaxError;

    fn try_from(text: String) -> Result<Self, SyntaxError> {
        Ok(Self { moment: parse(&text)?, text: text.into_boxed_str() })
    }
}

impl From<Datetime> for String {
    fn from(datetime: Datetime) -> Self {
        datetime.text.into()
    }
}

impl AsRef<str> for Datetime {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Datetime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// Checks the syntax of a datetime and that it exists in the calendar, without allocating.
pub fn check(text: &str) -> Result<(), SyntaxError> {
    parse(text).map(|_| ())
}

/// Reads the moment that a datetime stands for, without allocating.
pub fn parse(text: &str) -> Result<Moment, SyntaxError> {
    if text.len() > BYTES_MAX {
        return Err(fail("it is longer than 64 bytes"));
    }
    let shape = || fail("it must look like 1985-04-12T23:20:50.123Z");
    let (head, tail) = text.as_bytes().split_first_chunk::<19>().ok_or_else(shape)?;
    let local_seconds = parse_head(head, shape)?;
    let (nanos, zone) = parse_fraction(tail)?;
    let offset_minutes = parse_zone(zone)?;
    let unix_seconds = local_seconds - i64::from(offset_minutes) * 60;
    check_range(unix_seconds)?;
    Ok(Moment { unix_seconds, nanos, offset_minutes })
}

/// Reads date and time of day as seconds since the epoch, as if they were in UTC.
fn parse_head(head: &[u8; 19], shape: impl Fn() -> SyntaxError) -> Result<i64, SyntaxError> {
    if [head[4], head[7], head[10], head[13], head[16]] != *b"--T::" {
        return Err(shape());
    }
    let number = |digits: &[u8]| parse_digits(digits).ok_or_else(&shape);
    let (year, month, day) = (number(&head[0..4])?, number(&head[5..7])?, number(&head[8..10])?);
    let (hour, minute, second) = (number(&head[11..13])?, number(&head[14..16])?, number(&head[17..19])?);
    if !(1..=12).contains(&month) {
        return Err(fail("its month must be between 01 and 12"));
    }
    if day < 1 || day > days_in_month(year, month) {
        return Err(fail("its month does not have that day"));
    }
    if hour > 23 || minute > 59 {
        return Err(fail("its time of day must be between 00:00 and 23:59"));
    }
    if second > 59 {
        return Err(fail("its second must be between 00 and 59"));
    }
    let days = days_before_year(year) + days_before_month(year, month) + day - 1 - DAYS_TO_EPOCH;
    Ok(days * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second)
}

/// Reads the fraction of a second, if there is one, and returns what follows.
fn parse_fraction(tail: &[u8]) -> Result<(u32, &[u8]), SyntaxError> {
    let Some(fraction) = tail.strip_prefix(b".") else {
        return Ok((0, tail));
    };
    let mut nanos = 0;
    let mut weight = 100_000_000;
    let mut count = 0;
    while let Some(digit) = fraction.get(count).and_then(|&byte| digit(byte)) {
        nanos += u32::from(digit) * weight;
        weight /= 10;
        count += 1;
    }
    if count == 0 {
        return Err(fail("its decimal point must be followed by digits"));
    }
    Ok((nanos, &fraction[count..]))
}

fn parse_zone(zone: &[u8]) -> Result<i16, SyntaxError> {
    if zone == b"Z" {
        return Ok(0);
    }
    let malformed = || fail("it must end with Z or an offset such as +01:00");
    let [sign @ (b'+' | b'-'), hours @ .., b':', minute_tens, minute_ones] = zone else {
        return Err(malformed());
    };
    if hours.len() != 2 {
        return Err(malformed());
    }
    let hours = parse_digits(hours).ok_or_else(malformed)?;
    let minutes = parse_digits(&[*minute_tens, *minute_ones]).ok_or_else(malformed)?;
    if hours > 23 || minutes > 59 {
        return Err(fail("its offset must be between 00:00 and 23:59"));
    }
    let offset = i16::try_from(hours * 60 + minutes).expect("a day has fewer minutes than an i16 can count");
    match (sign, offset) {
        (b'-', 0) => Err(fail("its offset must not be -00:00")),
        (b'-', _) => Ok(-offset),
        _ => Ok(offset),
    }
}

fn check_range(unix_seconds: i64) -> Result<(), SyntaxError> {
    if !(SECONDS_MIN..=SECONDS_MAX).contains(&unix_seconds) {
        return Err(fail("its year in UTC must be between 0000 and 9999"));
    }
    Ok(())
}

fn parse_digits(bytes: &[u8]) -> Option<i64> {
    bytes.iter().try_fold(0, |number, &byte| Some(number * 10 + i64::from(digit(byte)?)))
}

fn digit(byte: u8) -> Option<u8> {
    let value = byte.wrapping_sub(b'0');
    (value < 10).then_some(value)
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    days_before_month(year, month + 1) - days_before_month(year, month)
}

/// Counts the days from the start of the year; month 13 gives the length of the year.
fn days_before_month(year: i64, month: i64) -> i64 {
    DAYS_BEFORE_MONTH[(month - 1) as usize] + i64::from(month > 2 && is_leap(year))
}

/// Counts the days from 0000-01-01, which is in a leap year, to the start of a year.
fn days_before_year(year: i64) -> i64 {
    year * 365 + (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400
}

/// Returns year, month and day of a day counted from the epoch, which must be in the years 0000 to 9999.
fn date_of(unix_days: i64) -> (i64, i64, i64) {
    let days = unix_days + DAYS_TO_EPOCH;
    // The mean year makes a guess that is at most one year late or early.
    let guess = days * 400 / DAYS_PER_400_YEARS;
    let started = |year: &i64| days_before_year(*year) <= days;
    let year = [guess + 1, guess].into_iter().find(started).unwrap_or(guess - 1);
    let day_of_year = days - days_before_year(year);
    let month = (1..=12).rev().find(|&month| days_before_month(year, month) <= day_of_year).unwrap_or(1);
    (year, month, day_of_year - days_before_month(year, month) + 1)
}

#[cold]
fn fail(reason: &'static str) -> SyntaxError {
    SyntaxError::new(Format::Datetime, reason)
}
