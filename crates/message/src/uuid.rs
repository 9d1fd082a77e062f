//! UUIDs (RFC 9562): version 7 made from given bits, any version read.

use std::fmt;
use std::str::FromStr;

use crate::codes;
use crate::read::Coded;

/// The milliseconds have 48 bits; the last moment they can tell is in the year 10889.
const UNIX_MILLIS_MAX: u64 = (1 << 48) - 1;
/// Where the hyphens stand in the text form.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];
const TEXT_BYTES: usize = 36;

/// Why a text is not a UUID.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not a UUID such as `01932e3a-7c1e-7000-8000-0123456789ab`")]
pub struct UuidError;

/// Sixteen bytes whose order is the order of their text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Uuid(pub(crate) [u8; 16]);

impl Uuid {
    /// Makes a version 7 UUID: time, version, 12 random bits, variant, 62 random bits.
    pub(crate) fn v7(unix_millis: u64, random: [u8; 10]) -> Self {
        let mut bytes = [0; 16];
        let millis = unix_millis.min(UNIX_MILLIS_MAX).to_be_bytes();
        bytes[..6].copy_from_slice(&millis[2..]);
        bytes[6..].copy_from_slice(&random);
        bytes[6] = 0x70 | (bytes[6] & 0x0f);
        bytes[8] = 0x80 | (bytes[8] & 0x3f);
        Uuid(bytes)
    }

    pub(crate) fn is_v7(self) -> bool {
        self.0[6] >> 4 == 7 && self.0[8] >> 6 == 0b10
    }

    /// Returns the time of a version 7 UUID; the others have none.
    pub(crate) fn unix_millis(self) -> Option<u64> {
        let [a, b, c, d, e, f, ..] = self.0;
        self.is_v7().then(|| u64::from_be_bytes([0, 0, a, b, c, d, e, f]))
    }
}

impl FromStr for Uuid {
    type Err = UuidError;

    fn from_str(text: &str) -> Result<Self, UuidError> {
        if text.len() != TEXT_BYTES {
            return Err(UuidError);
        }
        let mut bytes = [0_u8; 16];
        let mut digits = 0;
        for (at, character) in text.bytes().enumerate() {
            if HYPHENS.contains(&at) {
                if character != b'-' {
                    return Err(UuidError);
                }
                continue;
            }
            let digit = hex_digit(character).ok_or(UuidError)?;
            bytes[digits / 2] = bytes[digits / 2] << 4 | digit;
            digits += 1;
        }
        Ok(Uuid(bytes))
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

impl Uuid {
    /// Returns the characters of the id.
    fn characters(self) -> [u8; TEXT_BYTES] {
        let mut text = [b'-'; TEXT_BYTES];
        let mut at = 0;
        for (number, byte) in self.0.iter().enumerate() {
            if matches!(number, 4 | 6 | 8 | 10) {
                at += 1;
            }
            text[at] = HEX[usize::from(byte >> 4)];
            text[at + 1] = HEX[usize::from(byte & 15)];
            at += 2;
        }
        text
    }

    /// Writes the id at the end of a text, without the detour of a formatter.
    pub(crate) fn push_to(self, text: &mut String) {
        text.push_str(std::str::from_utf8(&self.characters()).unwrap_or_default());
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.characters()).unwrap_or_default())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Coded for UuidError {
    fn code(&self) -> &'static str {
        codes::FORMAT
    }
}

fn hex_digit(character: u8) -> Option<u8> {
    char::from(character).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}
