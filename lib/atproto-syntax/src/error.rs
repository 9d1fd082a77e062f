//! The one error of this crate: which format a text fails, and why.

use std::error::Error;
use std::fmt;

use crate::Format;

/// Says which format a text does not follow, and why, in one sentence.
///
/// ```
/// let error = atproto_syntax::handle::check("john.0").unwrap_err();
/// assert_eq!(error.to_string(), "not a valid handle: the last label must not start with a digit");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SyntaxError {
    format: Format,
    part: Option<Format>,
    reason: &'static str,
}

impl SyntaxError {
    pub(crate) const fn new(format: Format, reason: &'static str) -> Self {
        Self { format, part: None, reason }
    }

    /// Turns the error about a part into an error about the whole, and keeps the innermost part.
    pub(crate) const fn inside(self, whole: Format) -> Self {
        let part = match self.part {
            Some(part) => part,
            None => self.format,
        };
        Self { format: whole, part: Some(part), reason: self.reason }
    }

    /// Returns the format that was asked for.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// Returns the format of the part that is wrong, where a format is made of others.
    pub const fn part(&self) -> Option<Format> {
        self.part
    }

    /// Returns the rule that is broken, as half a sentence.
    pub const fn reason(&self) -> &'static str {
        self.reason
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            Some(part) => write!(f, "not a valid {}: in its {part}, {}", self.format, self.reason),
            None => write!(f, "not a valid {}: {}", self.format, self.reason),
        }
    }
}

impl Error for SyntaxError {}
