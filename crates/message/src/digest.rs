//! SHA-256 digests, written as 64 lower-case hexadecimal digits.

use std::fmt;
use std::str::FromStr;

use sha2::Digest;

use crate::codes;
use crate::read::Coded;

/// The SHA-256 digest of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha256([u8; 32]);

/// Why a text is not a digest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a SHA-256 digest is 64 hexadecimal digits in lower case")]
pub struct DigestError;

impl Sha256 {
    /// Computes the digest of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Sha256(sha2::Sha256::digest(bytes).into())
    }

    /// Takes the bytes of a digest as they were stored.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Sha256(bytes)
    }

    /// Returns the bytes of the digest.
    pub fn to_bytes(self) -> [u8; 32] {
        self.0
    }
}

impl FromStr for Sha256 {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(DigestError);
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = lower_hex(pair[0])? << 4 | lower_hex(pair[1])?;
        }
        Ok(Sha256(bytes))
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits = |byte: &u8| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
        let text: String = self.0.iter().flat_map(digits).map(char::from).collect();
        f.write_str(&text)
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Coded for DigestError {
    fn code(&self) -> &'static str {
        codes::FORMAT
    }
}

/// One form only: a digest that is compared as text must not differ by case.
fn lower_hex(character: u8) -> Result<u8, DigestError> {
    match character {
        b'0'..=b'9' => Ok(character - b'0'),
        b'a'..=b'f' => Ok(character - b'a' + 10),
        _ => Err(DigestError),
    }
}
