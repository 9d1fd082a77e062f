//! Doors to send through: how a letter is written in the language of each, and what the answer says.

use super::{document, text_of};
use crate::history::{Guarantee, Letter};
use crate::http::Answer;
use crate::random::Dice;

/// When everything was written, say the letters; nothing depends on it.
const WRITTEN: &str = "2026-11-16T10:00:00.000Z";
/// The digits of a record key, which is a time.
const TID_DIGITS: &[u8; 32] = b"234567abcdefghijklmnopqrstuvwxyz";
/// A time from which keys are counted, in microseconds, above the ten bits of a clock's number.
const TID_FIRST: u64 = 1_763_000_000_000_000 << 10;

/// A way in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    Native,
    Bus,
    Coord,
    Wire,
    Xrpc,
}

/// A letter as a request, which can be made again.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) path: &'static str,
    /// How it is made again by one who does not know whether the first one came.
    pub(super) path_again: &'static str,
    pub(super) headers: String,
    pub(super) body: String,
}

impl Door {
    /// Tells whether the language of the door can ask for at most once.
    pub(super) fn knows_at_most_once(self) -> bool {
        match self {
            Door::Native | Door::Bus | Door::Coord => true,
            Door::Wire | Door::Xrpc => false,
        }
    }

    /// Tells whether a letter through this door can be about a task.
    pub(super) fn knows_tasks(self) -> bool {
        match self {
            Door::Native | Door::Bus | Door::Coord | Door::Wire => true,
            Door::Xrpc => false,
        }
    }

    /// Writes a letter.
    pub(super) fn write(self, letter: &Letter, number: u64, dice: &mut Dice) -> Request {
        let (path, body) = match self {
            Door::Native => ("/v1/messages", document(letter, dice)),
            Door::Bus => ("/bus/messages/send", bus(letter, dice)),
            Door::Coord => ("/coord/messages", coord(letter, dice)),
            Door::Wire => ("/wire", wire(letter, dice)),
            Door::Xrpc => ("/xrpc/com.atproto.repo.createRecord", record(letter, number)),
        };
        let (mut headers, mut path_again) = (String::new(), path);
        if self == Door::Wire {
            // A wire has no id of its own.
            headers = format!("Idempotency-Key: {}\r\n", letter.name);
        }
        if self == Door::Xrpc {
            headers = "Content-Type: application/json\r\n".to_owned();
            // What is there already is not created again, and putting the same changes nothing.
            path_again = "/xrpc/com.atproto.repo.putRecord";
        }
        Request { path, path_again, headers, body }
    }

    /// Returns the bus's id of what was accepted; empty where the door does not tell it.
    pub(super) fn id_in(self, answer: &Answer) -> String {
        answer.text("id").unwrap_or_default()
    }
}

/// Returns the DID by which an agent is known.
pub(crate) fn did(agent: &str) -> String {
    format!("did:web:{agent}.example.com")
}

fn bus(letter: &Letter, dice: &mut Dice) -> String {
    let Letter { name, from, to, .. } = letter;
    // Whoever wants retries, or finds it urgent, wants it to arrive.
    let (priority, retries) = match letter.guarantee {
        Guarantee::AtMostOnce => (*dice.pick(&["medium", "low"]), 0),
        Guarantee::AtLeastOnce if dice.percent(50) => (*dice.pick(&["critical", "high"]), 0),
        Guarantee::AtLeastOnce => (*dice.pick(&["medium", "low"]), 5),
    };
    let task = letter.task.as_ref().map(|(task, _)| format!(r#""task_id":"{task}""#)).unwrap_or_default();
    format!(
        r#"{{"message_id":"{name}","timestamp":"{WRITTEN}","sender":{{"agent_id":"{from}","framework":"codex"}},"recipient":{{"agent_id":"{to}","framework":"codex"}},"message_type":"status_update","priority":"{priority}","payload":{{"status":"working","message":"{}"}},"routing":{{"timeout":"2h","retry_policy":{{"max_retries":{retries},"backoff":"linear"}},"delivery_mode":"async"}},"metadata":{{{task}}}}}"#,
        text_of(name)
    )
}

fn coord(letter: &Letter, dice: &mut Dice) -> String {
    let Letter { name, from, to, .. } = letter;
    let priority = match letter.guarantee {
        Guarantee::AtLeastOnce => dice.pick(&["critical", "high"]),
        Guarantee::AtMostOnce => dice.pick(&["normal", "low"]),
    };
    let id = uuid(name);
    // Without a task of its own a letter is the only one about it.
    let task = letter.task.as_ref().map_or(name.as_str(), |(task, _)| task);
    format!(
        r#"{{"id":"{id}","timestamp":"{WRITTEN}","from":"{from}","to":"{to}","type":"TASK_UPDATE","payload":{{"task_id":"{task}","status":"in_progress","event":{{"timestamp":"{WRITTEN}","event_type":"note","agent_id":"{from}","details":{{"message":"{}"}}}}}},"metadata":{{"priority":"{priority}","retry_count":0,"max_retries":9}}}}"#,
        text_of(name)
    )
}

fn wire(letter: &Letter, dice: &mut Dice) -> String {
    let Letter { name, from, to, .. } = letter;
    let priority = dice.range(1, 3);
    let task = letter.task.as_ref().map_or("null".to_owned(), |(task, _)| format!("\"{task}\""));
    format!(
        r#"{{"wire":"1.0","type":"inbox","sender":"{from}","ts":"{WRITTEN}","payload":{{"to_agent":"{to}","priority":{priority},"message_type":"info","ref_task_id":{task},"subject":"{name}","body":"{}","action_required":false}}}}"#,
        text_of(name)
    )
}

fn record(letter: &Letter, number: u64) -> String {
    let Letter { name, from, to, .. } = letter;
    let (sender, recipient, rkey) = (did(from), did(to), tid(TID_FIRST + (number << 10)));
    let text = text_of(name);
    format!(
        r#"{{"repo":"{sender}","collection":"agent.comms.message","rkey":"{rkey}","record":{{"$type":"agent.comms.message","sender":"{sender}","recipient":"{recipient}","content":{{"kind":"text","text":"{text}"}},"createdAt":"{WRITTEN}"}}}}"#
    )
}

/// Returns the number of the letter that became the record at a URI, which stands in its key.
pub(crate) fn number_in(uri: &str) -> Option<u64> {
    let (_, key) = uri.rsplit_once('/')?;
    let digit = |byte: u8| TID_DIGITS.iter().position(|digit| *digit == byte).map(|digit| digit as u64);
    let bits = key.bytes().try_fold(0_u64, |bits, byte| Some(bits << 5 | digit(byte)?))?;
    bits.checked_sub(TID_FIRST).map(|bits| bits >> 10)
}

/// Writes a record that goes to nobody, as the last of a repo.
pub(crate) fn last_record(agent: &str, name: &str) -> String {
    let repo = did(agent);
    format!(
        r#"{{"repo":"{repo}","collection":"agent.comms.last","validate":false,"record":{{"text":"{}"}}}}"#,
        text_of(name)
    )
}

/// Makes an id of a name.
fn uuid(name: &str) -> String {
    let hash = |seed: u64| {
        name.bytes().fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    };
    let (high, low) = (hash(0xcbf2_9ce4_8422_2325), hash(0x8422_2325_cbf2_9ce4));
    format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        low >> 52,
        low & 0xffff_ffff_ffff
    )
}

fn tid(bits: u64) -> String {
    let digit = |place: u32| char::from(TID_DIGITS[usize::try_from((bits >> (5 * place)) & 31).unwrap_or(0)]);
    (0..13).rev().map(digit).collect()
}
