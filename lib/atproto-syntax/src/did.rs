//! DIDs: the permanent names of accounts, as in `did:plc:7iza6de2dwap2sbkpav7c6c6`.

use std::fmt;
use std::str::FromStr;

use crate::{Format, SyntaxError, class};

const BYTES_MAX: usize = 2048;

/// Holds a text that follows the [DID syntax](https://atproto.com/specs/did#at-protocol-did-identifier-syntax).
///
/// Any method passes; which methods a network accepts is not a question of syntax.
///
/// ```
/// use atproto_syntax::Did;
///
/// let did: Did = "did:web:example.com".parse()?;
/// assert_eq!((did.method(), did.identifier()), ("web", "example.com"));
/// # Ok::<(), atproto_syntax::SyntaxError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Did(Box<str>);

impl Did {
    /// Returns the text as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the method, the part between the first two colons.
    pub fn method(&self) -> &str {
        self.halves().0
    }

    /// Returns what follows the method; it may hold further colons.
    pub fn identifier(&self) -> &str {
        self.halves().1
    }

    fn halves(&self) -> (&str, &str) {
        self.0["did:".len()..].split_once(':').expect("a checked DID has a colon after its method")
    }
}

impl FromStr for Did {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        check(text)?;
        Ok(Self(text.into()))
    }
}

impl TryFrom<String> for Did {
    type Error = SyntaxError;

    fn try_from(text: String) -> Result<Self, SyntaxError> {
        check(&text)?;
        Ok(Self(text.into_boxed_str()))
    }
}

impl From<Did> for String {
    fn from(did: Did) -> Self {
        did.0.into()
    }
}

impl AsRef<str> for Did {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Did {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Checks the syntax of a DID, without allocating.
///
/// Percent signs need not begin a valid escape: the specification leaves that to the DID methods.
pub fn check(text: &str) -> Result<(), SyntaxError> {
    let bytes = text.as_bytes();
    if bytes.len() > BYTES_MAX {
        return fail("it is longer than 2048 bytes");
    }
    let Some(rest) = bytes.strip_prefix(b"did:") else {
        return fail("it must start with did:");
    };
    let method_bytes = rest.iter().take_while(|&&byte| class::is(byte, class::LOWER)).count();
    if method_bytes == 0 || rest.get(method_bytes) != Some(&b':') {
        return fail("its method must be lower-case letters, followed by a colon");
    }
    let identifier = &rest[method_bytes + 1..];
    if !class::all(identifier, class::DID) {
        return fail("its identifier may hold only ASCII letters, digits and . _ : % -");
    }
    match identifier.last() {
        None => fail("its identifier must not be empty"),
        Some(b':' | b'%') => fail("it must not end with a colon or a percent sign"),
        Some(_) => Ok(()),
    }
}

#[cold]
fn fail(reason: &'static str) -> Result<(), SyntaxError> {
    Err(SyntaxError::new(Format::Did, reason))
}
