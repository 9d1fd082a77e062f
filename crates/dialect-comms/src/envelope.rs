//! Envelopes: what a message says and its record has no field for, in the place where a record takes data.
//!
//! A payload (`params`, `result`, `state`) or `content.data` whose schema is one of ours holds fields of the
//! canonical message under their own names, made to fit the data model. The name of the schema tells the kind:
//!
//! | schema `agent.comms.ext.…` | in a | kind |
//! |---|---|---|
//! | `note`, `question`, `gate` | message or broadcast | the same |
//! | `announce`, `report`, `errorReport`, `stateSync` | broadcast | `announce`, `report`, `error.report`, `state.sync` |
//! | `presence` | broadcast | `agent.status`, or `agent.heartbeat` where the field `kind` says so |
//! | `request`, `help` | request | `task.request`, `help.ask` |
//! | `claim`, `progress`, `blocked` | response, partial | `task.claim`, `task.progress`, `task.blocked` |
//! | `done`, `failed`, `rejected` | response of that status | `task.done`, `task.failed`, `task.rejected` |
//! | `help`, `handoff`, `review` | response of any status | `help.reply`, `handoff.reply`, `review.verdict` |
//! | `handoff` | handoff | `handoff.offer` |
//! | `data`, `value` | any | no envelope: plain data without a schema, and a value that is no object |
//!
//! `shows` names the field of the message that the record's own words repeat where the one that belongs there
//! is absent; `to` lists the recipients where the record cannot. A record that says everything itself has no
//! envelope.

use dialect::Draft;
use json::{Object, Value};
use message::{Kind, limits};

use crate::Record;
use crate::codes::LEFT_OUT;

/// What the names of our own schemas start with.
pub const EXTENSION_PREFIX: &str = "agent.comms.ext.";
/// The schema of plain data that has none.
pub(crate) const DATA: &str = "agent.comms.ext.data";
/// The schema of a value that is not an object, in the field `value`.
pub(crate) const VALUE: &str = "agent.comms.ext.value";
/// Which field of the message the record's own words repeat.
pub(crate) const SHOWS: &str = "shows";

/// The fields of a message that an envelope carries, under the same name. Attachments, references, metrics and
/// delivery wishes are not among them: what a record cannot say of these is left to the origin.
pub(crate) const FIELDS: &[&str] = &[
    "thread",
    "reply_to",
    "correlation",
    "task",
    "title",
    "text",
    "code",
    "schema",
    "data",
    "mime",
    "priority",
    "severity",
    "expires",
    "deadline",
    "status",
    "result",
    "error",
    "presence",
    "gate",
    "brief",
    "handoff",
];

/// The envelopes: in which record, under which name, meaning what.
const EXTENSIONS: &[(Record, &str, Kind)] = &[
    (Record::Message, "note", Kind::Note),
    (Record::Message, "question", Kind::Question),
    (Record::Message, "gate", Kind::Gate),
    (Record::Broadcast, "announce", Kind::Announce),
    (Record::Broadcast, "note", Kind::Note),
    (Record::Broadcast, "question", Kind::Question),
    (Record::Broadcast, "gate", Kind::Gate),
    (Record::Broadcast, "report", Kind::Report),
    (Record::Broadcast, "errorReport", Kind::ErrorReport),
    (Record::Broadcast, "stateSync", Kind::StateSync),
    (Record::Broadcast, "presence", Kind::AgentStatus),
    (Record::Broadcast, "presence", Kind::AgentHeartbeat),
    (Record::Request, "request", Kind::TaskRequest),
    (Record::Request, "help", Kind::HelpAsk),
    (Record::Response, "claim", Kind::TaskClaim),
    (Record::Response, "progress", Kind::TaskProgress),
    (Record::Response, "done", Kind::TaskDone),
    (Record::Response, "failed", Kind::TaskFailed),
    (Record::Response, "rejected", Kind::TaskRejected),
    (Record::Response, "blocked", Kind::TaskBlocked),
    (Record::Response, "help", Kind::HelpReply),
    (Record::Response, "handoff", Kind::HandoffReply),
    (Record::Response, "review", Kind::ReviewVerdict),
    (Record::Handoff, "handoff", Kind::HandoffOffer),
];

/// An envelope in a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope<'v> {
    /// What the record means by it, as far as its status agrees.
    pub(crate) kind: Kind,
    fields: &'v Object<'v>,
}

/// Returns the name of the schema under which a record carries what its own fields cannot say about a message
/// of that kind; `None` where such a record does not tell that kind.
///
/// For example a claim is a response whose `result.schema` is `agent.comms.ext.claim`.
pub fn extension_of(record: Record, kind: Kind) -> Option<String> {
    let row = EXTENSIONS.iter().find(|row| (row.0, row.2) == (record, kind))?;
    Some(format!("{EXTENSION_PREFIX}{}", row.1))
}

impl<'v> Envelope<'v> {
    /// Finds the envelope of a record, if it has one.
    pub(crate) fn of(record: Record, object: &'v Object<'v>) -> Option<Self> {
        let payload = object.get(record.payload())?.as_object()?;
        let fields = payload.get("data")?.as_object()?;
        let schema = match record {
            Record::Message | Record::Broadcast => fields.get("$type"),
            Record::Request | Record::Response | Record::Handoff => payload.get("schema"),
        };
        let name = schema?.as_str()?.strip_prefix(EXTENSION_PREFIX)?;
        let row = EXTENSIONS.iter().find(|row| (row.0, row.1) == (record, name))?;
        let beats = row.2 == Kind::AgentStatus
            && fields.get("kind").and_then(Value::as_str) == Some(Kind::AgentHeartbeat.name());
        let kind = if beats { Kind::AgentHeartbeat } else { row.2 };
        Some(Envelope { kind, fields })
    }

    /// Returns a text that it carries.
    pub(crate) fn text(&self, name: &str) -> Option<&'v str> {
        self.fields.get(name).and_then(Value::as_str)
    }

    /// Tells whether the record's own words repeat something else than usual.
    pub(crate) fn shows_other(&self) -> bool {
        self.text(SHOWS).is_some()
    }

    /// Returns the recipients that it lists.
    pub(crate) fn to(&self) -> Option<&'v [Value<'v>]> {
        let to = self.fields.get("to").and_then(Value::as_array)?;
        let usable = !to.is_empty()
            && to.len() <= limits::RECIPIENTS_MAX
            && to.iter().all(|item| item.as_str().is_some());
        usable.then_some(to)
    }

    /// Reads everything that it carries. What the message could not hold is left out, with a warning.
    pub(crate) fn read(&self, record: Record, draft: &mut Draft<'_>) {
        for name in FIELDS {
            let Some(value) = self.fields.get(name).filter(|value| !value.is_null()) else { continue };
            let native = format!("/{}/data/{name}", record.payload());
            if fits(name, value) {
                draft.set(&native, &format!("/{name}"), value.clone().into_owned());
            } else {
                draft.warn(&native, LEFT_OUT, format!("it cannot be the {name} of a message"));
            }
        }
    }
}

/// Tells whether a message can hold a value in a field.
fn fits(name: &str, value: &Value<'_>) -> bool {
    match name {
        "data" | "result" => true,
        "title" | "text" | "code" | "schema" | "mime" => value.as_str().is_some(),
        _ => {
            let probe = [
                ("kind", Value::from(Kind::Note.name())),
                ("from", Value::from("a")),
                ("to", Value::Array(vec![Value::from("a")])),
                (name, value.clone()),
            ];
            message::from_value(Value::Object(probe.into_iter().collect())).is_ok()
        }
    }
}
