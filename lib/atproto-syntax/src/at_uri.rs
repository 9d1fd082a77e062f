//! AT URIs: where a repository, collection or record is, as in `at://did:plc:abc/com.example.post/self`.

use std::fmt;
use std::str::{self, FromStr};

use crate::{AtIdentifier, Format, Nsid, RecordKey, SyntaxError, at_identifier, class, nsid, record_key};

const BYTES_MAX: usize = 8192;
const SCHEME: &str = "at://";

/// Holds a text that follows the [restricted AT URI syntax](https://atproto.com/specs/at-uri-scheme#restricted-at-uri-syntax) of Lexicons.
///
/// A fragment may follow when it is a JSON pointer; a query may not.
///
/// ```
/// use atproto_syntax::{AtUri, Nsid};
///
/// let uri: AtUri = "at://did:plc:asdf123/com.example.post/self#/text".parse()?;
/// assert_eq!(uri.authority(), "did:plc:asdf123");
/// assert_eq!(uri.collection(), Some("com.example.post"));
/// assert_eq!(uri.rkey(), Some("self"));
/// assert_eq!(uri.fragment(), Some("/text"));
///
/// let posts: Nsid = "com.example.post".parse()?;
/// let uri = AtUri::for_record(&"alice.test".parse()?, &posts, &"self".parse()?);
/// assert_eq!(uri.as_str(), "at://alice.test/com.example.post/self");
/// # Ok::<(), atproto_syntax::SyntaxError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AtUri(Box<str>);

impl AtUri {
    /// Names a whole repository.
    pub fn for_repository(authority: &AtIdentifier) -> Self {
        Self([SCHEME, authority.as_str()].concat().into_boxed_str())
    }

    /// Names one collection of a repository.
    pub fn for_collection(authority: &AtIdentifier, collection: &Nsid) -> Self {
        Self([SCHEME, authority.as_str(), "/", collection.as_str()].concat().into_boxed_str())
    }

    /// Names one record.
    pub fn for_record(authority: &AtIdentifier, collection: &Nsid, rkey: &RecordKey) -> Self {
        let parts = [SCHEME, authority.as_str(), "/", collection.as_str(), "/", rkey.as_str()];
        Self(parts.concat().into_boxed_str())
    }

    /// Returns the text as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the DID or handle of the repository.
    pub fn authority(&self) -> &str {
        self.parts().authority
    }

    /// Returns the NSID of the collection, if there is one.
    pub fn collection(&self) -> Option<&str> {
        self.parts().collection
    }

    /// Returns the record key, if there is one.
    pub fn rkey(&self) -> Option<&str> {
        self.parts().rkey
    }

    /// Returns the fragment as written, still percent-encoded and without its `#`, if there is one.
    pub fn fragment(&self) -> Option<&str> {
        self.parts().fragment
    }

    fn parts(&self) -> Parts<'_> {
        Parts::split(&self.0).expect("a checked AT URI splits into its parts")
    }
}

impl FromStr for AtUri {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        check(text)?;
        Ok(Self(text.into()))
    }
}

impl TryFrom<String> for AtUri {
    type Error = SyntaxError;

    fn try_from(text: String) -> Result<Self, SyntaxError> {
        check(&text)?;
        Ok(Self(text.into_boxed_str()))
    }
}

impl From<AtUri> for String {
    fn from(uri: AtUri) -> Self {
        uri.0.into()
    }
}

impl AsRef<str> for AtUri {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AtUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Checks the syntax of an AT URI, without allocating.
pub fn check(text: &str) -> Result<(), SyntaxError> {
    if text.len() > BYTES_MAX {
        return Err(fail("it is longer than 8192 bytes"));
    }
    let parts = Parts::split(text)?;
    at_identifier::check(parts.authority).map_err(part)?;
    if let Some(collection) = parts.collection {
        nsid::check(collection).map_err(part)?;
    }
    if let Some(rkey) = parts.rkey {
        record_key::check(rkey).map_err(part)?;
    }
    parts.fragment.map_or(Ok(()), check_fragment)
}

struct Parts<'a> {
    authority: &'a str,
    collection: Option<&'a str>,
    rkey: Option<&'a str>,
    fragment: Option<&'a str>,
}

impl<'a> Parts<'a> {
    /// Cuts the text at its separators; what lies between is not checked yet.
    fn split(text: &'a str) -> Result<Self, SyntaxError> {
        let rest = text.strip_prefix(SCHEME).ok_or_else(|| fail("it must start with at://"))?;
        let (path, fragment) = match rest.split_once('#') {
            Some((path, fragment)) => (path, Some(fragment)),
            None => (rest, None),
        };
        let mut segments = path.split('/');
        let authority = segments.next().unwrap_or_default();
        let (collection, rkey) = (segments.next(), segments.next());
        if collection == Some("") || rkey == Some("") {
            return Err(fail("it must not have an empty path segment or end with a slash"));
        }
        if segments.next().is_some() {
            return Err(fail("its path must end after the record key"));
        }
        Ok(Self { authority, collection, rkey, fragment })
    }
}

fn check_fragment(fragment: &str) -> Result<(), SyntaxError> {
    let bytes = fragment.as_bytes();
    if bytes.first() != Some(&b'/') {
        return Err(fail("its fragment must be a JSON pointer, which starts with a slash"));
    }
    if !class::all(bytes, class::FRAGMENT) {
        return Err(fail("its fragment holds a character that must be percent-encoded"));
    }
    if !percent_encoding_is_utf8(bytes) {
        return Err(fail("its fragment holds a percent sign that does not encode a character"));
    }
    Ok(())
}

/// Tells whether all escapes are whole and spell UTF-8; the bytes outside of them must be ASCII.
fn percent_encoding_is_utf8(mut bytes: &[u8]) -> bool {
    while let Some(at) = bytes.iter().position(|&byte| byte == b'%') {
        bytes = &bytes[at..];
        let count = match escaped(bytes) {
            Some(0x00..=0x7f) => 1,
            Some(0xc2..=0xdf) => 2,
            Some(0xe0..=0xef) => 3,
            Some(0xf0..=0xf4) => 4,
            Some(_) | None => return false,
        };
        let mut character = [0; 4];
        for (slot, escape) in character.iter_mut().zip(bytes.chunks(3)).take(count) {
            // An unescaped or missing byte leaves the zero, which no multi-byte character may hold.
            *slot = escaped(escape).unwrap_or_default();
        }
        if str::from_utf8(&character[..count]).is_err() {
            return false;
        }
        bytes = &bytes[3 * count..];
    }
    true
}

/// Returns the byte that an escape such as `%2F` at the start stands for.
fn escaped(bytes: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = bytes else {
        return None;
    };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|value| u8::try_from(value).ok());
    Some(digit(*high)? << 4 | digit(*low)?)
}

fn part(error: SyntaxError) -> SyntaxError {
    error.inside(Format::AtUri)
}

#[cold]
fn fail(reason: &'static str) -> SyntaxError {
    SyntaxError::new(Format::AtUri, reason)
}
