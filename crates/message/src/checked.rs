//! Strings that were checked once: the macro that declares their types, and the check for free-form ones.

use crate::codes;
use crate::read::Coded;

/// Why a string cannot be an id, a reference or a URI.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// There is nothing.
    #[error("it is empty: leave the field out instead")]
    Empty,
    /// There is too much.
    #[error("it has {bytes} bytes, at most {bytes_max} are allowed")]
    TooLong {
        /// How many bytes there are.
        bytes: usize,
        /// How many there may be.
        bytes_max: usize,
    },
    /// A control character would corrupt logs, headers and terminals.
    #[error("it holds the control character {found:?}")]
    Control {
        /// The character.
        found: char,
    },
}

/// Declares a string type whose every value has passed a check; a copy is cheap.
///
/// Nine such types differ in nothing but their name and their check.
macro_rules! checked_text {
    ($(#[$doc:meta])* $name:ident, $error:ty, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(smol_str::SmolStr);

        impl $name {
            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Takes the text out.
            pub fn into_text(self) -> smol_str::SmolStr {
                self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = $error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let check: fn(&str) -> Result<(), $error> = $check;
                check(text)?;
                Ok($name(text.into()))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

/// Checks a string that is opaque to us: something, not too long, on one line.
pub(crate) fn check_opaque(text: &str, bytes_max: usize) -> Result<(), TextError> {
    if text.is_empty() {
        return Err(TextError::Empty);
    }
    if text.len() > bytes_max {
        return Err(TextError::TooLong { bytes: text.len(), bytes_max });
    }
    // Most have nothing else, which is seen at once.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Ok(());
    }
    match text.chars().find(|character| character.is_control()) {
        Some(found) => Err(TextError::Control { found }),
        None => Ok(()),
    }
}

impl Coded for TextError {
    fn code(&self) -> &'static str {
        match self {
            TextError::TooLong { .. } => codes::TOO_LONG,
            TextError::Empty | TextError::Control { .. } => codes::FORMAT,
        }
    }
}
