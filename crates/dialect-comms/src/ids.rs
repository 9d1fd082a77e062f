//! Ids that the AT Protocol demands and other dialects do not have: TIDs, AT-URIs and DIDs.
//!
//! All are derived: the same message gives the same ids every time.

use atproto_syntax::{Tid, tid};
use dialect::Names;
use message::{Address, AgentRef, Message, MessageId, NativeId, Sha256, Timestamp, limits};

use crate::Record;

/// Returns the key under which a message is stored as a record: a TID of the time at which it was created,
/// its clock id taken from the hash of the id that its sender gave it.
pub fn record_key(message: &Message) -> Tid {
    let native = message.native_id.as_ref().map(NativeId::as_str);
    let digest = match (native, message.id) {
        (Some(native), _) => Sha256::of(native.as_bytes()),
        (None, Some(id)) => Sha256::of(id.to_string().as_bytes()),
        (None, None) => Sha256::of(message.encode().as_bytes()),
    };
    let micros = message.created.as_ref().map_or(0, |created| created.at().unix_micros());
    tid_from(u64::try_from(micros).unwrap_or(0), clock_id(digest))
}

/// Returns the TID that stands for a thread, a task or a message that is named by any text.
///
/// A TID stands for itself. A UUID of version 7 keeps its time. Anything else gets a time before the year
/// 2006, when no record was written, so that it cannot meet a real one.
pub fn tid_of(text: &str) -> Tid {
    if let Ok(tid) = text.parse() {
        return tid;
    }
    let digest = Sha256::of(text.as_bytes());
    if let Some(millis) = text.parse::<MessageId>().ok().and_then(MessageId::unix_millis) {
        return tid_from(millis.saturating_mul(1_000), clock_id(digest));
    }
    let [a, b, c, d, e, f, g, h, ..] = digest.to_bytes();
    let bits = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
    tid_from(bits >> 14, clock_id(digest))
}

/// Returns the AT-URI of the record that a text names: itself if it is one, else one derived from it.
pub(crate) fn at_uri_of(text: &str, authority: &str, record: Record) -> String {
    if is_at_uri(text) {
        return text.to_owned();
    }
    format!("at://{authority}/{}/{}", record.name(), tid_of(text))
}

/// Returns the DID of an agent that is valid in a record, and whether it is known rather than made up.
pub(crate) fn did_of(agent: &str, names: &Names) -> (String, bool) {
    let (did, known) = names.did(agent);
    if atproto_syntax::did::check(&did).is_ok() { (did, known) } else { (stand_in(agent, names), false) }
}

/// Returns a DID that stands in for an agent, whatever it is called.
pub(crate) fn stand_in(agent: &str, names: &Names) -> String {
    Names::default().did(&names.slug(agent)).0
}

/// Returns the agent that an address means, if it means one.
pub(crate) fn agent_of(address: &Address) -> Option<&str> {
    match address {
        Address::Agent(agent) => Some(AgentRef::as_str(agent)),
        Address::Session { agent, .. } => Some(agent.as_str()),
        Address::Role(_) | Address::Topic(_) | Address::Channel(_) | Address::All => None,
    }
}

/// Returns what stands before the first slash of an AT-URI, or of the running network's ids without `at://`.
pub(crate) fn authority_of(uri: &str) -> Option<&str> {
    let path = uri.strip_prefix("at://").unwrap_or(uri);
    path.split(['/', '#']).next().filter(|authority| !authority.is_empty())
}

/// Returns the collection that an AT-URI leads to.
pub(crate) fn collection_of(uri: &str) -> Option<&str> {
    let path = uri.strip_prefix("at://").unwrap_or(uri);
    path.split('#').next()?.split('/').nth(1).filter(|collection| !collection.is_empty())
}

pub(crate) fn is_at_uri(text: &str) -> bool {
    atproto_syntax::at_uri::check(text).is_ok()
}

/// Tells whether a text can be a thread, a task or a reference of a message.
pub(crate) fn is_reference(text: &str) -> bool {
    !text.is_empty() && text.len() <= limits::ID_BYTES_MAX && !text.chars().any(char::is_control)
}

pub(crate) fn is_timestamp(text: &str) -> bool {
    text.parse::<Timestamp>().is_ok()
}

/// Takes the first three hexadecimal digits of a digest, of which ten bits are the clock id.
fn clock_id(digest: Sha256) -> u16 {
    let [first, second, ..] = digest.to_bytes();
    (u16::from(first) << 4 | u16::from(second) >> 4) & tid::CLOCK_ID_MAX
}

fn tid_from(micros: u64, clock_id: u16) -> Tid {
    Tid::from_parts(micros.min(tid::MICROS_MAX), clock_id).expect("both parts are within their bounds")
}
