//! Where a message goes: the channel and the name of its file, always the same for the same message. And what a file
//! says where it lies.

use std::borrow::Cow;

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

/// A file's document as the bus takes it: its id is what the file is called, its channel where it lies.
pub(crate) struct Located<'f> {
    /// Its text: the very bytes of a file that says so itself.
    pub(crate) text: Cow<'f, str>,
    /// What the text says.
    pub(crate) value: Value<'f>,
    /// The channel that the file names, if it names another one.
    pub(crate) other_channel: Option<String>,
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

/// Reads a file's document as the bus takes it. Nothing if it holds no JSON object, or would be too large with what the
/// folder says.
pub(crate) fn as_it_lies<'f>(bytes: &'f [u8], channel: &str, id: &str) -> Option<Located<'f>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut value = json::parse_str(text, Limits::DOCUMENT).ok()?;
    let members = value.as_object_mut()?;
    let said = |key: &str| members.get(key).and_then(Value::as_str);
    let (said_id, said_channel) = (said("id"), said("session_id"));
    let other_channel = said_channel.filter(|name| *name != channel).map(str::to_owned);
    if said_id == Some(id) && said_channel == Some(channel) {
        return Some(Located { text: Cow::Borrowed(text), value, other_channel });
    }
    members.insert("id", Value::from(id.to_owned()));
    members.insert("session_id", Value::from(channel.to_owned()));
    let text = value.to_json();
    let fits = text.len() <= Limits::DOCUMENT.bytes_max;
    fits.then_some(Located { text: Cow::Owned(text), value, other_channel })
}

fn is_id(id: &str) -> bool {
    FileName::parse(id).is_some_and(|name| name.to_string() == id)
}
