//! The dialect `comms`: the `agent.comms.*` records of the AT Protocol.
//!
//! [`Comms`] checks records against the lexicons and against the rules that a lexicon cannot say, reads them
//! into messages and writes messages as records. It also reads what the network that these lexicons come from
//! really writes, which has drifted from them; each such form is read with a warning and never written.
//!
//! What a record has no field for travels in an envelope, see [`extension_of`]. The rest is left to the origin
//! (`xOrigin`), which the translator writes and restores.
//!
//! This crate does no I/O, reads no clock and resolves nothing: whether a handle or a key belongs to a DID, and
//! whether a record's sender owns its repository, is for the gateway to find out.
#![deny(missing_docs)]

mod audience;
mod catalog;
pub mod codes;
mod datamodel;
mod decode;
mod drift;
mod encode;
mod envelope;
mod ids;
mod lenses;
mod record;
mod rules;
mod time;
mod view;
pub mod words;

#[cfg(test)]
mod tests;

use json::{Findings, Object, Value};
use lexicon::Purpose;
use message::Message;

use dialect::{Decoded, Dialect, Encoded, Name, Names, Recipients, Verdict};

pub use audience::{Selector, address_of, audience_of};
pub use catalog::catalog;
pub use envelope::{EXTENSION_PREFIX, extension_of};
pub use ids::{record_key, tid_of};
pub use record::Record;
pub use rules::check_payload;
pub use time::{expiry_of, is_live_only};

/// Returns to whom a record goes; `None` if it does not say what it is, from whom and to whom.
pub fn recipients<'v>(record: &'v Object<'v>) -> Option<Recipients<'v>> {
    let view = view::View::of_any(record)?;
    view.kind().and(view.from())?;
    view.to()
}

/// The dialect of the `agent.comms.*` lexicons.
#[derive(Clone, Copy, Debug)]
pub struct Comms;

impl Dialect for Comms {
    fn name(&self) -> Name {
        Name::Comms
    }

    fn recognizes(&self, document: &Object<'_>) -> bool {
        let text = |key: &str| document.get(key).and_then(Value::as_str);
        match document.get("$type") {
            Some(name) => name.as_str().is_some_and(|name| name.starts_with("agent.comms.")),
            // A record whose type was forgotten still names its sender by a DID.
            None => {
                let sender = text("sender").or_else(|| text("from"));
                sender.is_some_and(|sender| sender.starts_with("did:")) && document.contains_key("createdAt")
            }
        }
    }

    fn validate(&self, document: &Value<'_>) -> Verdict {
        let report = catalog().validate_record(document, Purpose::Write);
        let mut verdict = Verdict { kind: None, errors: report.errors, warnings: report.warnings };
        let Some(view) = document.as_object().and_then(view::View::of_lexicon) else { return verdict };
        verdict.kind = view.kind();
        rules::check(&view, &mut verdict.errors, &mut verdict.warnings);
        check_payload(catalog(), view.object, &mut verdict.errors);
        verdict
    }

    fn decode(&self, document: &Value<'_>, names: &Names) -> Result<Decoded, Findings> {
        decode::decode(document, names)
    }

    fn encode(&self, message: &Message, names: &Names) -> Encoded {
        encode::encode(message, names)
    }

    fn origin_place(&self) -> &'static str {
        "/xOrigin"
    }
}
