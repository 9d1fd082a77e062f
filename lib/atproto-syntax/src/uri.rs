//! URIs of any scheme, checked only as far as the protocol does.

use std::fmt;
use std::str::FromStr;

use crate::{Format, SyntaxError, class};

const BYTES_MAX: usize = 8192;

/// Holds a text with a scheme and something after it, in the sense of the [`uri` format](https://atproto.com/specs/lexicon#uri).
///
/// What follows the scheme is not parsed: each scheme has its own rules.
///
/// ```
/// use atproto_syntax::Uri;
///
/// let uri: Uri = "https://example.com/path?q=1".parse()?;
/// assert_eq!((uri.scheme(), uri.rest()), ("https", "//example.com/path?q=1"));
/// # Ok::<(), atproto_syntax::SyntaxError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uri(Box<str>);

impl Uri {
    /// Returns the text as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the scheme, in the case it was given.
    pub fn scheme(&self) -> &str {
        self.halves().0
    }

    /// Returns everything after the colon of the scheme.
    pub fn rest(&self) -> &str {
        self.halves().1
    }

    fn halves(&self) -> (&str, &str) {
        self.0.split_once(':').expect("a checked URI has a colon after its scheme")
    }
}

impl FromStr for Uri {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        check(text)?;
        Ok(Self(text.into()))
    }
}

impl TryFrom<String> for Uri {
    type Error = SyntaxError;

    fn try_from(text: String) -> Result<Self, SyntaxError> {
        check(&text)?;
        Ok(Self(text.into_boxed_str()))
    }
}

impl From<Uri> for String {
    fn from(uri: Uri) -> Self {
        uri.0.into()
    }
}

impl AsRef<str> for Uri {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Checks the syntax of a URI, without allocating.
///
/// The scheme follows [RFC 3986](https://www.rfc-editor.org/rfc/rfc3986#section-3.1); the rest is any printable ASCII.
pub fn check(text: &str) -> Result<(), SyntaxError> {
    let bytes = text.as_bytes();
    if bytes.len() > BYTES_MAX {
        return fail("it is longer than 8192 bytes");
    }
    let scheme_bytes = bytes.iter().take_while(|&&byte| is_scheme(byte)).count();
    if bytes.get(scheme_bytes) != Some(&b':') {
        return fail("it must start with a scheme and a colon");
    }
    if !class::is(bytes[0], class::ALPHA) {
        return fail("its scheme must start with a letter");
    }
    let rest = &bytes[scheme_bytes + 1..];
    if rest.is_empty() {
        return fail("something must follow its scheme");
    }
    if !class::all(rest, class::GRAPH) {
        return fail("it may hold only printable ASCII characters, and no space");
    }
    Ok(())
}

fn is_scheme(byte: u8) -> bool {
    class::is(byte, class::LABEL) || byte == b'+' || byte == b'.'
}

#[cold]
fn fail(reason: &'static str) -> Result<(), SyntaxError> {
    Err(SyntaxError::new(Format::Uri, reason))
}
