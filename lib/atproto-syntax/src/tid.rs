//! TIDs: sortable names made of a time and a clock id, as in `3jzfcijpj2z2a`, and a source of them.

use std::fmt;
use std::str::{self, FromStr};

use crate::{Format, SyntaxError};

/// Bounds the time of a TID that is made here: 53 bits of microseconds, which last until the year 2255.
pub const MICROS_MAX: u64 = (1 << 53) - 1;

/// Bounds the clock id of a TID, which has 10 bits.
pub const CLOCK_ID_MAX: u16 = (1 << 10) - 1;

const BYTES: usize = 13;
/// In the order of ASCII, so that texts sort like the numbers they spell.
const ALPHABET: &[u8; 32] = b"234567abcdefghijklmnopqrstuvwxyz";
/// Marks a byte outside of the alphabet.
const NONE: u8 = u8::MAX;

static VALUES: [u8; 256] = values();

/// Holds a [timestamp identifier](https://atproto.com/specs/tid), which sorts by its time.
///
/// ```
/// use atproto_syntax::Tid;
///
/// let tid: Tid = "3jzfcijpj2z2a".parse()?;
/// assert_eq!((tid.micros(), tid.clock_id()), (1_688_137_381_887_007, 6));
/// assert_eq!(Tid::from_parts(tid.micros(), tid.clock_id())?, tid);
/// # Ok::<(), atproto_syntax::SyntaxError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tid([u8; BYTES]);

/// Makes TIDs that only ever grow, even when the caller's clock stands still or goes back.
///
/// It has no clock of its own: every call says what time it is.
///
/// ```
/// use atproto_syntax::TidClock;
///
/// let mut clock = TidClock::new(7)?;
/// let first = clock.next(1_700_000_000_000_000).unwrap();
/// let second = clock.next(1_600_000_000_000_000).unwrap();
/// assert!(second > first);
/// assert_eq!(second.micros(), first.micros() + 1);
/// # Ok::<(), atproto_syntax::SyntaxError>(())
/// ```
#[derive(Debug, Clone)]
pub struct TidClock {
    clock_id: u16,
    /// The earliest time that the next TID may carry.
    micros_min: u64,
}

impl Tid {
    /// Makes a TID from microseconds since the Unix epoch and a clock id.
    pub fn from_parts(micros: u64, clock_id: u16) -> Result<Self, SyntaxError> {
        if micros > MICROS_MAX {
            return Err(fail("its time must fit in 53 bits of microseconds"));
        }
        check_clock_id(clock_id)?;
        Ok(Self::encode(micros << 10 | u64::from(clock_id)))
    }

    /// Returns the 13 characters.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).expect("a TID is made of its ASCII alphabet")
    }

    /// Returns the microseconds since the Unix epoch.
    ///
    /// The syntax lets a foreign TID set the reserved high bit, so this may be above [`MICROS_MAX`].
    pub fn micros(self) -> u64 {
        self.decode() >> 10
    }

    /// Returns the clock id, below 1024.
    pub fn clock_id(self) -> u16 {
        let low = u16::try_from(self.decode() & u64::from(CLOCK_ID_MAX));
        low.expect("ten bits fit in sixteen")
    }

    fn encode(number: u64) -> Self {
        let mut text = [0; BYTES];
        let mut rest = number;
        for slot in text.iter_mut().rev() {
            *slot = ALPHABET[(rest % 32) as usize];
            rest /= 32;
        }
        Self(text)
    }

    fn decode(self) -> u64 {
        self.0.iter().fold(0, |number, &byte| number << 5 | u64::from(VALUES[usize::from(byte)]))
    }
}

impl FromStr for Tid {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        check_bytes(text.as_bytes()).map(|bytes| Self(*bytes))
    }
}

impl TryFrom<String> for Tid {
    type Error = SyntaxError;

    fn try_from(text: String) -> Result<Self, SyntaxError> {
        text.parse()
    }
}

impl From<Tid> for String {
    fn from(tid: Tid) -> Self {
        tid.as_str().to_owned()
    }
}

impl AsRef<str> for Tid {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for Tid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Tid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tid").field(&self.as_str()).finish()
    }
}

impl TidClock {
    /// Starts a source whose TIDs all carry this clock id, which should differ between concurrent sources.
    pub fn new(clock_id: u16) -> Result<Self, SyntaxError> {
        check_clock_id(clock_id)?;
        Ok(Self { clock_id, micros_min: 0 })
    }

    /// Starts a source whose TIDs are all greater than one that was given out before.
    pub fn after(last: Tid, clock_id: u16) -> Result<Self, SyntaxError> {
        check_clock_id(clock_id)?;
        Ok(Self { clock_id, micros_min: last.micros() + 1 })
    }

    /// Returns a TID greater than all before, at `now_micros` or the next microsecond that is free.
    ///
    /// Returns nothing, and forgets the call, when that time is past [`MICROS_MAX`].
    pub fn next(&mut self, now_micros: u64) -> Option<Tid> {
        let micros = now_micros.max(self.micros_min);
        let tid = Tid::from_parts(micros, self.clock_id).ok()?;
        self.micros_min = micros + 1;
        Some(tid)
    }
}

/// Checks the syntax of a TID, without allocating.
pub fn check(text: &str) -> Result<(), SyntaxError> {
    check_bytes(text.as_bytes()).map(|_| ())
}

fn check_bytes(bytes: &[u8]) -> Result<&[u8; BYTES], SyntaxError> {
    let bytes: &[u8; BYTES] = bytes.try_into().map_err(|_| fail("it must have 13 characters"))?;
    // All values are below 32, so one look at the sum of bits finds a byte outside of the alphabet.
    if bytes.iter().fold(0, |seen, &byte| seen | VALUES[usize::from(byte)]) >= 32 {
        return Err(fail("it may hold only the digits 2 to 7 and lower-case letters"));
    }
    if VALUES[usize::from(bytes[0])] >= 16 {
        return Err(fail("its first character must be one of 2 to 7 and a to j"));
    }
    Ok(bytes)
}

fn check_clock_id(clock_id: u16) -> Result<(), SyntaxError> {
    if clock_id > CLOCK_ID_MAX {
        return Err(fail("its clock id must be below 1024"));
    }
    Ok(())
}

const fn values() -> [u8; 256] {
    let mut values = [NONE; 256];
    let mut value = 0;
    while value < ALPHABET.len() {
        values[ALPHABET[value] as usize] = value as u8;
        value += 1;
    }
    values
}

#[cold]
fn fail(reason: &'static str) -> SyntaxError {
    SyntaxError::new(Format::Tid, reason)
}
