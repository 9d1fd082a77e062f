//! A message as a watcher sees it, wherever it came from.

use json::{Object, Value};
use message::{Address, Message};

/// Texts of one message that stand in a prompt beside its own.
const FILES_MAX: usize = 16;

/// A message as a watcher sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Post {
    /// The id to which an answer refers.
    pub id: String,
    /// Who sent it.
    pub from: String,
    /// To whom it went, as a channel says it: an agent or `all`.
    pub to: Option<String>,
    /// Whether it went to this agent and to nobody else.
    pub is_direct: bool,
    /// When it was made.
    pub at: Option<String>,
    /// What it means, by its own word.
    pub kind: String,
    /// Its text alone.
    pub text: Option<String>,
    /// Everything that it says, for a reader.
    pub said: String,
    /// The message that it answers.
    pub reply_to: Option<String>,
    /// How it came to be said: `chat`, `watcher`, `daemon`.
    pub mode: Option<String>,
    /// How many watchers have answered each other before it.
    pub hops: u64,
}

impl Post {
    /// Reads the document of a channel, whatever of it is there. `stem` is its file's name without the ending.
    pub fn from_document(stem: &str, document: &Object<'_>) -> Self {
        let text = |key: &str| document.get(key).and_then(Value::as_str).map(str::to_owned);
        let content = |key: &str| document.get("content").and_then(|content| content.get(key));
        let metadata = |key: &str| document.get("metadata").and_then(|metadata| metadata.get(key));
        let own = content("text").and_then(Value::as_str).map(str::to_owned);
        let code = content("code").and_then(Value::as_str).map(str::to_owned);
        let artifacts = content("artifacts").and_then(Value::as_array).unwrap_or_default();
        let files = artifacts.iter().filter_map(|artifact| match artifact.as_str() {
            Some(path) => Some(path.to_owned()),
            None => artifact.get("path").and_then(Value::as_str).map(str::to_owned),
        });
        Post {
            id: text("id").filter(|id| !id.is_empty()).unwrap_or_else(|| stem.to_owned()),
            from: text("from").unwrap_or_default(),
            to: text("to"),
            is_direct: false,
            at: text("timestamp"),
            kind: text("type").unwrap_or_else(|| "chat".to_owned()),
            said: say([own.clone(), code], files.collect(), None),
            text: own,
            reply_to: metadata("in_reply_to").and_then(Value::as_str).map(str::to_owned),
            mode: metadata("mode").and_then(Value::as_str).map(str::to_owned),
            hops: hops(metadata("hops")),
        }
    }

    /// Reads a message of the bus that was handed to an agent.
    pub fn from_message(id: &str, agent: &str, message: &Message) -> Self {
        let is_room = |address: &Address| match address {
            Address::Channel(_) | Address::Topic(_) | Address::All => true,
            Address::Agent(_) | Address::Session { .. } | Address::Role(_) => false,
        };
        let is_direct = !message.to.iter().any(is_room);
        let files = message.attachments.iter().map(|attachment| attachment.uri.as_str().to_owned()).collect();
        let title = message.title.clone().filter(|title| message.text.as_ref() != Some(title));
        let origin = message.origin.as_ref().and_then(|origin| {
            let document = json::parse_str(&origin.document, json::Limits::DOCUMENT).ok()?;
            Some(hops(document.pointer("/metadata/hops")))
        });
        Post {
            id: id.to_owned(),
            from: message.from.to_string(),
            to: Some(if is_direct { agent.to_owned() } else { "all".to_owned() }),
            is_direct,
            at: message.created.as_ref().map(|created| created.text().to_owned()),
            kind: message.kind.name().to_owned(),
            said: say([title, message.text.clone()], files, Some(message)),
            text: message.text.clone().or_else(|| message.title.clone()),
            reply_to: message.reply_to.as_ref().map(ToString::to_string),
            mode: None,
            hops: hops(message.extra.get("hops")).max(origin.unwrap_or(0)),
        }
    }
}

fn hops(value: Option<&Value<'_>>) -> u64 {
    value.and_then(Value::as_integer).and_then(|hops| u64::try_from(hops).ok()).unwrap_or(0)
}

fn say<const COUNT: usize>(
    parts: [Option<String>; COUNT],
    files: Vec<String>,
    message: Option<&Message>,
) -> String {
    let mut parts: Vec<String> = parts.into_iter().flatten().collect();
    if let Some(message) = message {
        parts.extend(message.code.clone());
        let values = [("data", &message.data), ("result", &message.result)];
        let values = values.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        parts.extend(values.map(|(name, value)| format!("{name}: {}", value.to_json())));
        parts.extend(message.error.as_deref().and_then(|error| error.message.clone()));
    }
    if !files.is_empty() {
        parts
            .push(format!("files: {}", files.iter().take(FILES_MAX).cloned().collect::<Vec<_>>().join(", ")));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}
