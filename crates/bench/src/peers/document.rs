//! The data: documents of exactly 1 KiB in our own dialect, which differ in their id and their recipient.
//!
//! All sides carry the same bytes; a peer does not look into them.

/// The size of a document.
pub(crate) const BYTES: usize = 1024;
/// How many agents there are; each sends and receives.
pub(crate) const AGENTS: usize = 64;

/// What stands before the number of a document.
const NUMBER_MARK: &[u8] = br#""native_id":""#;
/// A number has so many digits.
const NUMBER_DIGITS: usize = 18;
const RECIPIENT_MARK: &[u8] = br#""to":[""#;

/// How much a document is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worth {
    AtLeastOnce,
    AtMostOnce,
}

/// Who gets the documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recipients {
    /// All agents in turn.
    All,
    /// As many as there are consumers.
    First(usize),
}

/// Documents of one sender, one after the other.
pub(crate) struct Documents {
    text: Vec<u8>,
    number: u64,
    number_at: usize,
    recipient_at: usize,
    recipients: usize,
}

impl Documents {
    /// Documents from an agent; numbers that were given out are never given out again.
    pub(crate) fn new(sender: usize, first: u64, worth: Worth, recipients: Recipients) -> Self {
        let guarantee = match worth {
            Worth::AtLeastOnce => "at_least_once",
            Worth::AtMostOnce => "at_most_once",
        };
        let head = format!(
            "{{\"convoke\":1,\"native_id\":\"{first:0NUMBER_DIGITS$}\",\"kind\":\"note\",\"from\":\"{}\",\"to\":[\"{}\"],\
             \"thread\":\"peers\",\"title\":\"Review the JSON parser\",\"priority\":\"normal\",\
             \"delivery\":{{\"guarantee\":\"{guarantee}\"}},\
             \"data\":{{\"branch\":\"parser-limits\",\"focus\":[\"depth\",\"length of numbers\"],\"tokens_max\":50000}},\
             \"text\":\"",
            agent(sender),
            agent(0),
        );
        let mut text = head.into_bytes();
        let sentence =
            b"Read every path on which a document is refused, and say whether its limit is checked. ";
        text.extend(sentence.iter().cycle().take(BYTES.saturating_sub(text.len() + 2)));
        text.extend_from_slice(b"\"}");
        let recipients = match recipients {
            Recipients::All => AGENTS,
            Recipients::First(count) => count,
        };
        Documents {
            number_at: after(&text, NUMBER_MARK).unwrap_or_default(),
            recipient_at: after(&text, RECIPIENT_MARK).unwrap_or_default(),
            text,
            number: first,
            recipients,
        }
    }

    /// The next document.
    pub(crate) fn next(&mut self) -> &[u8] {
        write_digits(&mut self.text[self.number_at..self.number_at + NUMBER_DIGITS], self.number);
        let recipient = self.number % self.recipients as u64;
        // The name of an agent is a letter and two digits.
        write_digits(&mut self.text[self.recipient_at + 1..self.recipient_at + 3], recipient);
        self.number += 1;
        &self.text
    }
}

/// The name of an agent.
pub(crate) fn agent(place: usize) -> String {
    format!("a{place:02}")
}

/// Finds the number of a document somewhere in what was received.
pub(crate) fn number_in(bytes: &[u8]) -> Option<u64> {
    let at = after(bytes, NUMBER_MARK)?;
    std::str::from_utf8(bytes.get(at..at + NUMBER_DIGITS)?).ok()?.parse().ok()
}

/// Where the first such mark ends.
pub(crate) fn after(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    let at = bytes.windows(mark.len()).position(|window| window == mark)?;
    Some(at + mark.len())
}

fn write_digits(place: &mut [u8], mut number: u64) {
    for digit in place.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}
