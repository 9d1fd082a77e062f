//! AT identifiers: an account, named by its DID or by its handle.

use std::fmt;
use std::str::FromStr;

use crate::{Did, Format, Handle, SyntaxError, did, handle};

/// Holds a DID or a handle; a text that starts with `did:` can only be a DID.
///
/// ```
/// use atproto_syntax::AtIdentifier;
///
/// let account: AtIdentifier = "alice.example.com".parse()?;
/// assert!(matches!(account, AtIdentifier::Handle(_)));
/// # Ok::<(), atproto_syntax::SyntaxError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AtIdentifier {
    /// The account by its permanent name.
    Did(Did),
    /// The account by its present domain name.
    Handle(Handle),
}

impl AtIdentifier {
    /// Returns the text as it was given.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Did(did) => did.as_str(),
            Self::Handle(handle) => handle.as_str(),
        }
    }

    /// Returns the DID, if it is one.
    pub fn did(&self) -> Option<&Did> {
        match self {
            Self::Did(did) => Some(did),
            Self::Handle(_) => None,
        }
    }

    /// Returns the handle, if it is one.
    pub fn handle(&self) -> Option<&Handle> {
        match self {
            Self::Did(_) => None,
            Self::Handle(handle) => Some(handle),
        }
    }
}

impl From<Did> for AtIdentifier {
    fn from(did: Did) -> Self {
        Self::Did(did)
    }
}

impl From<Handle> for AtIdentifier {
    fn from(handle: Handle) -> Self {
        Self::Handle(handle)
    }
}

impl FromStr for AtIdentifier {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        Self::try_from(text.to_owned())
    }
}

impl TryFrom<String> for AtIdentifier {
    type Error = SyntaxError;

    fn try_from(text: String) -> Result<Self, SyntaxError> {
        let identifier = if is_did(&text) {
            Did::try_from(text).map(Self::Did)
        } else {
            Handle::try_from(text).map(Self::Handle)
        };
        identifier.map_err(|error| error.inside(Format::AtIdentifier))
    }
}

impl From<AtIdentifier> for String {
    fn from(identifier: AtIdentifier) -> Self {
        match identifier {
            AtIdentifier::Did(did) => did.into(),
            AtIdentifier::Handle(handle) => handle.into(),
        }
    }
}

impl AsRef<str> for AtIdentifier {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for AtIdentifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Checks the syntax of a DID or handle, without allocating.
pub fn check(text: &str) -> Result<(), SyntaxError> {
    let checked = if is_did(text) { did::check(text) } else { handle::check(text) };
    checked.map_err(|error| error.inside(Format::AtIdentifier))
}

fn is_did(text: &str) -> bool {
    text.starts_with("did:")
}
