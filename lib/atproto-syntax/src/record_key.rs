//! Record keys: the name of a record inside its collection, as in `self` or `3jzfcijpj2z2a`.

use std::fmt;
use std::str::FromStr;

use crate::{Format, SyntaxError, Tid, class};

const BYTES_MAX: usize = 512;

/// Holds a text that follows the [record key syntax](https://atproto.com/specs/record-key#record-key-syntax).
///
/// ```
/// use atproto_syntax::RecordKey;
///
/// let key: RecordKey = "3jzfcijpj2z2a".parse()?;
/// assert_eq!(key.tid().map(|tid| tid.clock_id()), Some(6));
/// assert!("..".parse::<RecordKey>().is_err());
/// # Ok::<(), atproto_syntax::SyntaxError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKey(Box<str>);

impl RecordKey {
    /// Returns the text as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the key as a TID, if it is one.
    pub fn tid(&self) -> Option<Tid> {
        self.0.parse().ok()
    }
}

impl From<Tid> for RecordKey {
    fn from(tid: Tid) -> Self {
        Self(tid.as_str().into())
    }
}

impl FromStr for RecordKey {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        check(text)?;
        Ok(Self(text.into()))
    }
}

impl TryFrom<String> for RecordKey {
    type Error = SyntaxError;

    fn try_from(text: String) -> Result<Self, SyntaxError> {
        check(&text)?;
        Ok(Self(text.into_boxed_str()))
    }
}

impl From<RecordKey> for String {
    fn from(key: RecordKey) -> Self {
        key.0.into()
    }
}

impl AsRef<str> for RecordKey {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RecordKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Checks the syntax of a record key, without allocating.
pub fn check(text: &str) -> Result<(), SyntaxError> {
    let bytes = text.as_bytes();
    if bytes.len() > BYTES_MAX {
        return fail("it is longer than 512 bytes");
    }
    if !class::all(bytes, class::RECORD_KEY) {
        return fail("it may hold only ASCII letters, digits and . - _ : ~");
    }
    match bytes {
        b"" => fail("it must not be empty"),
        b"." | b".." => fail("it must not be . or .."),
        _ => Ok(()),
    }
}

#[cold]
fn fail(reason: &'static str) -> Result<(), SyntaxError> {
    Err(SyntaxError::new(Format::RecordKey, reason))
}
