//! The data: documents of exactly 1 KiB, which differ in their id and their recipient.
//!
//! All sides carry the same bytes, in our own dialect; a peer does not look into them. Doors for other languages carry
//! theirs, and so do the peers that speak them.

/// The size of a document.
pub(crate) const BYTES: usize = 1024;
/// How many agents there are; each sends and receives.
pub(crate) const AGENTS: usize = 64;

/// A number has so many digits.
const NUMBER_DIGITS: usize = 18;
/// What our own documents have before their number.
const NATIVE_NUMBER: &[u8] = br#""native_id":""#;

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
    /// Whoever sends them.
    Itself,
}

/// In which language documents are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language<'d> {
    /// Our own.
    Native(Worth),
    /// That of the AgentMessage bus; at least once.
    Bus,
    /// Records for the repo of a DID.
    Record(&'d str),
}

/// Documents of one sender, one after the other.
pub(crate) struct Documents {
    text: Vec<u8>,
    number: u64,
    number_at: usize,
    recipient_at: usize,
    /// The first recipient, and how many there are.
    recipients: (u64, u64),
}

/// How a document begins and ends, and what stands before its number and its recipient.
struct Template {
    head: String,
    tail: &'static [u8],
    number_mark: &'static [u8],
    recipient_mark: &'static [u8],
}

impl Documents {
    /// Documents from an agent; numbers that were given out are never given out again.
    pub(crate) fn new(sender: usize, first: u64, language: Language<'_>, recipients: Recipients) -> Self {
        let Template { head, tail, number_mark, recipient_mark } = language.template(sender, first);
        let mut text = head.into_bytes();
        let sentence =
            b"Read every path on which a document is refused, and say whether its limit is checked. ";
        text.extend(sentence.iter().cycle().take(BYTES.saturating_sub(text.len() + tail.len())));
        text.extend_from_slice(tail);
        let recipients = match recipients {
            Recipients::All => (0, AGENTS as u64),
            Recipients::First(count) => (0, count as u64),
            Recipients::Itself => (sender as u64, 1),
        };
        Documents {
            number_at: after(&text, number_mark).unwrap_or_default(),
            recipient_at: after(&text, recipient_mark).unwrap_or_default(),
            text,
            number: first,
            recipients,
        }
    }

    /// The next document.
    pub(crate) fn next(&mut self) -> &[u8] {
        write_digits(&mut self.text[self.number_at..self.number_at + NUMBER_DIGITS], self.number);
        let (first, count) = self.recipients;
        let recipient = first + self.number % count;
        // The name of an agent is a letter and two digits.
        write_digits(&mut self.text[self.recipient_at + 1..self.recipient_at + 3], recipient);
        self.number += 1;
        &self.text
    }
}

impl Language<'_> {
    fn template(self, sender: usize, first: u64) -> Template {
        let (from, to) = (agent(sender), agent(0));
        match self {
            Language::Native(worth) => Template {
                head: native(&from, &to, first, worth),
                tail: b"\"}",
                number_mark: NATIVE_NUMBER,
                recipient_mark: br#""to":[""#,
            },
            Language::Bus => Template {
                head: format!(
                    r#"{{"message_id":"{first:0NUMBER_DIGITS$}","timestamp":"2026-11-16T10:00:00Z","sender":{{"agent_id":"{from}","framework":"codex"}},"recipient":{{"agent_id":"{to}","framework":"codex"}},"message_type":"status_update","priority":"high","routing":{{"timeout":"2h","retry_policy":{{"max_retries":3,"backoff":"linear"}},"delivery_mode":"async"}},"metadata":{{}},"payload":{{"status":"working","message":""#
                ),
                tail: b"\"}}",
                number_mark: br#""message_id":""#,
                recipient_mark: br#""recipient":{"agent_id":""#,
            },
            Language::Record(did) => Template {
                head: format!(
                    r#"{{"repo":"{did}","collection":"agent.comms.message","record":{{"$type":"agent.comms.message","sender":"{did}","recipient":"{}","createdAt":"2026-11-16T10:00:00.000Z","content":{{"kind":"text","text":"{first:0NUMBER_DIGITS$} "#,
                    agent_did(0)
                ),
                tail: b"\"}}}",
                number_mark: br#""text":""#,
                recipient_mark: br#""recipient":"did:web:"#,
            },
        }
    }
}

fn native(from: &str, to: &str, first: u64, worth: Worth) -> String {
    let guarantee = match worth {
        Worth::AtLeastOnce => "at_least_once",
        Worth::AtMostOnce => "at_most_once",
    };
    format!(
        "{{\"convoke\":1,\"native_id\":\"{first:0NUMBER_DIGITS$}\",\"kind\":\"note\",\"from\":\"{from}\",\"to\":[\"{to}\"],\
         \"thread\":\"peers\",\"title\":\"Review the JSON parser\",\"priority\":\"normal\",\
         \"delivery\":{{\"guarantee\":\"{guarantee}\"}},\
         \"data\":{{\"branch\":\"parser-limits\",\"focus\":[\"depth\",\"length of numbers\"],\"tokens_max\":50000}},\
         \"text\":\""
    )
}

/// The DID of an agent.
pub(crate) fn agent_did(place: usize) -> String {
    format!("did:web:{}.example.com", agent(place))
}

/// The name of an agent.
pub(crate) fn agent(place: usize) -> String {
    format!("a{place:02}")
}

/// Finds the number of a document somewhere in what was received.
pub(crate) fn number_in(bytes: &[u8]) -> Option<u64> {
    let at = after(bytes, NATIVE_NUMBER)?;
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
