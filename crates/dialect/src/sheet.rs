//! A sheet: a document of a dialect while it is written from a message.

use json::{Object, Value};
use message::Message;

use crate::{Codec, Encoded, Lens, Link, Names, get, put};

/// A document in the making, with a record of what came from where.
#[derive(Debug)]
pub struct Sheet<'m> {
    message: &'m Message,
    names: &'m Names,
    canonical: Object<'m>,
    document: Object<'static>,
    links: Vec<Link>,
    invented: Vec<String>,
}

impl<'m> Sheet<'m> {
    /// Starts an empty document.
    pub fn new(message: &'m Message, names: &'m Names) -> Self {
        let canonical = match message.to_value() {
            Value::Object(object) => object,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Object::new()
            }
        };
        let document = Object::new();
        Sheet { message, names, canonical, document, links: Vec::new(), invented: Vec::new() }
    }

    /// Returns the message that is written.
    pub fn message(&self) -> &'m Message {
        self.message
    }

    /// Returns what agents are called.
    pub fn names(&self) -> &'m Names {
        self.names
    }

    /// Returns a field of the message.
    pub fn get(&self, canonical: &str) -> Option<&Value<'m>> {
        get(&self.canonical, canonical)
    }

    /// Returns a field of the message that is a text.
    pub fn text(&self, canonical: &str) -> Option<&str> {
        self.get(canonical).and_then(Value::as_str)
    }

    /// Tells whether the document has a field already.
    pub fn has(&self, native: &str) -> bool {
        get(&self.document, native).is_some()
    }

    /// Writes every field that a lens finds; the first that fills a place counts.
    pub fn write(&mut self, lenses: &[Lens]) {
        for lens in lenses {
            if self.has(lens.native) {
                continue;
            }
            let Some(value) = get(&self.canonical, lens.canonical) else { continue };
            let Some((value, made_up)) = lens.codec.encode(value, self.names) else { continue };
            put(&mut self.document, lens.native, value);
            self.links.push(Link::of(lens));
            if made_up {
                self.invented.push(lens.native.to_owned());
            }
        }
    }

    /// Writes one field.
    pub fn write_one(&mut self, native: &'static str, canonical: &'static str, codec: Codec) {
        self.write(&[Lens { native, canonical, codec }]);
    }

    /// Sets a field of the document from one of the message.
    pub fn set(&mut self, native: &str, canonical: &str, value: impl Into<Value<'static>>) {
        put(&mut self.document, native, value.into());
        self.link(native, canonical);
    }

    /// Sets a field of the document that the message does not say but the dialect demands.
    pub fn invent(&mut self, native: &str, value: impl Into<Value<'static>>) {
        put(&mut self.document, native, value.into());
        self.invented.push(native.to_owned());
    }

    /// Records that a field of the message helped to make a field of the document.
    pub fn link(&mut self, native: &str, canonical: &str) {
        self.links.push(Link { native: native.to_owned().into(), canonical: canonical.to_owned().into() });
    }

    /// Ends the document.
    pub fn finish(self) -> Encoded {
        Encoded { document: self.document, links: self.links, invented: self.invented }
    }
}
