//! What somebody wants to say in a channel, and the document that says it.

use dialect_channel::addressing::base_id;
use json::{Object, Value};
use message::Timestamp;

/// What somebody wants to say in a channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// Who says it.
    pub agent: String,
    /// To whom: an agent, `all` or `human`.
    pub to: String,
    /// The word of `type`; `chat` for what is just said.
    pub kind: String,
    /// The text.
    pub text: String,
    /// Code beside it.
    pub code: Option<String>,
    /// Files beside it: paths, or objects with a path.
    pub artifacts: Vec<Value<'static>>,
    /// How it came to be said: `chat`, `watcher`, `daemon`.
    pub mode: String,
    /// The message that it answers.
    pub in_reply_to: Option<String>,
    /// What else is to stand in `metadata`.
    pub metadata: Vec<(String, Value<'static>)>,
}

impl Draft {
    /// Starts with what is said to whom; the rest is as for a word in a chat.
    pub fn new(agent: impl Into<String>, to: impl Into<String>, text: impl Into<String>) -> Self {
        Draft {
            agent: agent.into(),
            to: to.into(),
            kind: "chat".to_owned(),
            text: text.into(),
            code: None,
            artifacts: Vec::new(),
            mode: "chat".to_owned(),
            in_reply_to: None,
            metadata: Vec::new(),
        }
    }

    /// Writes the document. Ids that are no longer in use are never written.
    pub fn document(&self, id: &str, channel: &str, at: Timestamp) -> String {
        let text = |text: &str| Value::from(text.to_owned());
        let maybe = |text: &Option<String>| text.clone().map_or(Value::Null, Value::from);
        let agent = base_id(&self.agent);
        let content = Object::from_iter([
            ("text", text(&self.text)),
            ("code", maybe(&self.code)),
            ("artifacts", Value::Array(self.artifacts.clone())),
        ]);
        let mut metadata: Object<'static> = Object::new();
        metadata.insert("mode", text(&self.mode));
        metadata.insert("turn", text(agent));
        metadata.insert("in_reply_to", maybe(&self.in_reply_to));
        for (key, value) in &self.metadata {
            metadata.insert(key.clone(), value.clone());
        }
        let document = Object::from_iter([
            ("id", text(id)),
            ("timestamp", Value::from(written(at))),
            ("session_id", text(channel)),
            ("from", text(agent)),
            ("to", text(base_id(&self.to))),
            ("type", text(&self.kind)),
            ("content", Value::Object(content)),
            ("metadata", Value::Object(metadata)),
        ]);
        Value::Object(document).to_json()
    }
}

/// Writes an instant as files have it: in UTC, with milliseconds.
pub(crate) fn written(at: Timestamp) -> String {
    let text = at.to_string();
    let millis = at.unix_micros().rem_euclid(1_000_000) / 1_000;
    format!("{}.{millis:03}Z", text.get(..19).unwrap_or(&text))
}
