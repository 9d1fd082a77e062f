//! What comes through a socket.

use std::borrow::Cow;
use std::ops::Range;

use json::Value;
use message::{DeliveryId, Dialect, MessageId, Receipt, Stage};
use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::scan::{Members, plain};
use crate::{ClientError, messages, read};

/// Something that came.
#[derive(Debug)]
pub enum SocketItem {
    /// What became of a document that was sent.
    Receipt(SocketReceipt),
    /// That several documents were stored: all up to one that are not told of by themselves.
    Receipts(SocketReceipts),
    /// The reply that a send waited for.
    Reply(SocketReply),
    /// A message for this agent.
    Delivery(SocketDelivery),
    /// A settling was done.
    Done {
        /// The number it was given.
        reference: Option<u64>,
    },
    /// Something was refused.
    Problem(SocketProblem),
}

/// A receipt, brief or full.
#[derive(Debug)]
#[non_exhaustive]
pub struct SocketReceipt {
    /// The number that sending returned.
    pub reference: u64,
    /// The id of the message.
    pub id: MessageId,
    /// How far it is.
    pub stage: Stage,
    /// Whether it had come before.
    pub duplicate: bool,
    full: Option<Utf8Bytes>,
}

/// One receipt for several documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SocketReceipts {
    /// The number that sending the last of them returned.
    pub upto: u64,
    /// How many they are.
    pub count: u64,
    /// The id of the last.
    pub id: MessageId,
}

/// A reply that was waited for.
#[derive(Debug)]
#[non_exhaustive]
pub struct SocketReply {
    /// The number that sending returned.
    pub reference: u64,
    /// The id of the reply.
    pub id: Option<MessageId>,
    /// By which to acknowledge it, if it has to be.
    pub delivery: Option<DeliveryId>,
    /// Its language.
    pub dialect: Option<Dialect>,
    frame: Utf8Bytes,
    document: Range<usize>,
}

/// A message that was handed out.
#[derive(Debug)]
#[non_exhaustive]
pub struct SocketDelivery {
    /// By which to acknowledge it.
    pub delivery: DeliveryId,
    /// The id of the message.
    pub id: MessageId,
    /// The how manieth time it is handed out.
    pub attempt: u64,
    /// Its language.
    pub dialect: Option<Dialect>,
    frame: Utf8Bytes,
    document: Range<usize>,
}

/// Something that was refused.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SocketProblem {
    /// The number that sending returned, if it was about that.
    pub reference: Option<u64>,
    /// The delivery, if it was about one.
    pub delivery: Option<DeliveryId>,
    /// The stable code.
    pub code: String,
    /// A sentence for people.
    pub detail: String,
    /// The whole as the bus sent it.
    pub json: Value<'static>,
}

impl SocketReceipt {
    /// Reads the whole receipt, if this socket gets full ones.
    pub fn full(&self) -> Result<Option<Receipt>, ClientError> {
        let Some(frame) = &self.full else { return Ok(None) };
        messages::receipt(read::parse(frame.as_bytes())?).map(Some)
    }
}

impl SocketReply {
    /// Returns the reply, JSON.
    pub fn document(&self) -> &str {
        self.frame.get(self.document.clone()).unwrap_or_default()
    }
}

impl SocketDelivery {
    /// Returns the document, JSON.
    pub fn document(&self) -> &str {
        self.frame.get(self.document.clone()).unwrap_or_default()
    }

    /// Returns what else came with it, such as `from`, `kind`, `priority` or `lease_until`.
    pub fn get(&self, key: &str) -> Option<Cow<'_, str>> {
        let frame = self.frame.as_str();
        let (_, value) = Members::new(frame).find(|(name, _)| *name == key)?;
        frame.get(value).map(plain)
    }
}

/// Where the members of a frame stand that any of the items has.
#[derive(Default)]
struct Found<'t> {
    op: &'t str,
    reference: Option<u64>,
    id: Option<MessageId>,
    delivery: Option<DeliveryId>,
    stage: Option<Stage>,
    dialect: Option<Dialect>,
    duplicate: bool,
    attempt: Option<u64>,
    document: Option<Range<usize>>,
    is_full: bool,
    upto: Option<u64>,
    count: Option<u64>,
}

/// Reads a frame.
pub(crate) fn read(frame: Utf8Bytes) -> Result<SocketItem, ClientError> {
    let found = find(frame.as_str());
    match found.op {
        "receipt" => {
            let (reference, id, stage) = (
                found.reference.ok_or_else(|| read::missing("ref"))?,
                found.id.ok_or_else(|| read::missing("id"))?,
                found.stage.ok_or_else(|| read::missing("stage"))?,
            );
            let (duplicate, is_full) = (found.duplicate, found.is_full);
            let full = is_full.then_some(frame);
            Ok(SocketItem::Receipt(SocketReceipt { reference, id, stage, duplicate, full }))
        }
        "receipts" => Ok(SocketItem::Receipts(SocketReceipts {
            upto: found.upto.ok_or_else(|| read::missing("upto"))?,
            count: found.count.ok_or_else(|| read::missing("count"))?,
            id: found.id.ok_or_else(|| read::missing("id"))?,
        })),
        "deliver" => {
            let delivery = found.delivery.ok_or_else(|| read::missing("delivery"))?;
            let id = found.id.ok_or_else(|| read::missing("id"))?;
            let document = found.document.ok_or_else(|| read::missing("document"))?;
            let (attempt, dialect) = (found.attempt.unwrap_or(1), found.dialect);
            Ok(SocketItem::Delivery(SocketDelivery { delivery, id, attempt, dialect, frame, document }))
        }
        "reply" => {
            let reference = found.reference.ok_or_else(|| read::missing("ref"))?;
            let document = found.document.ok_or_else(|| read::missing("document"))?;
            let (id, delivery, dialect) = (found.id, found.delivery, found.dialect);
            Ok(SocketItem::Reply(SocketReply { reference, id, delivery, dialect, frame, document }))
        }
        "done" => Ok(SocketItem::Done { reference: found.reference }),
        "error" => {
            let (reference, delivery) = (found.reference, found.delivery);
            let json = read::parse(frame.as_bytes())?;
            let code = read::text_maybe(&json, "code").unwrap_or_else(|| "unknown".to_owned());
            let detail = read::text_maybe(&json, "detail").unwrap_or_default();
            let json = json.into_owned();
            Ok(SocketItem::Problem(SocketProblem { reference, delivery, code, detail, json }))
        }
        other => Err(ClientError::answer(format!("a frame with the op {other:?}"))),
    }
}

fn find(frame: &str) -> Found<'_> {
    let mut found = Found::default();
    for (key, place) in Members::new(frame) {
        let value = frame.get(place.clone()).unwrap_or_default();
        let word = value.trim_matches('"');
        match key {
            "op" => found.op = word,
            "ref" => found.reference = word.parse().ok(),
            "id" => found.id = word.parse().ok(),
            "delivery" => found.delivery = word.parse().ok(),
            "stage" => found.stage = Stage::from_name(word),
            "dialect" => found.dialect = Dialect::from_name(word),
            "duplicate" => found.duplicate = word == "true",
            "attempt" => found.attempt = word.parse().ok(),
            "document" => found.document = Some(place),
            "upto" => found.upto = word.parse().ok(),
            "count" => found.count = word.parse().ok(),
            "recipients" => found.is_full = true,
            // What else a frame has is looked up when it is asked for.
            _ => {}
        }
    }
    found
}
