//! What a dialect is: how its documents are described, checked, read into messages and written from them.
//!
//! A dialect describes the interfaces of its specification as data ([`Interface`]), and how their fields and
//! those of the canonical message correspond ([`Lens`]). One description serves both directions, so reading
//! and writing cannot drift apart, and every step is recorded as a [`Link`], so a report of a translation is
//! what happened and not what was meant. [`Names`] knows what agents are called in each dialect.
//!
//! This crate knows no dialect and does no I/O.
#![deny(missing_docs)]

mod cut;
mod draft;
mod interface;
mod lens;
mod names;
mod place;
mod recipients;
mod routing;
mod schema;
mod sheet;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use json::{Findings, Object, Value};
use message::{Kind, Message};

pub use cut::{cut_to_bytes, cut_to_words, is_cut, words};
pub use draft::Draft;
pub use interface::{Field, Interface, Need, Shape, Strictness, is_uuid};
pub use lens::{Codec, Convert, IdForm, Lens};
pub use message::Dialect as Name;
pub use names::{Identity, IdentityError, Names};
pub use place::{get, put};
pub use recipients::Recipients;
pub use routing::Routing;
pub use schema::json_schema;
pub use sheet::Sheet;

/// Findings of each sort that are kept of one document.
pub const FINDINGS_MAX: usize = 1_000;

/// A language in which agents write their messages.
pub trait Dialect: Sync {
    /// Returns its name.
    fn name(&self) -> Name;

    /// Tells whether a document looks like one of this dialect, good or bad.
    fn recognizes(&self, document: &Object<'_>) -> bool;

    /// Checks a document strictly: the schema and the rules of the specification.
    fn validate(&self, document: &Value<'_>) -> Verdict;

    /// Reads a document, tolerantly where the specification's users are.
    fn decode(&self, document: &Value<'_>, names: &Names) -> Result<Decoded, Findings>;

    /// Reads a document that nobody needs any more; the same as [`Dialect::decode`], sooner where it can be.
    fn decode_owned(&self, document: Value<'_>, names: &Names) -> Result<Decoded, Findings> {
        self.decode(&document, names)
    }

    /// Writes a message as well as this dialect can say it. What it writes is valid.
    fn encode(&self, message: &Message, names: &Names) -> Encoded;

    /// Returns where the origin of a translated document travels, as a JSON Pointer.
    fn origin_place(&self) -> &'static str;

    /// Returns the version of the dialect that a document is written in, where documents say it.
    fn version(&self, _document: &Object<'_>) -> Option<String> {
        None
    }
}

/// The outcome of a strict check.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What the document means, where that can be told.
    pub kind: Option<Kind>,
    /// What makes it invalid.
    pub errors: Findings,
    /// What is allowed but should be known.
    pub warnings: Findings,
}

/// A document that was read.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// What it says. Its origin is not set: only the caller has the exact text.
    pub message: Message,
    /// What was odd, missing or defaulted.
    pub warnings: Findings,
    /// Which field went where.
    pub links: Vec<Link>,
    /// How the bus delivers it.
    pub routing: Routing,
}

/// A message that was written.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// The document, without an origin.
    pub document: Object<'static>,
    /// Which field came from where.
    pub links: Vec<Link>,
    /// Fields whose values were made up because the dialect demands them.
    pub invented: Vec<String>,
}

/// A field of a document that corresponds to one of the canonical message; both are JSON Pointers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The field of the document.
    pub native: Cow<'static, str>,
    /// The field of the message.
    pub canonical: Cow<'static, str>,
}

impl Link {
    /// The link that a lens leaves behind; its places are part of the program and need no copy.
    fn of(lens: &Lens) -> Self {
        Link { native: Cow::Borrowed(lens.native), canonical: Cow::Borrowed(lens.canonical) }
    }
}

impl Verdict {
    /// Makes a verdict without findings.
    pub fn new() -> Self {
        Verdict { kind: None, errors: Findings::new(FINDINGS_MAX), warnings: Findings::new(FINDINGS_MAX) }
    }

    /// Tells whether there are no errors.
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }
}

impl Default for Verdict {
    fn default() -> Self {
        Verdict::new()
    }
}
