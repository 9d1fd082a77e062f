//! The seal: by which the bus knows the origins that it wrote itself.
//!
//! A document that was translated carries the one that it was made of. Whoever sends it back gets the original
//! restored, but only if the origin bears this bus's keyed hash: anybody can write an origin, nobody can forge its seal.

use std::fmt;
use std::str::FromStr;

use message::Origin;

const KEY_BYTES: usize = 32;
/// What the key is used for; another use would need another word.
const PURPOSE: &[u8] = b"convoke origin 1";

/// The secret with which a bus seals.
#[derive(Clone)]
pub struct SealKey([u8; KEY_BYTES]);

/// Why a text is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a key: it has {} letters and digits", 2 * KEY_BYTES)]
pub struct SealKeyError;

impl SealKey {
    /// Makes a new key.
    pub fn new() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; KEY_BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(SealKey(bytes))
    }

    /// Returns the text to be kept in a file that nobody else can read.
    pub fn reveal(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns the seal of an origin.
    pub fn seal(&self, origin: &Origin) -> String {
        self.hash(origin).to_hex().to_string()
    }

    /// Tells whether an origin bears this bus's seal. How long that takes does not depend on how much of it fits.
    pub fn is_on(&self, origin: &Origin) -> bool {
        let seal = origin.seal.as_deref().and_then(|seal| blake3::Hash::from_hex(seal).ok());
        seal.is_some_and(|seal| seal == self.hash(origin))
    }

    /// Returns a key for another purpose, from which this one cannot be told. The purpose names it for ever.
    pub fn derive(&self, purpose: &str) -> [u8; KEY_BYTES] {
        blake3::derive_key(purpose, &self.0)
    }

    /// Hashes what an origin says; where one part ends counts.
    fn hash(&self, origin: &Origin) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(PURPOSE);
        let copy = origin.copy.map(|copy| copy.to_string()).unwrap_or_default();
        let version = origin.version.as_deref().unwrap_or_default();
        for part in [origin.dialect.name(), version, &origin.sha256.to_string(), &copy] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize()
    }
}

impl FromStr for SealKey {
    type Err = SealKeyError;

    fn from_str(text: &str) -> Result<Self, SealKeyError> {
        if text.len() != 2 * KEY_BYTES || !text.is_ascii() {
            return Err(SealKeyError);
        }
        let mut bytes = [0; KEY_BYTES];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).map_err(|_| SealKeyError)?;
        }
        Ok(SealKey(bytes))
    }
}

/// Shows that it is there, never what it is.
impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey")
    }
}
