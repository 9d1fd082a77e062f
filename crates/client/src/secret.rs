//! Tokens as the client holds them: shown only when asked for.

use std::fmt;

/// A token. Neither `Debug` nor any error shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Takes a token as it was shown.
    pub fn new(text: impl Into<String>) -> Self {
        Token(text.into())
    }

    /// Returns its text, for the one place that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}
