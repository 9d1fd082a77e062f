//! The origin: the document as its sender wrote it, which makes translation lossless.

use json::{Object, Value};

use crate::members::Members;
use crate::read::{Fields, parsed, string, word};
use crate::{Sha256, codes};

words! {
    /// The languages that the bus speaks.
    pub enum Dialect {
        /// The `agent.comms.*` lexicons of the AT Protocol.
        Comms = "comms",
        /// The Agent Communication Protocols.
        Coord = "coord",
        /// The AgentMessage bus.
        Bus = "bus",
        /// The channel files of the Multi-Agent OS.
        Channel = "channel",
        /// Agent Wire.
        Wire = "wire",
        /// The canonical message as JSON.
        Convoke = "convoke",
    }
}

/// The document as its sender wrote it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Origin {
    /// The language in which it is written.
    pub dialect: Dialect,
    /// The version of that language.
    pub version: Option<String>,
    /// The exact text.
    pub document: String,
    /// The digest of the text as it was sent; see [`Origin::verify`].
    pub sha256: Sha256,
    /// The digest of the document that carries the origin, as it was written; another one means that somebody
    /// edited it since.
    pub copy: Option<Sha256>,
    /// The keyed hash by which a bus knows what it wrote itself; it is not looked into here.
    pub seal: Option<String>,
    /// Fields that we do not know.
    pub extra: Object<'static>,
}

impl Origin {
    pub(crate) const FIELDS: &[&str] = &["dialect", "version", "document", "sha256", "copy", "seal"];

    /// Makes the origin of a text and computes its digest.
    pub fn of(dialect: Dialect, version: Option<String>, document: String) -> Self {
        let sha256 = Sha256::of(document.as_bytes());
        Origin { dialect, version, document, sha256, copy: None, seal: None, extra: Object::new() }
    }

    /// Tells whether the text has the digest that stands beside it.
    pub fn verify(&self) -> bool {
        Sha256::of(self.document.as_bytes()) == self.sha256
    }

    pub(crate) fn read(fields: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let dialect = fields.required("dialect", word);
        let version = fields.optional("version", string);
        let document = fields.required("document", string);
        let sha256 = fields.required("sha256", parsed);
        let copy = fields.optional("copy", parsed);
        let seal = fields.optional("seal", string);
        let extra = fields.rest();
        let (dialect, document, sha256) = (dialect?, document?, sha256?);
        let origin = Origin { dialect, version, document, sha256, copy, seal, extra };
        if !origin.verify() {
            fields.at("sha256", |place| {
                place.warn(codes::ORIGIN_MISMATCH, || "the origin's document has another digest".to_owned());
            });
        }
        Some(origin)
    }

    /// Reads an origin that travels in a document; anything that does not have its form is none of ours.
    pub fn from_value(value: &Value<'_>) -> Option<Self> {
        let object = value.as_object()?;
        let text = |key: &str| object.get(key).and_then(Value::as_str);
        let optional = |key: &str| text(key).map(str::to_owned);
        Some(Origin {
            dialect: Dialect::from_name(text("dialect")?)?,
            version: optional("version"),
            document: optional("document")?,
            sha256: text("sha256")?.parse().ok()?,
            copy: text("copy").and_then(|copy| copy.parse().ok()),
            seal: optional("seal"),
            extra: Object::new(),
        })
    }

    /// Returns the origin as it travels in a document: an object of strings.
    pub fn to_value(&self) -> Value<'_> {
        let mut members = Members::new();
        members.put("dialect", self.dialect.name());
        members.maybe("version", self.version.as_deref());
        members.put("document", self.document.as_str());
        members.put("sha256", self.sha256.to_string());
        members.maybe("copy", self.copy.map(|copy| copy.to_string()));
        members.maybe("seal", self.seal.as_deref());
        members.with(&self.extra, Self::FIELDS)
    }
}
