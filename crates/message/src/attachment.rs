//! Attachments: what goes with a message without being inside it.

use json::{Object, Value};

use crate::members::Members;
use crate::read::{Fields, integer, parsed, string};
use crate::{Sha256, Uri};

/// Something that goes with a message, by its URI.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Attachment {
    /// Where it is.
    pub uri: Uri,
    /// What it is called.
    pub name: Option<String>,
    /// Its media type.
    pub mime: Option<String>,
    /// Its bytes, at most 2⁶³-1.
    pub size: Option<u64>,
    /// Its digest.
    pub sha256: Option<Sha256>,
    /// Fields that we do not know.
    pub extra: Object<'static>,
}

impl Attachment {
    pub(crate) const FIELDS: &[&str] = &["uri", "name", "mime", "size", "sha256"];

    /// Makes an attachment of which only the place is known.
    pub fn new(uri: Uri) -> Self {
        Attachment { uri, name: None, mime: None, size: None, sha256: None, extra: Object::new() }
    }

    pub(crate) fn read(fields: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let uri = fields.required("uri", parsed);
        let name = fields.optional("name", string);
        let mime = fields.optional("mime", string);
        let size = fields.optional("size", integer(0..=i64::MAX));
        let sha256 = fields.optional("sha256", parsed);
        Some(Attachment { uri: uri?, name, mime, size, sha256, extra: fields.rest() })
    }

    pub(crate) fn to_value(&self) -> Value<'_> {
        let mut members = Members::new();
        members.put("uri", self.uri.as_str());
        members.maybe("name", self.name.as_deref());
        members.maybe("mime", self.mime.as_deref());
        members.maybe("size", self.size);
        members.maybe("sha256", self.sha256.map(|sha256| sha256.to_string()));
        members.with(&self.extra, Self::FIELDS)
    }
}
