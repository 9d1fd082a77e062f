//! From when to when a certificate holds: the one thing that we must know of it ourselves.
//!
//! Reads just enough DER to find it, see RFC 5280, section 4.1.2.5. What is not understood is no validity.

use message::Timestamp;

/// From when to when a certificate holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// From then on.
    pub from: Timestamp,
    /// Until then.
    pub until: Timestamp,
}

const INTEGER: u8 = 0x02;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
/// The version stands in a wrapping of its own, which old certificates leave out.
const VERSION: u8 = 0xa0;

impl Validity {
    /// Reads it from a certificate.
    pub fn of(certificate: &[u8]) -> Option<Self> {
        let (whole, _) = expect(certificate, SEQUENCE)?;
        let (signed, _) = expect(whole, SEQUENCE)?;
        let rest = match element(signed)? {
            (VERSION, _, rest) => rest,
            _ => signed,
        };
        let (_, rest) = expect(rest, INTEGER)?;
        let (_algorithm, rest) = expect(rest, SEQUENCE)?;
        let (_issuer, rest) = expect(rest, SEQUENCE)?;
        let (validity, _) = expect(rest, SEQUENCE)?;
        let (tag, from, rest) = element(validity)?;
        let from = time(tag, from)?;
        let (tag, until, _) = element(rest)?;
        Some(Validity { from, until: time(tag, until)? })
    }
}

/// Returns the content of an element that must be of a kind, and what follows it.
fn expect(bytes: &[u8], wanted: u8) -> Option<(&[u8], &[u8])> {
    let (tag, content, rest) = element(bytes)?;
    (tag == wanted).then_some((content, rest))
}

/// Returns the kind of the first element, its content, and what follows it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = if first & 0x80 == 0 {
        (usize::from(*first), rest)
    } else {
        let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
        if digits.len() > 4 {
            return None;
        }
        (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

/// Reads `YYMMDDHHMMSSZ` or, with the century, `YYYYMMDDHHMMSSZ`.
fn time(tag: u8, content: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(content).ok()?;
    let text = match tag {
        UTC_TIME if text.len() == 13 => {
            let century = if text.get(..2)?.parse::<u8>().ok()? >= 50 { "19" } else { "20" };
            format!("{century}{text}")
        }
        GENERALIZED_TIME if text.len() == 15 => text.to_owned(),
        _ => return None,
    };
    let part = |range: std::ops::Range<usize>| text.get(range);
    let (date, clock) = (
        format!("{}-{}-{}", part(0..4)?, part(4..6)?, part(6..8)?),
        format!("{}:{}:{}", part(8..10)?, part(10..12)?, part(12..15)?),
    );
    format!("{date}T{clock}").parse().ok()
}
