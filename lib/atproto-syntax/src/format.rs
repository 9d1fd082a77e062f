//! The eleven string formats that a Lexicon can ask for, by name.

use std::fmt;

use crate::{
    SyntaxError, at_identifier, at_uri, cid, datetime, did, handle, language, nsid, record_key, tid, uri,
};

/// Names a string format, as in the [`format` field of a Lexicon](https://atproto.com/specs/lexicon#string-formats).
///
/// ```
/// use atproto_syntax::Format;
///
/// let format = Format::from_name("at-identifier").unwrap();
/// assert!(format.check("did:web:example.com").is_ok());
/// assert!(format.check("@example.com").is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// A DID or a handle.
    AtIdentifier,
    /// A URI of the scheme `at`.
    AtUri,
    /// A content identifier in its string form.
    Cid,
    /// A timestamp with a time zone.
    Datetime,
    /// A decentralized identifier.
    Did,
    /// A domain name that stands for an account.
    Handle,
    /// A BCP 47 language tag.
    Language,
    /// A namespaced identifier.
    Nsid,
    /// The name of a record in its collection.
    RecordKey,
    /// A timestamp identifier.
    Tid,
    /// A URI of any scheme.
    Uri,
}

impl Format {
    /// Lists every format, in the order of the names.
    pub const ALL: [Self; 11] = [
        Self::AtIdentifier,
        Self::AtUri,
        Self::Cid,
        Self::Datetime,
        Self::Did,
        Self::Handle,
        Self::Language,
        Self::Nsid,
        Self::RecordKey,
        Self::Tid,
        Self::Uri,
    ];

    /// Finds the format with this name; names are case-sensitive.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns the name that Lexicons use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AtIdentifier => "at-identifier",
            Self::AtUri => "at-uri",
            Self::Cid => "cid",
            Self::Datetime => "datetime",
            Self::Did => "did",
            Self::Handle => "handle",
            Self::Language => "language",
            Self::Nsid => "nsid",
            Self::RecordKey => "record-key",
            Self::Tid => "tid",
            Self::Uri => "uri",
        }
    }

    /// Checks a text against the format, without allocating.
    pub fn check(self, text: &str) -> Result<(), SyntaxError> {
        match self {
            Self::AtIdentifier => at_identifier::check(text),
            Self::AtUri => at_uri::check(text),
            Self::Cid => cid::check(text),
            Self::Datetime => datetime::check(text),
            Self::Did => did::check(text),
            Self::Handle => handle::check(text),
            Self::Language => language::check(text),
            Self::Nsid => nsid::check(text),
            Self::RecordKey => record_key::check(text),
            Self::Tid => tid::check(text),
            Self::Uri => uri::check(text),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
