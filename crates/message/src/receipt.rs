//! Receipts: what became of a message, with each of its recipients.

use json::{Finding, Source, Value};

use crate::limits::{RECEIPT_ITEMS_MAX, RECIPIENTS_MAX};
use crate::members::Members;
use crate::read::{self, Fields, Place, boolean, integer, list, object, parsed, string, word};
use crate::{
    Address, AgentRef, Dialect, Guarantee, Kind, Message, MessageId, NativeId, Priority, Reachability, Stage,
    Timestamp, codes,
};

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
            id,
            native_id: message.native_id.clone(),
            dialect: message.origin.as_ref().map_or(Dialect::Convoke, |origin| origin.dialect),
            kind: message.kind,
            from: message.from.clone(),
            to: message.to.clone(),
            priority: message.priority.unwrap_or(Priority::Normal),
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

    /// Returns the receipt as a JSON object.
    pub fn to_value(&self) -> Value<'_> {
        let mut members = Members::new();
        members.put("id", self.id.to_string());
        members.maybe("native_id", self.native_id.as_ref().map(NativeId::as_str));
        members.put("dialect", self.dialect.name());
        members.put("kind", self.kind.name());
        members.put("from", self.from.as_str());
        members.put("to", array(self.to.iter().map(Address::to_string)));
        members.put("priority", self.priority.name());
        members.put("guarantee", self.guarantee.name());
        members.put("stage", self.stage().name());
        members.put("recipients", array(self.recipients.iter().map(RecipientReceipt::to_value)));
        members.put("duplicate", self.duplicate);
        members.put("warnings", array(self.warnings.iter().map(Warning::to_value)));
        members.close()
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

    /// Returns this part of a receipt as a JSON object.
    pub fn to_value(&self) -> Value<'_> {
        let mut members = Members::new();
        members.put("agent", self.agent.to_string());
        members.put("stage", self.stage.name());
        members.put("stages", array(self.stages.iter().map(StageEntry::to_value)));
        members.put("attempts", u64::from(self.attempts));
        members.put("reachability", self.reachability.name());
        members.close()
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

    fn to_value(&self) -> Value<'_> {
        let mut members = Members::new();
        members.put("stage", self.stage.name());
        members.put("at", self.at.to_string());
        members.maybe("by", self.by.as_deref());
        members.close()
    }

    fn read(fields: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let stage = fields.required("stage", word);
        let at = fields.required("at", parsed);
        let by = fields.optional("by", string);
        Some(StageEntry { stage: stage?, at: at?, by })
    }
}

impl Warning {
    /// Returns the warning as a JSON object.
    pub fn to_value(&self) -> Value<'_> {
        let mut members = Members::new();
        members.put("path", self.path.as_str());
        members.put("code", self.code.as_str());
        members.put("source", self.source.name());
        members.put("message", self.message.as_str());
        members.close()
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

fn array<'v, V: Into<Value<'v>>>(items: impl Iterator<Item = V>) -> Value<'v> {
    Value::Array(items.map(Into::into).collect())
}
