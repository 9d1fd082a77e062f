//! Byte classes of the formats, looked up in one table.
//!
//! Every class is a subset of printable ASCII, so a text whose bytes are all in a class is safe to slice.

pub(crate) const LOWER: u8 = 1 << 0;
pub(crate) const ALPHA: u8 = 1 << 1;
pub(crate) const DIGIT: u8 = 1 << 2;
/// Letters, digits and the hyphen: the inside of a domain label.
pub(crate) const LABEL: u8 = 1 << 3;
pub(crate) const DID: u8 = 1 << 4;
pub(crate) const RECORD_KEY: u8 = 1 << 5;
/// What the fragment of an AT URI may hold: RFC 3986 `pchar`, the slash and square brackets.
pub(crate) const FRAGMENT: u8 = 1 << 6;
/// Printable ASCII without the space.
pub(crate) const GRAPH: u8 = 1 << 7;

pub(crate) const ALPHANUMERIC: u8 = ALPHA | DIGIT;

static TABLE: [u8; 256] = table();

/// Tells whether the byte is in at least one of the classes.
#[inline]
pub(crate) fn is(byte: u8, classes: u8) -> bool {
    TABLE[usize::from(byte)] & classes != 0
}

/// Tells whether every byte is in the one class.
///
/// Without an early exit: most texts are good, and a loop without branches is faster on those.
#[inline]
pub(crate) fn all(bytes: &[u8], class: u8) -> bool {
    bytes.iter().fold(class, |seen, &byte| seen & TABLE[usize::from(byte)]) != 0
}

const fn table() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = classes(byte as u8);
        byte += 1;
    }
    table
}

const fn classes(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => LOWER | ALPHA | LABEL | DID | RECORD_KEY | FRAGMENT | GRAPH,
        b'A'..=b'Z' => ALPHA | LABEL | DID | RECORD_KEY | FRAGMENT | GRAPH,
        b'0'..=b'9' => DIGIT | LABEL | DID | RECORD_KEY | FRAGMENT | GRAPH,
        b'-' => LABEL | DID | RECORD_KEY | FRAGMENT | GRAPH,
        b'.' | b'_' | b':' => DID | RECORD_KEY | FRAGMENT | GRAPH,
        b'~' => RECORD_KEY | FRAGMENT | GRAPH,
        b'%' => DID | FRAGMENT | GRAPH,
        b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' => FRAGMENT | GRAPH,
        b'@' | b'/' | b'[' | b']' => FRAGMENT | GRAPH,
        b'!'..=b'~' => GRAPH,
        _ => 0,
    }
}
