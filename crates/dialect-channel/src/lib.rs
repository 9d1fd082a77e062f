//! The dialect `channel`: the JSON files of a Multi-Agent OS, one message or heartbeat a file.
//!
//! [`Channel`] checks, reads and writes its documents. Beside it stand the rules that files and watchers live
//! by: [`file_name`] (what a message's file is called and how files are ordered), [`addressing`] (whom a
//! message is for) and [`presence`] (how an agent is, and since when nobody knows).
//!
//! This crate is pure: it opens no file, reads no clock and draws no random numbers.
#![deny(missing_docs)]

pub mod addressing;
mod channel_name;
pub mod codes;
mod decode;
mod encode;
mod extension;
pub mod file_name;
mod form;
mod head;
mod heartbeat;
pub mod interfaces;
pub mod presence;
mod rules;
mod said;
pub mod types;

#[cfg(test)]
mod tests;

use dialect::{Decoded, Dialect, Encoded, FINDINGS_MAX, Name, Names, Strictness, Verdict};
use json::{Findings, Object, Path, Value};
use message::Message;

pub use channel_name::{channel_of, is_channel_name};

use form::Form;

/// The dialect `channel`.
///
/// A document for all goes to the members of the channel that its thread names; [`channel_of`] is its address.
#[derive(Clone, Copy, Debug, Default)]
pub struct Channel;

impl Dialect for Channel {
    fn name(&self) -> Name {
        Name::Channel
    }

    fn recognizes(&self, document: &Object<'_>) -> bool {
        form::recognizes(document)
    }

    fn validate(&self, document: &Value<'_>) -> Verdict {
        let mut verdict = Verdict::new();
        let Some(object) = object(document, &mut verdict.errors) else { return verdict };
        check(object, Strictness::Strict, &mut verdict.errors, &mut verdict.warnings);
        verdict.kind = head::kind(object);
        verdict
    }

    fn decode(&self, document: &Value<'_>, names: &Names) -> Result<Decoded, Findings> {
        let (mut errors, mut warnings) = (Findings::new(FINDINGS_MAX), Findings::new(FINDINGS_MAX));
        let Some(object) = object(document, &mut errors) else { return Err(errors) };
        check(object, Strictness::Tolerant, &mut errors, &mut warnings);
        if !errors.is_empty() {
            return Err(errors);
        }
        match head::head(object) {
            Some(head) => decode::decode(object, &head, names, warnings),
            None => {
                errors.rule(&Path::ROOT, codes::NOT_A_MESSAGE, || {
                    "this document registers an agent: it is checked, but it is no message".to_owned()
                });
                Err(errors)
            }
        }
    }

    fn encode(&self, message: &Message, names: &Names) -> Encoded {
        encode::encode(message, names)
    }

    fn origin_place(&self) -> &'static str {
        "/metadata/x_origin"
    }
}

fn object<'v, 'a>(document: &'v Value<'a>, errors: &mut Findings) -> Option<&'v Object<'a>> {
    if document.as_object().is_none() {
        errors.schema(&Path::ROOT, message::codes::TYPE, || {
            format!("expected an object, found {}", document.type_name())
        });
    }
    document.as_object()
}

fn check(object: &Object<'_>, strictness: Strictness, errors: &mut Findings, warnings: &mut Findings) {
    let form = Form::of(object);
    form.interface().check(object, &Path::ROOT, strictness, errors, warnings);
    rules::check(form, object, strictness, errors, warnings);
}
