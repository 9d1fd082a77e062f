//! The envelope: a document as the bus keeps it, with the name of its dialect, the trace to which it belongs, and to
//! whom it went if the document itself does not say.

use crate::{Address, Dialect};

/// The first byte of an envelope with neither a trace nor addresses.
const PLAIN: u8 = 1;
/// What is added to it where there is a trace.
const TRACED: u8 = 1;
/// What is added to it where there are addresses.
const ADDRESSED: u8 = 2;
/// Bytes of a trace: version, trace, parent and flags in hexadecimal digits, with hyphens between them.
const TRACE_BYTES: usize = 55;

/// A document and the language in which it is written; its bytes are borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// The language.
    pub dialect: Dialect,
    /// The trace to which it belongs, as a W3C `traceparent`.
    pub trace: Option<&'a str>,
    /// To whom it went if the document does not say: addresses with a blank between.
    pub to: Option<&'a str>,
    /// The document as it came.
    pub document: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Puts a document into its envelope. A trace that is none is left out.
    pub fn seal(dialect: Dialect, trace: Option<&str>, document: &[u8]) -> Vec<u8> {
        Envelope { dialect, trace, to: None, document }.to_bytes()
    }

    /// Returns the envelope as it is kept.
    pub fn to_bytes(&self) -> Vec<u8> {
        let trace = self.trace.filter(|trace| is_trace(trace));
        // More than a length can say are more than a message may have.
        let to = self.to.and_then(|to| Some((u16::try_from(to.len()).ok()?, to)));
        let extra = trace.map_or(0, str::len) + to.map_or(0, |(_, to)| to.len() + 2);
        let mut bytes = Vec::with_capacity(self.document.len() + 2 + extra);
        let form = PLAIN + trace.map_or(0, |_| TRACED) + to.map_or(0, |_| ADDRESSED);
        bytes.extend([form, self.dialect as u8]);
        bytes.extend_from_slice(trace.unwrap_or_default().as_bytes());
        if let Some((length, to)) = to {
            bytes.extend(length.to_le_bytes());
            bytes.extend_from_slice(to.as_bytes());
        }
        bytes.extend_from_slice(self.document);
        bytes
    }

    /// Opens an envelope; nothing if it is none.
    pub fn open(bytes: &'a [u8]) -> Option<Self> {
        let [form, dialect, rest @ ..] = bytes else { return None };
        let dialect = *Dialect::ALL.get(usize::from(*dialect))?;
        let has = form.checked_sub(PLAIN).filter(|has| *has <= TRACED + ADDRESSED)?;
        let (trace, rest) = if has & TRACED == 0 { (None, rest) } else { text(rest, TRACE_BYTES)? };
        let (to, document) = match rest {
            rest if has & ADDRESSED == 0 => (None, rest),
            [low, high, rest @ ..] => text(rest, u16::from_le_bytes([*low, *high]).into())?,
            [] | [_] => return None,
        };
        Some(Envelope { dialect, trace, to, document })
    }

    /// Returns to whom the document went, if it does not say so itself.
    pub fn addresses(&self) -> Option<Vec<Address>> {
        self.to?.split(' ').map(|address| address.parse().ok()).collect()
    }
}

/// Takes a text from the front.
fn text(bytes: &[u8], length: usize) -> Option<(Option<&str>, &[u8])> {
    let (text, rest) = bytes.split_at_checked(length)?;
    Some((Some(std::str::from_utf8(text).ok()?), rest))
}

/// Tells whether a text has the form of a `traceparent`: <https://www.w3.org/TR/trace-context/#traceparent-header>.
fn is_trace(text: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_there =
        |(at, byte): (usize, u8)| if [2, 35, 52].contains(&at) { byte == b'-' } else { is_hex(byte) };
    text.len() == TRACE_BYTES && text.bytes().enumerate().all(is_there)
}
