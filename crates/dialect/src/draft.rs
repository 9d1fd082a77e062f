//! A draft: a canonical message while it is read from a document.

use json::{Finding, Findings, Object, Source, Value};
use message::{Guarantee, Kind};

use crate::{Codec, Decoded, FINDINGS_MAX, Lens, Link, Names, Routing, get, put};

/// A canonical message in the making, with a record of what came from where.
#[derive(Debug)]
pub struct Draft<'d> {
    document: &'d Object<'d>,
    names: &'d Names,
    fields: Object<'static>,
    links: Vec<Link>,
    /// What was odd, missing or defaulted.
    pub warnings: Findings,
    /// How long the message is wanted from its creation on, in milliseconds, where the document says so.
    pub lifetime_ms: Option<u64>,
}

impl<'d> Draft<'d> {
    /// Starts a message of that kind; `told_by` names the fields of the document that say so.
    pub fn new(document: &'d Object<'d>, names: &'d Names, kind: Kind, told_by: &[&str]) -> Self {
        let (fields, links) = (Object::new(), Vec::new());
        let warnings = Findings::new(FINDINGS_MAX);
        let mut draft = Draft { document, names, fields, links, warnings, lifetime_ms: None };
        draft.fields.insert("kind", kind.name());
        for native in told_by {
            draft.link(native, "/kind");
        }
        draft
    }

    /// Returns the document that is read.
    pub fn document(&self) -> &'d Object<'d> {
        self.document
    }

    /// Returns what agents are called.
    pub fn names(&self) -> &'d Names {
        self.names
    }

    /// Returns what the message says so far.
    pub fn get(&self, canonical: &str) -> Option<&Value<'static>> {
        get(&self.fields, canonical)
    }

    /// Reads every field that a lens finds; the first that fills a place counts.
    pub fn read(&mut self, lenses: &[Lens]) {
        for lens in lenses {
            let Some(value) = get(self.document, lens.native) else { continue };
            if self.get(lens.canonical).is_some() {
                continue;
            }
            if let Some(value) = lens.codec.decode(value, self.names) {
                put(&mut self.fields, lens.canonical, value);
                self.links.push(Link::of(lens));
            }
        }
    }

    /// Reads one field.
    pub fn read_one(&mut self, native: &'static str, canonical: &'static str, codec: Codec) {
        self.read(&[Lens { native, canonical, codec }]);
    }

    /// Sets a field of the message from one of the document.
    pub fn set(&mut self, native: &str, canonical: &str, value: impl Into<Value<'static>>) {
        put(&mut self.fields, canonical, value.into());
        self.link(native, canonical);
    }

    /// Sets a field of the message that no field of the document says.
    pub fn assume(&mut self, canonical: &str, value: impl Into<Value<'static>>) {
        put(&mut self.fields, canonical, value.into());
    }

    /// Records that a field of the document helped to make a field of the message.
    pub fn link(&mut self, native: &str, canonical: &str) {
        self.links.push(Link { native: native.to_owned().into(), canonical: canonical.to_owned().into() });
    }

    /// Warns of a field of the document.
    pub fn warn(&mut self, native: &str, code: &'static str, message: String) {
        self.warnings.add(Finding { path: native.to_owned(), code, source: Source::Rule, message });
    }

    /// Ends the draft. A message that the canonical form refuses is reported at the fields that it came from.
    pub fn finish(self) -> Result<Decoded, Findings> {
        let Draft { fields, links, warnings, lifetime_ms, .. } = self;
        match message::from_value(Value::Object(fields)) {
            Ok(message::Decoded { message, .. }) => {
                let routing = Routing { lifetime_ms, ..Routing::of(&message, Guarantee::AtLeastOnce) };
                Ok(Decoded { message, warnings, links, routing })
            }
            Err(findings) => {
                let mut errors = Findings::new(FINDINGS_MAX);
                for finding in findings {
                    let link = links.iter().find(|link| finding.path.starts_with(&*link.canonical));
                    errors.add(Finding {
                        path: link.map_or(finding.path, |link| link.native.to_string()),
                        ..finding
                    });
                }
                Err(errors)
            }
        }
    }
}
