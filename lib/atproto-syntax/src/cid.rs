//! CIDs: names of data by its hash, as in `bafyreib…`.

use std::fmt;
use std::str::FromStr;

use crate::{Format, SyntaxError, multibase};

/// Marks records and other data of the protocol, in deterministic CBOR.
pub const CODEC_DAG_CBOR: u64 = 0x71;

/// Marks blobs: bytes without further structure.
pub const CODEC_RAW: u64 = 0x55;

/// Marks a digest of SHA-256.
pub const HASH_SHA2_256: u64 = 0x12;

const BYTES_MIN: usize = 8;
const BYTES_MAX: usize = 256;
const VERSION: u64 = 1;
const SHA2_256_BYTES: usize = 32;
/// A varint of the [multiformats](https://github.com/multiformats/unsigned-varint) has at most 63 bits.
const VARINT_BYTES_MAX: usize = 9;

/// Holds a text that has the form of a [CID](https://atproto.com/specs/data-model#link-and-cid-formats) of version 1.
///
/// Only the alphabet is checked, as the `cid` format demands no more; [`Cid::decode`] looks inside.
///
/// ```
/// use atproto_syntax::{Cid, cid};
///
/// let made = Cid::new(cid::CODEC_RAW, [0xab; 32]);
/// let read: Cid = made.as_str().parse()?;
/// assert_eq!(read.decode()?.digest, [0xab; 32]);
/// assert!(read.is_blessed());
/// # Ok::<(), atproto_syntax::SyntaxError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cid(Box<str>);

/// Says what a CID holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CidParts {
    /// The version of the CID; always 1.
    pub version: u64,
    /// How the named data is encoded, such as [`CODEC_DAG_CBOR`].
    pub codec: u64,
    /// Which hash the digest is of, such as [`HASH_SHA2_256`].
    pub hash: u64,
    /// The hash of the named data.
    pub digest: Vec<u8>,
}

impl Cid {
    /// Makes a CID of version 1 in base 32 from a digest of SHA-256.
    ///
    /// Multicodecs have at most 63 bits; a higher bit of `codec` is dropped.
    pub fn new(codec: u64, sha256_digest: [u8; SHA2_256_BYTES]) -> Self {
        let mut bytes = Vec::with_capacity(4 + SHA2_256_BYTES);
        for number in [VERSION, codec & (u64::MAX >> 1), HASH_SHA2_256, SHA2_256_BYTES as u64] {
            push_varint(&mut bytes, number);
        }
        bytes.extend(sha256_digest);
        Self(multibase::encode_base32(&bytes).into_boxed_str())
    }

    /// Reads the binary form of version 1 and writes it in base 32.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SyntaxError> {
        parse_bytes(bytes)?;
        multibase::encode_base32(bytes).try_into()
    }

    /// Returns the text as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the bytes that the text spells, whatever they mean.
    pub fn to_bytes(&self) -> Result<Vec<u8>, SyntaxError> {
        multibase::split(&self.0)
            .and_then(|(base, digits)| base.decode(digits))
            .ok_or_else(|| fail("it does not spell whole bytes"))
    }

    /// Looks inside; fails when the bytes are not a whole CID of version 1.
    pub fn decode(&self) -> Result<CidParts, SyntaxError> {
        parse_bytes(&self.to_bytes()?)
    }

    /// Tells whether the CID has one of the forms that the protocol makes: base 32, SHA-256, and DAG-CBOR or raw.
    pub fn is_blessed(&self) -> bool {
        self.0.starts_with('b')
            && self.decode().is_ok_and(|parts| {
                matches!(parts.codec, CODEC_DAG_CBOR | CODEC_RAW)
                    && parts.hash == HASH_SHA2_256
                    && parts.digest.len() == SHA2_256_BYTES
            })
    }
}

impl FromStr for Cid {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        check(text)?;
        Ok(Self(text.into()))
    }
}

impl TryFrom<String> for Cid {
    type Error = SyntaxError;

    fn try_from(text: String) -> Result<Self, SyntaxError> {
        check(&text)?;
        Ok(Self(text.into_boxed_str()))
    }
}

impl From<Cid> for String {
    fn from(cid: Cid) -> Self {
        cid.0.into()
    }
}

impl AsRef<str> for Cid {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Cid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Checks the syntax of a CID, without allocating.
pub fn check(text: &str) -> Result<(), SyntaxError> {
    if text.len() < BYTES_MIN || text.len() > BYTES_MAX {
        return Err(fail("it must have between 8 and 256 characters"));
    }
    if text.starts_with("Qm") {
        return Err(fail("version 0 is not supported"));
    }
    let (base, digits) =
        multibase::split(text).ok_or_else(|| fail("its first character must name a multibase"))?;
    if !base.accepts(digits) {
        return Err(fail("it holds a character that its multibase does not have"));
    }
    Ok(())
}

fn parse_bytes(bytes: &[u8]) -> Result<CidParts, SyntaxError> {
    let mut rest = bytes;
    let version = take_varint(&mut rest)?;
    if version != VERSION {
        return Err(fail("its version must be 1"));
    }
    let codec = take_varint(&mut rest)?;
    let hash = take_varint(&mut rest)?;
    let digest_bytes = take_varint(&mut rest)?;
    if u64::try_from(rest.len()) != Ok(digest_bytes) {
        return Err(fail("its digest must be as long as it says"));
    }
    Ok(CidParts { version, codec, hash, digest: rest.to_vec() })
}

/// Takes a number in groups of seven bits, low group first, from the front.
fn take_varint(bytes: &mut &[u8]) -> Result<u64, SyntaxError> {
    let mut number = 0;
    for (at, &byte) in bytes.iter().take(VARINT_BYTES_MAX).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            if byte == 0 && at > 0 {
                return Err(fail("its numbers must not be longer than needed"));
            }
            *bytes = &bytes[at + 1..];
            return Ok(number);
        }
    }
    Err(fail("it ends inside a number, or the number is too big"))
}

fn push_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[cold]
fn fail(reason: &'static str) -> SyntaxError {
    SyntaxError::new(Format::Cid, reason)
}
