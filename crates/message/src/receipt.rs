//! Receipts: what became of a message, with each of its recipients.

use json::{Finding, Limits, Source, Value, write_string};

use crate::limits::{RECEIPT_ITEMS_MAX, RECIPIENTS_MAX};
use crate::read::{self, Fields, Place, boolean, integer, list, object, parsed, string, word};
use crate::written::Written;
use crate::{
    Address, AgentRef, Dialect, Guarantee, Kind, Message, MessageId, NativeId, Priority, Reachability, Stage,
    Timestamp, codes,
};

/// Bytes of most receipts.
const JSON_BYTES: usize = 768;

/// What became of one message.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Receipt {
    /// The id of the message on this bus.
    pub id: MessageId,
    /// The id that the sender gave.
    pub native_id: Option<NativeId>,
    /// The language in which it came.
    pub dialect: Dialect,
    /// What it means.
    pub kind: Kind,
    /// Who sent it.
    pub from: AgentRef,
    /// To whom it was sent.
    pub to: Vec<Address>,
    /// How urgent it is.
    pub priority: Priority,
    /// How often it may arrive.
    pub guarantee: Guarantee,
    /// Each recipient's part.
    pub recipients: Vec<RecipientReceipt>,
    /// Whether the message had come before, and this is the receipt of then.
    pub duplicate: bool,
    /// What the sender should know.
    pub warnings: Vec<Warning>,
}

/// What became of a message with one recipient.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecipientReceipt {
    /// Who it is; a queue until one of its members takes the message.
    pub agent: Address,
    /// How far the message has come.
    pub stage: Stage,
    /// How it came there, oldest first.
    pub stages: Vec<StageEntry>,
    /// How often it was handed out.
    pub attempts: u32,
    /// How the recipient can be reached.
    pub reachability: Reachability,
}

/// One step of a message.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StageEntry {
    /// What was reached.
    pub stage: Stage,
    /// When.
    pub at: Timestamp,
    /// By which gateway, adapter or agent.
    pub by: Option<String>,
}

/// Something that the sender should know, though the message was accepted; a [`Finding`] that can be read back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// The place in the sender's document; empty for the whole.
    pub path: String,
    /// A stable code for programs.
    pub code: String,
    /// Whether the shape was odd or a rule was touched.
    pub source: Source,
    /// A sentence for people.
    pub message: String,
}

impl Receipt {
    /// Makes the receipt of a message that has just been accepted.
    pub fn new(id: MessageId, guarantee: Guarantee, message: &Message) -> Self {
        Receipt {
            native_id: message.native_id.clone(),
            dialect: message.origin.as_ref().map_or(Dialect::Convoke, |origin| origin.dialect),
            priority: message.priority.unwrap_or(Priority::Normal),
            ..Receipt::of(id, guarantee, message.kind, message.from.clone(), message.to.clone())
        }
    }

    /// Makes the receipt of a message of which nothing else is known.
    pub fn of(id: MessageId, guarantee: Guarantee, kind: Kind, from: AgentRef, to: Vec<Address>) -> Self {
        Receipt {
            id,
            native_id: None,
            dialect: Dialect::Convoke,
            kind,
            from,
            to,
            priority: Priority::Normal,
            guarantee,
            recipients: Vec::new(),
            duplicate: false,
            warnings: Vec::new(),
        }
    }

    /// Returns the stage of the recipient with whom the message is least advanced.
    ///
    /// Nobody gets a receipt before the message is durable, so without any recipient it is stored.
    pub fn stage(&self) -> Stage {
        self.recipients.iter().map(|recipient| recipient.stage).min().unwrap_or(Stage::Stored)
    }

    /// Returns the receipt as JSON.
    pub fn to_json(&self) -> String {
        let mut text = String::with_capacity(JSON_BYTES);
        self.write(&mut text);
        text
    }

    /// Returns the receipt as a JSON object, for who wants to look into it; who only sends it takes the text.
    pub fn to_value(&self) -> Value<'static> {
        let text = self.to_json();
        let limits = Limits { bytes_max: text.len(), ..Limits::DOCUMENT };
        json::parse_str(&text, limits).expect("a receipt is written as JSON").into_owned()
    }

    fn write(&self, text: &mut String) {
        let mut written = Written::begin(text);
        written.shown("id", self.id);
        written.maybe("native_id", self.native_id.as_ref().map(NativeId::as_str));
        written.word("dialect", self.dialect.name());
        written.word("kind", self.kind.name());
        written.text("from", self.from.as_str());
        written.list("to", &self.to, write_address);
        written.word("priority", self.priority.name());
        written.word("guarantee", self.guarantee.name());
        written.word("stage", self.stage().name());
        written.list("recipients", &self.recipients, RecipientReceipt::write);
        written.flag("duplicate", self.duplicate);
        written.list("warnings", &self.warnings, Warning::write);
        written.end();
    }

    /// Reads a receipt, or reports everything that is wrong with it; fields that we do not know are ignored.
    pub fn from_value(value: Value<'_>) -> Result<Self, Vec<Finding>> {
        read::document(value, Receipt::read).map(|(receipt, _)| receipt)
    }

    fn read(fields: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let id = fields.required("id", parsed);
        let native_id = fields.optional("native_id", parsed);
        let dialect = fields.required("dialect", word);
        let kind = fields.required("kind", word);
        let from = fields.required("from", parsed);
        let to = fields.required("to", list(RECIPIENTS_MAX, parsed));
        let priority = fields.required("priority", word);
        let guarantee = fields.required("guarantee", word);
        let recipients =
            fields.required("recipients", list(RECEIPT_ITEMS_MAX, object(RecipientReceipt::read)));
        let duplicate = fields.optional("duplicate", boolean).unwrap_or(false);
        let warnings = fields.list("warnings", RECEIPT_ITEMS_MAX, object(Warning::read));
        Some(Receipt {
            id: id?,
            native_id,
            dialect: dialect?,
            kind: kind?,
            from: from?,
            to: to?,
            priority: priority?,
            guarantee: guarantee?,
            recipients: recipients?,
            duplicate,
            warnings,
        })
    }
}

impl RecipientReceipt {
    /// Makes the part of a recipient to whom nothing has been handed out yet.
    pub fn new(agent: Address, reachability: Reachability) -> Self {
        RecipientReceipt { agent, stage: Stage::Accepted, stages: Vec::new(), attempts: 0, reachability }
    }

    fn write(&self, text: &mut String) {
        let mut written = Written::begin(text);
        written.text("agent", &self.agent.to_string());
        written.word("stage", self.stage.name());
        written.list("stages", &self.stages, StageEntry::write);
        written.number("attempts", self.attempts);
        written.word("reachability", self.reachability.name());
        written.end();
    }

    fn read(fields: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let agent = fields.required("agent", parsed);
        let stage = fields.required("stage", word);
        let stages = fields.list("stages", RECEIPT_ITEMS_MAX, object(StageEntry::read));
        let attempts = fields.optional("attempts", integer(0..=u32::MAX.into())).unwrap_or(0);
        let reachability = fields.required("reachability", word);
        Some(RecipientReceipt { agent: agent?, stage: stage?, stages, attempts, reachability: reachability? })
    }
}

impl StageEntry {
    /// Makes a step of which nothing else is known.
    pub fn new(stage: Stage, at: Timestamp) -> Self {
        StageEntry { stage, at, by: None }
    }

    fn write(&self, text: &mut String) {
        let mut written = Written::begin(text);
        written.word("stage", self.stage.name());
        written.shown("at", self.at);
        written.maybe("by", self.by.as_deref());
        written.end();
    }

    fn read(fields: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let stage = fields.required("stage", word);
        let at = fields.required("at", parsed);
        let by = fields.optional("by", string);
        Some(StageEntry { stage: stage?, at: at?, by })
    }
}

impl Warning {
    /// Returns the warning as JSON.
    pub fn to_json(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) {
        let mut written = Written::begin(text);
        written.text("path", &self.path);
        written.text("code", &self.code);
        written.word("source", self.source.name());
        written.text("message", &self.message);
        written.end();
    }

    fn read(fields: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let path = fields.optional("path", string).unwrap_or_default();
        let code = fields.required("code", string);
        let source = fields.required("source", source);
        let message = fields.optional("message", string).unwrap_or_default();
        Some(Warning { path, code: code?, source: source?, message })
    }
}

impl From<Finding> for Warning {
    fn from(finding: Finding) -> Self {
        Warning {
            path: finding.path,
            code: finding.code.to_owned(),
            source: finding.source,
            message: finding.message,
        }
    }
}

fn source(value: Value<'_>, place: &mut Place<'_, '_>) -> Option<Source> {
    let name = string(value, place)?;
    let found = [Source::Schema, Source::Rule].into_iter().find(|source| source.name() == name);
    found.or_else(|| place.refuse(codes::ENUM, || format!("{name:?} is none of schema, rule")))
}

fn write_address(address: &Address, text: &mut String) {
    write_string(text, &address.to_string()).expect("a string takes whatever is written");
}
