//! A message as NATS has it: the exact bytes of the file, or a reference where they are too many.

use async_nats::HeaderMap;
use json::{Limits, Object, Value};
use message::Sha256;

/// The header that names the channel, which a subject cannot always do.
const CHANNEL: &str = "Convoke-Channel";
/// The header that says where the bytes are if they are not in the message.
const OBJECT: &str = "Convoke-Object";
/// The bucket of messages that are larger than the server takes in one.
pub(crate) const BUCKET: &str = "CHAT_BLOBS";

/// A message of a channel, to be published or as it was published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The channel.
    pub channel: String,
    /// The id: the stem of the file's name.
    pub id: String,
    /// The bytes of the file.
    pub bytes: Vec<u8>,
}

/// What a published message says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) channel: String,
    pub(crate) id: String,
    /// The digest under which the bytes lie in the bucket.
    pub(crate) object: Option<String>,
}

impl Copy {
    /// Returns to whom and from whom the message goes, as its document says.
    pub(crate) fn parties(&self) -> (String, String) {
        let limits = Limits { bytes_max: self.bytes.len(), ..Limits::DOCUMENT };
        let document = json::parse(&self.bytes, limits);
        let text = |key: &str| {
            let found = document.as_ref().ok().and_then(|document| document.get(key)?.as_str());
            found.unwrap_or_default().to_owned()
        };
        (text("to"), text("from"))
    }

    /// Returns the headers of the message.
    pub(crate) fn headers(&self, message_id: &str, object: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(async_nats::header::NATS_MESSAGE_ID, message_id);
        headers.insert(CHANNEL, self.channel.as_str());
        if let Some(object) = object {
            headers.insert(OBJECT, object);
        }
        headers
    }

    /// Writes what is published in the place of bytes that are too many.
    pub(crate) fn reference(&self, digest: &str) -> String {
        let (to, from) = self.parties();
        let members = Object::from_iter([
            ("id", Value::from(self.id.as_str())),
            ("session_id", Value::from(self.channel.as_str())),
            ("from", Value::from(from)),
            ("to", Value::from(to)),
            ("bucket", Value::from(BUCKET)),
            ("object", Value::from(digest)),
            ("sha256", Value::from(digest)),
            ("size", Value::from(self.bytes.len() as u64)),
        ]);
        Value::Object(members).to_json()
    }

    pub(crate) fn digest(&self) -> String {
        Sha256::of(&self.bytes).to_string()
    }
}

impl Label {
    /// Reads the headers of a message; one without ours is read by what its document says.
    pub(crate) fn read(headers: Option<&HeaderMap>, payload: &[u8]) -> Option<Self> {
        let header =
            |name: &str| headers.and_then(|headers| headers.get(name)).map(|value| value.as_str().to_owned());
        let limits = Limits { bytes_max: payload.len(), ..Limits::DOCUMENT };
        let text = |key: &str| {
            let document = json::parse(payload, limits).ok()?;
            document.get(key).and_then(Value::as_str).map(str::to_owned)
        };
        let channel = header(CHANNEL).or_else(|| text("session_id"))?;
        let id = header("Nats-Msg-Id").or_else(|| text("id"))?;
        // The same id in two channels is published under a longer one.
        let id = id.strip_suffix(&format!("@{channel}")).unwrap_or(&id).to_owned();
        Some(Label { channel, id, object: header(OBJECT) })
    }
}
