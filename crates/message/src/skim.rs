//! Skimming the `convoke` dialect: what a message is routed by, in one pass over its text.
//!
//! Everything is checked as [`crate::decode`] checks it, and nothing is kept of what the message says. Whatever is
//! wrong, odd or rare is left to that: a message that was skimmed is one that it reads without a word.

use std::str::FromStr;

use json::{Limits, Scan, Value, Written};

use crate::decode::VERSION;
use crate::limits::{FALLBACKS_MAX, LIST_ITEMS_MAX, RECIPIENTS_MAX, RETRIES_MAX};
use crate::read::{self, Place};
use crate::{
    Address, AgentRef, Attachment, Backoff, Brief, DeliveryWishes, Failure, Gate, Guarantee, Handoff, Kind,
    Message, MessageId, Metrics, Mode, NativeId, Presence, Priority, Reference, Severity, TaskId, TaskStatus,
    ThreadId, Uri, WrittenTimestamp,
};

/// A message that was skimmed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Skimmed<'a> {
    /// The message, without what it says. It is large, and handed on.
    pub message: Box<Message>,
    /// The schema that it names for its content.
    pub schema: Option<&'a str>,
    /// The document as it was written.
    pub written: Written<'a>,
}

/// The fields that are kept, as far as they were found.
#[derive(Default)]
struct Found<'a> {
    id: Option<MessageId>,
    native_id: Option<NativeId>,
    kind: Option<Kind>,
    from: Option<AgentRef>,
    to: Vec<Address>,
    thread: Option<ThreadId>,
    reply_to: Option<Reference>,
    correlation: Option<Reference>,
    task: Option<TaskId>,
    priority: Option<Priority>,
    severity: Option<Severity>,
    created: Option<WrittenTimestamp>,
    expires: Option<WrittenTimestamp>,
    deadline: Option<WrittenTimestamp>,
    delivery: Option<Box<DeliveryWishes>>,
    status: Option<TaskStatus>,
    presence: Option<Box<Presence>>,
    schema: Option<&'a str>,
}

/// Skims a message; nothing if it must be read. What is skimmed has no origin.
pub fn skim(text: &str, limits: Limits) -> Option<Skimmed<'_>> {
    let mut scan = Scan::of(text, limits)?;
    let skimmed = skim_value(&mut scan)?;
    scan.end()?;
    Some(skimmed)
}

/// Skims a message that stands in another text.
pub fn skim_value<'a>(scan: &mut Scan<'a>) -> Option<Skimmed<'a>> {
    let mut found = Found::default();
    let ((), written) = scan.with_text(|scan| scan.object(|scan, key| found.field(scan, key)))?;
    if found.to.is_empty() || found.is_odd() {
        return None;
    }
    let schema = found.schema;
    Some(Skimmed { message: found.message()?, schema, written })
}

impl<'a> Found<'a> {
    /// Takes the value of a field.
    fn field(&mut self, scan: &mut Scan<'a>, key: &str) -> Option<()> {
        if scan.null() {
            // It counts as absent.
            return Some(());
        }
        // Bytes are told apart one by one, texts as wholes.
        match key.as_bytes() {
            b"convoke" => (scan.number()?.parse() == Ok(VERSION)).then_some(()),
            b"kind" => word(scan, Kind::from_name, &mut self.kind),
            b"from" => parsed(scan, &mut self.from),
            b"to" => list(scan, RECIPIENTS_MAX, &mut self.to),
            b"text" | b"title" | b"code" | b"mime" => scan.skip_string(),
            b"data" | b"result" => scan.skip(),
            b"native_id" => parsed(scan, &mut self.native_id),
            b"task" => parsed(scan, &mut self.task),
            b"thread" => parsed(scan, &mut self.thread),
            b"reply_to" => parsed(scan, &mut self.reply_to),
            b"correlation" => parsed(scan, &mut self.correlation),
            b"id" => parsed(scan, &mut self.id),
            b"priority" => word(scan, Priority::from_name, &mut self.priority),
            b"severity" => word(scan, Severity::from_name, &mut self.severity),
            b"status" => word(scan, TaskStatus::from_name, &mut self.status),
            b"created" => parsed(scan, &mut self.created),
            b"expires" => parsed(scan, &mut self.expires),
            b"deadline" => parsed(scan, &mut self.deadline),
            b"delivery" => wishes(scan, self.delivery.insert(Box::default())),
            b"blob" => parsed::<Uri>(scan, &mut None),
            b"refs" => list::<Uri>(scan, LIST_ITEMS_MAX, &mut Vec::new()),
            b"schema" => {
                self.schema = Some(scan.string()?);
                Some(())
            }
            // What has fields of its own is read, and what is not routed by is not kept.
            b"attachments" => {
                part(scan, read::list(LIST_ITEMS_MAX, read::object(Attachment::read))).map(drop)
            }
            b"error" => part(scan, read::object(Failure::read)).map(drop),
            b"metrics" => part(scan, read::object(Metrics::read)).map(drop),
            b"gate" => part(scan, read::object(Gate::read)).map(drop),
            b"brief" => part(scan, read::object(Brief::read)).map(drop),
            b"handoff" => part(scan, read::object(Handoff::read)).map(drop),
            b"presence" => {
                self.presence = Some(part(scan, read::boxed(Presence::read))?);
                Some(())
            }
            // What a message was made of says more than the message.
            b"origin" => None,
            // What we do not know is the sender's own.
            _ => scan.skip(),
        }
    }

    /// Tells whether its sender should be warned of something.
    fn is_odd(&self) -> bool {
        let created = self.created.as_ref();
        let is_before = |end: &Option<WrittenTimestamp>| {
            end.as_ref().zip(created).is_some_and(|(end, created)| end.at() < created.at())
        };
        self.id.is_some_and(|id| !id.is_v7()) || is_before(&self.expires) || is_before(&self.deadline)
    }

    fn message(self) -> Option<Box<Message>> {
        Some(Box::new(Message {
            id: self.id,
            native_id: self.native_id,
            thread: self.thread,
            reply_to: self.reply_to,
            correlation: self.correlation,
            task: self.task,
            priority: self.priority,
            severity: self.severity,
            created: self.created,
            expires: self.expires,
            deadline: self.deadline,
            delivery: self.delivery,
            status: self.status,
            presence: self.presence,
            ..Message::new(self.kind?, self.from?, self.to)
        }))
    }
}

/// Takes the wishes of a sender.
fn wishes(scan: &mut Scan<'_>, wishes: &mut DeliveryWishes) -> Option<()> {
    scan.object(|scan, key| {
        if scan.null() {
            return Some(());
        }
        match key.as_bytes() {
            b"mode" => word(scan, Mode::from_name, &mut wishes.mode),
            b"guarantee" => word(scan, Guarantee::from_name, &mut wishes.guarantee),
            b"timeout" => parsed(scan, &mut wishes.timeout),
            b"retries" => {
                let retries = scan.number()?.parse().ok().filter(|retries| *retries <= RETRIES_MAX)?;
                wishes.retries = Some(retries);
                Some(())
            }
            b"backoff" => word(scan, Backoff::from_name, &mut wishes.backoff),
            b"fallback" => list(scan, FALLBACKS_MAX, &mut wishes.fallback),
            b"live_only" => scan.boolean().map(|live_only| wishes.live_only = live_only),
            b"hold" => scan.boolean().map(|hold| wishes.hold = hold),
            // What we do not know is kept.
            _ => None,
        }
    })
}

/// Takes a value and reads it; nothing if there is anything to say about it.
fn part<T>(scan: &mut Scan<'_>, read: impl FnOnce(Value<'_>, &mut Place<'_, '_>) -> Option<T>) -> Option<T> {
    let ((), written) = scan.with_text(Scan::skip)?;
    read::without_a_word(json::parse_str(written.text, Limits::DOCUMENT).ok()?, read)
}

/// Takes a string that must pass the check of its type.
fn parsed<T: FromStr>(scan: &mut Scan<'_>, into: &mut Option<T>) -> Option<()> {
    *into = Some(scan.string()?.parse().ok()?);
    Some(())
}

/// Takes a word of a closed list.
fn word<T>(scan: &mut Scan<'_>, find: fn(&str) -> Option<T>, into: &mut Option<T>) -> Option<()> {
    *into = Some(find(scan.string()?)?);
    Some(())
}

/// Takes a list of strings that must pass the check of their type.
fn list<T: FromStr>(scan: &mut Scan<'_>, items_max: usize, into: &mut Vec<T>) -> Option<()> {
    scan.array(|scan| {
        if into.is_empty() {
            // Most lists have one item.
            *into = Vec::with_capacity(1);
        }
        into.push(scan.string()?.parse().ok().filter(|_| into.len() < items_max)?);
        Some(())
    })
}
