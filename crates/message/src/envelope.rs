//! The envelope: a document as the bus keeps it, with the name of its dialect before it.

use crate::Dialect;

/// The version of the form, and the first byte of every envelope.
const VERSION: u8 = 1;

/// A document and the language in which it is written; its bytes are borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// The language.
    pub dialect: Dialect,
    /// The document as it came.
    pub document: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Puts a document into its envelope.
    pub fn seal(dialect: Dialect, document: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(document.len() + 2);
        bytes.extend([VERSION, dialect as u8]);
        bytes.extend_from_slice(document);
        bytes
    }

    /// Opens an envelope; nothing if it is none.
    pub fn open(bytes: &'a [u8]) -> Option<Self> {
        let [VERSION, dialect, document @ ..] = bytes else { return None };
        let dialect = *Dialect::ALL.get(usize::from(*dialect))?;
        Some(Envelope { dialect, document })
    }
}
