//! Documents going out: what the broker hands out, in the language of whoever takes it.

use dialect::{Name, Names};
use json::{Limits, Value};
use message::Envelope;
use translate::{Carry, Failure, Options, Reports};

/// A document as its recipient gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The language in which it is written.
    pub dialect: Name,
    /// Its text.
    pub text: String,
}

/// Why a document cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum OutgoingError {
    /// What the log holds is not an envelope, or not text.
    #[error("the stored document cannot be read")]
    Stored,
    /// It cannot be said in the language that is wanted.
    #[error("it cannot be said in {to}")]
    Untranslatable {
        /// The language.
        to: Name,
        /// Why.
        #[source]
        source: Failure,
    },
}

/// Writes what the log holds in the language of its recipient.
///
/// The same language gives the very bytes that came in, with two exceptions that the languages themselves ask for: a
/// `bus` document says who it went to first when it reaches a fallback, and a `coord` document counts its tries.
pub fn write(
    body: &[u8],
    wanted: Name,
    attempt: u32,
    instead: Option<&str>,
    names: &Names,
) -> Result<Outgoing, OutgoingError> {
    let envelope = Envelope::open(body).ok_or(OutgoingError::Stored)?;
    let text = std::str::from_utf8(envelope.document).map_err(|_| OutgoingError::Stored)?;
    let told = retold(envelope.dialect, text, attempt, instead, names);
    let text = told.as_deref().unwrap_or(text);
    if envelope.dialect == wanted {
        return Ok(Outgoing { dialect: wanted, text: text.to_owned() });
    }
    let options = Options {
        names,
        limits: Limits::DOCUMENT,
        carry: Carry::Origin,
        reports: Reports::Unwanted,
        // What was stored was checked when it came in; an origin inside of it is data.
        trusts: |_| false,
    };
    let translated = translate::translate(text, envelope.dialect, wanted, &options)
        .map_err(|source| OutgoingError::Untranslatable { to: wanted, source })?;
    Ok(Outgoing { dialect: wanted, text: translated.text })
}

/// Returns the text with what has become of the document since, where its dialect has a place for it.
fn retold(dialect: Name, text: &str, attempt: u32, instead: Option<&str>, names: &Names) -> Option<String> {
    let is_retold = match dialect {
        Name::Bus => instead.is_some(),
        Name::Coord => attempt > 1,
        Name::Comms | Name::Channel | Name::Wire | Name::Convoke => false,
    };
    if !is_retold {
        return None;
    }
    let value = json::parse_str(text, Limits::DOCUMENT).ok()?;
    let document = value.as_object()?;
    let copy = match (dialect, instead) {
        (Name::Bus, Some(agent)) => dialect_bus::for_fallback(document, &names.uri(agent)),
        _ => {
            let mut copy = document.clone().into_owned();
            let metadata = copy.get_mut("metadata").and_then(Value::as_object_mut)?;
            metadata.insert("retry_count", Value::from(u64::from(attempt - 1)));
            copy
        }
    };
    Some(Value::Object(copy).to_json())
}
