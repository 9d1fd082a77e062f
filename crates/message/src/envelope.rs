//! The envelope: a document as the bus keeps it, with the name of its dialect and the trace to which it belongs.

use crate::Dialect;

/// The first byte of an envelope without a trace.
const PLAIN: u8 = 1;
/// The first byte of an envelope with a trace.
const TRACED: u8 = 2;
/// Bytes of a trace: version, trace, parent and flags in hexadecimal digits, with hyphens between them.
const TRACE_BYTES: usize = 55;

/// A document and the language in which it is written; its bytes are borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// The language.
    pub dialect: Dialect,
    /// The trace to which it belongs, as a W3C `traceparent`.
    pub trace: Option<&'a str>,
    /// The document as it came.
    pub document: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Puts a document into its envelope. A trace that is none is left out.
    pub fn seal(dialect: Dialect, trace: Option<&str>, document: &[u8]) -> Vec<u8> {
        let trace = trace.filter(|trace| is_trace(trace));
        let mut bytes = Vec::with_capacity(document.len() + 2 + trace.map_or(0, str::len));
        bytes.extend([if trace.is_some() { TRACED } else { PLAIN }, dialect as u8]);
        bytes.extend_from_slice(trace.unwrap_or_default().as_bytes());
        bytes.extend_from_slice(document);
        bytes
    }

    /// Opens an envelope; nothing if it is none.
    pub fn open(bytes: &'a [u8]) -> Option<Self> {
        let [version, dialect, rest @ ..] = bytes else { return None };
        let dialect = *Dialect::ALL.get(usize::from(*dialect))?;
        let (trace, document) = match *version {
            PLAIN => (None, rest),
            TRACED => {
                let (trace, document) = rest.split_at_checked(TRACE_BYTES)?;
                (Some(std::str::from_utf8(trace).ok()?), document)
            }
            _ => return None,
        };
        Some(Envelope { dialect, trace, document })
    }
}

/// Tells whether a text has the form of a `traceparent`: <https://www.w3.org/TR/trace-context/#traceparent-header>.
fn is_trace(text: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_there =
        |(at, byte): (usize, u8)| if [2, 35, 52].contains(&at) { byte == b'-' } else { is_hex(byte) };
    text.len() == TRACE_BYTES && text.bytes().enumerate().all(is_there)
}
