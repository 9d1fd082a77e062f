//! The lines of an export, read back.

use dialect::Name;
use json::{Limits, Value};
use message::Stage;

use crate::commands::export::{FORMAT, VERSION};

/// One line.
pub(super) enum Line {
    /// It says that this is an export.
    Head,
    Agent(ExportedAgent),
    /// A lexicon of the operator, as it was written.
    Lexicon(String),
    Message(ExportedMessage),
    /// A message that was over, of which only its receipt was left.
    Gone,
}

/// An agent as it was exported.
pub(super) struct ExportedAgent {
    pub(super) name: String,
    pub(super) aliases: Vec<String>,
    pub(super) dialect: Option<Name>,
    pub(super) framework: Option<String>,
    pub(super) memberships: Vec<String>,
    pub(super) speaks_for: Vec<String>,
}

/// A message as it was exported.
pub(super) struct ExportedMessage {
    pub(super) id: String,
    pub(super) from: String,
    pub(super) dialect: Option<Name>,
    pub(super) document: String,
    /// Whether nobody was to get it any more.
    pub(super) is_settled: bool,
}

impl ExportedAgent {
    /// Tells whether it is one of those that every bus has.
    pub(super) fn is_reserved(&self) -> bool {
        self.name.parse::<message::AgentName>().is_ok_and(|name| name.is_reserved())
    }
}

/// Reads a line, or says what is wrong with it.
pub(super) fn read(bytes: &[u8], limits: Limits) -> Result<Line, String> {
    let value = json::parse(bytes, limits).map_err(|error| format!("not JSON: {error}"))?;
    match value.get("type").and_then(Value::as_str) {
        Some(FORMAT) => match value.get("version").and_then(Value::as_integer) {
            Some(VERSION) => Ok(Line::Head),
            Some(newer) => Err(format!("an export of version {newer}, which this version does not read")),
            None => Err("an export without its version".to_owned()),
        },
        Some("agent") => agent(&value).map(Line::Agent),
        Some("message") if value.get("gone").and_then(Value::as_bool) == Some(true) => Ok(Line::Gone),
        Some("lexicon") => {
            let document = value.get("document").ok_or("a lexicon without its document")?;
            Ok(Line::Lexicon(document.to_json()))
        }
        Some("message") => message(&value).map(Line::Message),
        Some(_) | None => Err("neither an agent nor a message".to_owned()),
    }
}

fn agent(value: &Value<'_>) -> Result<ExportedAgent, String> {
    Ok(ExportedAgent {
        name: text(value, "agent").ok_or("an agent without a name")?,
        aliases: texts(value, "aliases"),
        dialect: text(value, "dialect").as_deref().and_then(Name::from_name),
        framework: text(value, "framework"),
        memberships: texts(value, "memberships"),
        speaks_for: texts(value, "speaks_for"),
    })
}

fn message(value: &Value<'_>) -> Result<ExportedMessage, String> {
    let document = value.get("document").map(Value::to_json).or_else(|| text(value, "text"));
    let stage = value.pointer("/receipt/stage").and_then(Value::as_str).and_then(Stage::from_name);
    Ok(ExportedMessage {
        id: text(value, "id").ok_or("a message without an id")?,
        from: text(value, "from").ok_or("a message without a sender")?,
        dialect: text(value, "dialect").as_deref().and_then(Name::from_name),
        document: document.ok_or("a message without its document")?,
        is_settled: stage.is_some_and(Stage::is_end),
    })
}

fn text(value: &Value<'_>, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn texts(value: &Value<'_>, key: &str) -> Vec<String> {
    let list = value.get(key).and_then(Value::as_array).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
