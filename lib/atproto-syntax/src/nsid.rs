//! NSIDs: names of schemas under a domain written in reverse, as in `com.example.fooBar`.

use std::fmt;
use std::str::FromStr;

use crate::label::{self, LabelFault};
use crate::{Format, SyntaxError, class};

const BYTES_MAX: usize = 317;

/// Holds a text that follows the [NSID syntax](https://atproto.com/specs/nsid#nsid-syntax).
///
/// ```
/// use atproto_syntax::Nsid;
///
/// let nsid: Nsid = "com.Example.feed.getPost".parse()?;
/// assert_eq!(nsid.authority(), "feed.example.com");
/// assert_eq!(nsid.name(), "getPost");
/// # Ok::<(), atproto_syntax::SyntaxError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nsid(Box<str>);

impl Nsid {
    /// Returns the text as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the domain that has authority over the name, in the usual order and in lower case.
    pub fn authority(&self) -> String {
        let mut domain = String::with_capacity(self.0.len());
        for segment in self.segments().rev().skip(1) {
            if !domain.is_empty() {
                domain.push('.');
            }
            domain.push_str(segment);
        }
        domain.make_ascii_lowercase();
        domain
    }

    /// Returns the last segment; it is case-sensitive.
    pub fn name(&self) -> &str {
        self.0.rsplit('.').next().unwrap_or_default()
    }

    /// Walks over the segments as they are written, the name last.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('.')
    }
}

impl FromStr for Nsid {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        check(text)?;
        Ok(Self(text.into()))
    }
}

impl TryFrom<String> for Nsid {
    type Error = SyntaxError;

    fn try_from(text: String) -> Result<Self, SyntaxError> {
        check(&text)?;
        Ok(Self(text.into_boxed_str()))
    }
}

impl From<Nsid> for String {
    fn from(nsid: Nsid) -> Self {
        nsid.0.into()
    }
}

impl AsRef<str> for Nsid {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Nsid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Checks the syntax of an NSID, without allocating.
///
/// The specification also bounds the authority to 253 bytes; its published test vectors do not, and they win here.
pub fn check(text: &str) -> Result<(), SyntaxError> {
    let bytes = text.as_bytes();
    if bytes.len() > BYTES_MAX {
        return fail("it is longer than 317 bytes");
    }
    let segments = match label::scan(bytes) {
        Ok(segments) => segments,
        Err(LabelFault::Byte) => return fail("it may hold only ASCII letters, digits, hyphens and dots"),
        Err(LabelFault::Empty) => return fail("a segment must not be empty"),
        Err(LabelFault::TooLong) => return fail("a segment is longer than 63 bytes"),
        Err(LabelFault::EdgeHyphen) => return fail("a segment must not start or end with a hyphen"),
    };
    if segments.count < 3 {
        return fail("it needs at least three segments");
    }
    if class::is(bytes[0], class::DIGIT) {
        return fail("the first segment must not start with a digit");
    }
    let name = &bytes[segments.last_start..];
    if class::is(name[0], class::DIGIT) {
        return fail("the name must not start with a digit");
    }
    if name.contains(&b'-') {
        return fail("the name must not hold a hyphen");
    }
    Ok(())
}

#[cold]
fn fail(reason: &'static str) -> Result<(), SyntaxError> {
    Err(SyntaxError::new(Format::Nsid, reason))
}
