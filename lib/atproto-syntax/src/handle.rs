//! Handles: domain names that stand for accounts, as in `alice.example.com`.

use std::fmt;
use std::str::FromStr;

use crate::label::{self, LabelFault};
use crate::{Format, SyntaxError, class};

/// Stands for a handle that could not be confirmed, wherever the protocol demands one.
pub const INVALID_HANDLE: &str = "handle.invalid";

/// Lists the [top-level domains](https://atproto.com/specs/handle#additional-non-syntax-restrictions) that pass the syntax but must not be used in the live network.
///
/// `test` is not among them: it may be used in development.
pub const DISALLOWED_TLDS: [&str; 8] =
    ["alt", "arpa", "example", "internal", "invalid", "local", "localhost", "onion"];

const BYTES_MAX: usize = 253;

/// Holds a text that follows the [handle syntax](https://atproto.com/specs/handle#handle-identifier-syntax).
///
/// Handles are the same account name whatever their case, but two values are equal only when their texts are:
/// compare [`Handle::normalized`] forms.
///
/// ```
/// use atproto_syntax::Handle;
///
/// let handle: Handle = "Alice.Example.COM".parse()?;
/// assert_eq!(handle.normalized().as_str(), "alice.example.com");
/// assert_eq!(handle.disallowed_tld(), None);
/// assert_eq!("printer.local".parse::<Handle>()?.disallowed_tld(), Some("local"));
/// # Ok::<(), atproto_syntax::SyntaxError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(Box<str>);

impl Handle {
    /// Returns the text as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the handle in lower case, its form for comparing, storing and showing.
    pub fn normalized(&self) -> Self {
        Self(self.0.to_ascii_lowercase().into_boxed_str())
    }

    /// Returns the last label, in the case it was given.
    pub fn tld(&self) -> &str {
        self.0.rsplit('.').next().unwrap_or_default()
    }

    /// Returns the entry of [`DISALLOWED_TLDS`] that the handle ends in, if any.
    pub fn disallowed_tld(&self) -> Option<&'static str> {
        let tld = self.tld();
        DISALLOWED_TLDS.into_iter().find(|disallowed| disallowed.eq_ignore_ascii_case(tld))
    }
}

impl FromStr for Handle {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        check(text)?;
        Ok(Self(text.into()))
    }
}

impl TryFrom<String> for Handle {
    type Error = SyntaxError;

    fn try_from(text: String) -> Result<Self, SyntaxError> {
        check(&text)?;
        Ok(Self(text.into_boxed_str()))
    }
}

impl From<Handle> for String {
    fn from(handle: Handle) -> Self {
        handle.0.into()
    }
}

impl AsRef<str> for Handle {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Checks the syntax of a handle, without allocating.
pub fn check(text: &str) -> Result<(), SyntaxError> {
    if text.len() > BYTES_MAX {
        return fail("it is longer than 253 bytes");
    }
    let labels = match label::scan(text.as_bytes()) {
        Ok(labels) => labels,
        Err(LabelFault::Byte) => return fail("it may hold only ASCII letters, digits, hyphens and dots"),
        Err(LabelFault::Empty) => return fail("a label must not be empty"),
        Err(LabelFault::TooLong) => return fail("a label is longer than 63 bytes"),
        Err(LabelFault::EdgeHyphen) => return fail("a label must not start or end with a hyphen"),
    };
    if labels.count < 2 {
        return fail("it needs at least two labels");
    }
    if class::is(text.as_bytes()[labels.last_start], class::DIGIT) {
        return fail("the last label must not start with a digit");
    }
    Ok(())
}

#[cold]
fn fail(reason: &'static str) -> Result<(), SyntaxError> {
    Err(SyntaxError::new(Format::Handle, reason))
}
