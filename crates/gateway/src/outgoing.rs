//! Documents going out: what the broker hands out, in the language of whoever takes it.

use std::sync::Arc;

use dialect::{Name, Names};
use json::{Limits, Value};
use message::{Envelope, MessageId, Seq, Timestamp};
use translate::{Carry, Failure, Options, Reports};

use crate::source_cache::Decoded;
use crate::{Reading, letters};

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

/// A stored document and what has become of it since.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    /// What the log holds.
    pub body: &'a [u8],
    /// Where it lies in the log, durable; if that is known, its translations are kept for others.
    pub place: Option<Seq>,
    /// When it was accepted.
    pub came: Timestamp,
    /// The how-manieth time it is handed out, from 1.
    pub attempt: u32,
    /// Who gets it in the place of the first recipient, if somebody does.
    pub instead: Option<&'a str>,
}

impl<'a> Stored<'a> {
    /// A document that is shown as it is, and handed out to nobody.
    pub fn now(body: &'a [u8], id: MessageId) -> Self {
        Stored { body, place: None, came: letters::came(id), attempt: 1, instead: None }
    }

    /// Says where it lies in the log.
    pub fn at(self, place: Seq) -> Self {
        Stored { place: Some(place), ..self }
    }
}

/// How what a recipient gets differs from what was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change<'a> {
    /// Not at all.
    Nothing,
    /// It names the fallback recipient who gets it.
    Fallback(&'a str),
    /// It says how often it was tried before.
    Retries(u32),
}

/// Writes what the log holds in a language, or in its own.
///
/// The same language gives the very bytes that came in, with two exceptions that the languages themselves ask for: a
/// `bus` document says who it went to first when it reaches a fallback, and a `coord` document counts its tries.
pub fn write(
    stored: Stored<'_>,
    wanted: Option<Name>,
    reading: Reading<'_>,
) -> Result<Outgoing, OutgoingError> {
    write_from(stored, wanted, reading, || None)
}

/// Writes what the log holds as [`write`] does, from what was decoded with the same names if that is at hand.
pub(crate) fn write_from(
    stored: Stored<'_>,
    wanted: Option<Name>,
    reading: Reading<'_>,
    decoded: impl FnOnce() -> Option<Arc<Decoded>>,
) -> Result<Outgoing, OutgoingError> {
    let envelope = Envelope::open(stored.body).ok_or(OutgoingError::Stored)?;
    let wanted = wanted.unwrap_or(envelope.dialect);
    let text = std::str::from_utf8(envelope.document).map_err(|_| OutgoingError::Stored)?;
    let told = retold(envelope.dialect, text, stored, reading.names);
    let text = told.as_deref().unwrap_or(text);
    if envelope.dialect == wanted {
        return Ok(Outgoing { dialect: wanted, text: text.to_owned() });
    }
    let went = envelope.addresses();
    let options = Options {
        names: reading.names,
        limits: reading.limits,
        carry: Carry::Origin,
        reports: Reports::Unwanted,
        // What was stored was restored when it came in; an origin inside of it is data.
        trusts: &|_| false,
        seals: Some(&|origin| reading.seal.seal(origin)),
        came: Some(stored.came),
        to: went.as_deref(),
    };
    // What was decoded is the document as it was stored.
    let decoded = if told.is_none() { decoded() } else { None };
    let text = match decoded {
        Some(decoded) => {
            translate::translate_decoded(text, &decoded.source, envelope.dialect, wanted, &options)
        }
        None => translate::translate(text, envelope.dialect, wanted, &options).map(|it| it.text),
    };
    let text = text.map_err(|source| OutgoingError::Untranslatable { to: wanted, source })?;
    Ok(Outgoing { dialect: wanted, text })
}

/// Characters of a summary at most.
const SUMMARY_CHARS_MAX: usize = 280;

/// Returns what a stored document says in words: its title and its text.
pub fn said(body: &[u8], reading: Reading<'_>) -> Option<String> {
    let envelope = Envelope::open(body)?;
    let value = json::parse(envelope.document, reading.limits).ok()?;
    let message = translate::dialect(envelope.dialect).decode(&value, reading.names).ok()?.message;
    match (message.title, message.text) {
        (Some(title), Some(text)) if title != text => Some(format!("{title}\n{text}")),
        (Some(said), _) | (None, Some(said)) => Some(said),
        (None, None) => None,
    }
}

/// Returns the head of a text, for a list.
pub fn head(said: &str) -> String {
    let mut letters = said.chars();
    let mut head: String = letters.by_ref().take(SUMMARY_CHARS_MAX).collect();
    if letters.next().is_some() {
        head.push('…');
    }
    head
}

/// Returns what has become of a document since it was stored, where its dialect has a place for it.
pub(crate) fn change(dialect: Name, stored: Stored<'_>) -> Change<'_> {
    match dialect {
        Name::Bus => stored.instead.map_or(Change::Nothing, Change::Fallback),
        Name::Coord if stored.attempt > 1 => Change::Retries(stored.attempt - 1),
        Name::Comms | Name::Coord | Name::Channel | Name::Wire | Name::Convoke => Change::Nothing,
    }
}

/// Returns the text with what has become of the document since; nothing if it stays as it is.
fn retold(dialect: Name, text: &str, stored: Stored<'_>, names: &Names) -> Option<String> {
    let change = change(dialect, stored);
    if change == Change::Nothing {
        return None;
    }
    let value = json::parse_str(text, Limits::DOCUMENT).ok()?;
    let document = value.as_object()?;
    let copy = match change {
        Change::Nothing => return None,
        Change::Fallback(agent) => dialect_bus::for_fallback(document, &names.uri(agent)),
        Change::Retries(count) => {
            let mut copy = document.clone().into_owned();
            let metadata = copy.get_mut("metadata").and_then(Value::as_object_mut)?;
            metadata.insert("retry_count", Value::from(u64::from(count)));
            copy
        }
    };
    Some(Value::Object(copy).to_json())
}
