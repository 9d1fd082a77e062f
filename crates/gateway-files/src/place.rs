//! Where a message goes: the channel and the name of its file, always the same for the same message.

use dialect_channel::addressing::base_id;
use dialect_channel::file_name::{FileName, id_for};
use dialect_channel::{channel_of, is_channel_name};
use json::{Limits, Value};
use message::{MessageId, Sha256, Timestamp};

/// How many digits a name has at the end, one after the other, as long as it is another message's.
const DIGITS: [usize; 3] = [8, 16, 64];

/// A message as a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) channel: String,
    /// Ids that its file may have; each next one is for when another message has the one before.
    pub(crate) ids: Vec<String>,
    pub(crate) text: String,
}

/// Finds the place of a document of dialect `channel`.
pub(crate) fn place(text: String, id: MessageId, came: Timestamp, from: &str, to: &str) -> Placed {
    let document = json::parse_str(&text, Limits::DOCUMENT).ok();
    let said = |key: &str| document.as_ref().and_then(|it| it.get(key)).and_then(Value::as_str);
    let session = said("session_id").or_else(|| said("channel"));
    let channel = match session {
        Some(name) if is_channel_name(name) && !name.starts_with('.') => name.to_owned(),
        Some(name) => channel_of(name).to_string(),
        None => format!("direct-{from}-{to}"),
    };
    let own = said("id").filter(|id| is_id(id)).map(str::to_owned);
    let first = own.unwrap_or_else(|| id_for(&id.to_string(), came, base_id(from)));
    let digest = Sha256::of(id.to_string().as_bytes()).to_string();
    let longer = |digits: usize| {
        let hex = digest.get(..digits)?;
        Some(FileName { hex: hex.into(), ..FileName::parse(&first)? }.to_string())
    };
    let ids = std::iter::once(first.clone()).chain(DIGITS.into_iter().filter_map(longer)).collect();
    Placed { channel, ids, text }
}

/// Returns a file's document as the bus takes it: its id is what the file is called, its channel where it lies.
///
/// A file that says so itself is taken to the byte.
pub(crate) fn as_it_lies(bytes: &[u8], channel: &str, id: &str) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut document = json::parse_str(text, Limits::DOCUMENT).ok()?;
    let says = |key: &str, value: &str| document.get(key).and_then(Value::as_str) == Some(value);
    if says("id", id) && says("session_id", channel) {
        return Some(text.to_owned());
    }
    let members = document.as_object_mut()?;
    members.insert("id", Value::from(id.to_owned()));
    members.insert("session_id", Value::from(channel.to_owned()));
    Some(document.to_json())
}

fn is_id(id: &str) -> bool {
    FileName::parse(id).is_some_and(|name| name.to_string() == id)
}
