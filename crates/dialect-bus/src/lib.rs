//! The dialect `bus`: documents of the AgentMessage specification, checked, read and written.
//!
//! A document is an `AgentMessage` with one of five payload families, or one of the documents beside it: an
//! `AgentDescriptor`, an `AgentRegistration`, a `HealthStatus`. The payload may be anything; what is known of
//! the families is checked as rules and read where it fits, the rest stays the sender's data.
//!
//! This crate keeps no queue, waits for nothing and acts on nothing that a document says: when to try again
//! and to whom a message falls back it only computes, and a payload that says `shutdown` is only text.
#![deny(missing_docs)]

pub mod codes;
mod decode;
mod encode;
mod interfaces;
mod kinds;
mod lenses;
mod parts;
mod presence;
mod registration;
mod routing;
mod rules;

#[cfg(test)]
mod tests;

use dialect::{Decoded, Dialect, Encoded, Name, Names, Strictness, Verdict};
use json::{Findings, Object, Path, Value};
use message::Message;

use parts::Form;

pub use kinds::is_status;
pub use registration::{Registration, registration};
pub use routing::{backoff, correlation, for_fallback, is_for_the_bus, lifetime};

/// The AgentMessage bus.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bus;

impl Dialect for Bus {
    fn name(&self) -> Name {
        Name::Bus
    }

    fn recognizes(&self, document: &Object<'_>) -> bool {
        parts::form(document).is_some()
    }

    fn validate(&self, document: &Value<'_>) -> Verdict {
        let mut verdict = Verdict::new();
        let Value::Object(document) = document else {
            verdict.errors.schema(&Path::ROOT, message::codes::TYPE, || {
                format!("expected an object, found {}", document.type_name())
            });
            return verdict;
        };
        let form = parts::form(document).unwrap_or(Form::Message);
        let Verdict { kind, errors, warnings } = &mut verdict;
        *kind = kinds::kind_of_form(form, document);
        interfaces::of(form).check(document, &Path::ROOT, Strictness::Strict, errors, warnings);
        rules::check(form, document, errors, warnings);
        verdict
    }

    fn decode(&self, document: &Value<'_>, names: &Names) -> Result<Decoded, Findings> {
        decode::decode(document, names)
    }

    fn encode(&self, message: &Message, names: &Names) -> Encoded {
        encode::encode(message, names)
    }

    fn origin_place(&self) -> &'static str {
        "/metadata/x_origin"
    }

    fn version(&self, document: &Object<'_>) -> Option<String> {
        parts::text(document, "protocol_version").map(str::to_owned)
    }
}
