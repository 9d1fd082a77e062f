//! What a document is and what its few telling fields say, read in place.
//!
//! Checking, reading and routing all ask here, so they cannot come to different answers.

use dialect::Interface;
use json::{Object, Value};
use message::Kind;

use crate::MessageType;
use crate::interfaces::{help, is_id, state, status, task};

/// The recipient that means everyone.
pub(crate) const EVERYONE: &str = "*";
/// The agent that speaks for the system itself.
pub(crate) const SYSTEM: &str = "system";

/// The kinds of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Message,
    StateUpdate,
    SharedState,
}

/// A message of a known type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope<'v> {
    pub(crate) message_type: MessageType,
    pub(crate) document: &'v Object<'v>,
    pub(crate) payload: Option<&'v Object<'v>>,
    pub(crate) metadata: Option<&'v Object<'v>>,
}

/// Where a message says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// In a field of the specification.
    At(&'static str),
    /// In the open map, under its own name.
    InBag,
}

/// What a payload is, where the type alone does not say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Payload {
    Assignment,
    HandoffRequest,
    HandoffResponse,
    Update,
    Complete,
    Failed,
    HelpRequest,
    HelpResponse,
    Status,
    StateUpdate,
    Heartbeat,
    Error,
}

impl Form {
    pub(crate) fn of(document: &Object<'_>) -> Form {
        let is_message = document.contains_key("type") || document.contains_key("payload");
        if !is_message && document.contains_key("task_registry") {
            return Form::SharedState;
        }
        if !is_message && (document.contains_key("operation") || document.contains_key("entity_type")) {
            return Form::StateUpdate;
        }
        Form::Message
    }
}

impl<'v> Envelope<'v> {
    /// Reads a message whose type is known.
    pub(crate) fn of(document: &'v Object<'v>) -> Option<Self> {
        let message_type = MessageType::from_name(text(document, "type")?)?;
        let inner = |key| document.get(key).and_then(Value::as_object);
        Some(Envelope { message_type, document, payload: inner("payload"), metadata: inner("metadata") })
    }

    /// Tells what the payload is. A handoff is answered, not asked, where it says whether it is accepted.
    pub(crate) fn payload_sort(&self) -> Payload {
        let has = |key| self.payload.is_some_and(|payload| payload.contains_key(key));
        match self.message_type {
            MessageType::TaskAssignment => Payload::Assignment,
            MessageType::TaskHandoff if has("accepted") => Payload::HandoffResponse,
            MessageType::TaskHandoff => Payload::HandoffRequest,
            MessageType::TaskUpdate => Payload::Update,
            MessageType::TaskComplete => Payload::Complete,
            MessageType::TaskFailed => Payload::Failed,
            MessageType::HelpRequest => Payload::HelpRequest,
            MessageType::HelpResponse => Payload::HelpResponse,
            MessageType::StatusUpdate if has("state_update") => Payload::StateUpdate,
            MessageType::StatusUpdate => Payload::Status,
            MessageType::Heartbeat => Payload::Heartbeat,
            MessageType::ErrorReport => Payload::Error,
        }
    }

    /// Tells what the message means.
    pub(crate) fn kind(&self) -> Kind {
        let said = self.metadata.and_then(|metadata| text(metadata, "x_kind")).and_then(Kind::from_name);
        match self.payload_sort() {
            Payload::Assignment => Kind::TaskRequest,
            Payload::HandoffRequest => Kind::HandoffOffer,
            Payload::HandoffResponse => Kind::HandoffReply,
            Payload::Update => self.event_type().and_then(kind_of_event).unwrap_or(Kind::TaskProgress),
            Payload::Complete => Kind::TaskDone,
            Payload::Failed => Kind::TaskFailed,
            Payload::HelpRequest => {
                said.filter(|kind| matches!(kind, Kind::Question | Kind::Gate)).unwrap_or(Kind::HelpAsk)
            }
            Payload::HelpResponse => {
                said.filter(|kind| matches!(kind, Kind::Gate)).unwrap_or(Kind::HelpReply)
            }
            Payload::Status => Kind::AgentStatus,
            Payload::StateUpdate => Kind::StateSync,
            Payload::Heartbeat => Kind::AgentHeartbeat,
            Payload::Error => Kind::ErrorReport,
        }
    }

    /// Returns the task, and where it is named.
    pub(crate) fn task(&self) -> Option<(&'static str, &'v str)> {
        let payload = self.payload?;
        let named = |object: Option<&'v Object<'v>>, key| {
            object.and_then(|object| text(object, key)).filter(|id| is_id(id))
        };
        let inner = |key| payload.get(key).and_then(Value::as_object);
        let changed = inner("state_update").filter(|update| text(update, "entity_type") == Some("TASK"));
        let places = [
            ("/payload/task_id", named(Some(payload), "task_id")),
            ("/payload/task/task_id", named(inner("task"), "task_id")),
            ("/payload/context/task_id", named(inner("context"), "task_id")),
            ("/payload/error/task_id", named(inner("error"), "task_id")),
            ("/payload/state_update/entity_id", named(changed, "entity_id")),
        ];
        places.into_iter().find_map(|(place, id)| id.map(|id| (place, id)))
    }

    /// Returns the correlation id.
    pub(crate) fn correlation(&self) -> Option<&'v str> {
        self.metadata.and_then(|metadata| text(metadata, "correlation_id")).filter(|id| is_id(id))
    }

    /// Returns the message that this one answers, and where that is said.
    pub(crate) fn reply_to(&self) -> Option<(Told, &'v str)> {
        if let Some(id) = self.carried_id("reply_to") {
            return Some((Told::InBag, id));
        }
        let by_correlation = self.correlation().map(|id| (Told::At("/metadata/correlation_id"), id));
        match self.payload_sort() {
            Payload::HelpResponse => {
                let asked = self.payload.and_then(|payload| text(payload, "request_id"));
                asked
                    .filter(|id| is_id(id))
                    .map(|id| (Told::At("/payload/request_id"), id))
                    .or(by_correlation)
            }
            Payload::HandoffResponse => by_correlation,
            Payload::Assignment
            | Payload::HandoffRequest
            | Payload::Update
            | Payload::Complete
            | Payload::Failed
            | Payload::HelpRequest
            | Payload::Status
            | Payload::StateUpdate
            | Payload::Heartbeat
            | Payload::Error => None,
        }
    }

    /// Returns the conversation, and where it is named. A correlation id that points to a request or repeats
    /// the task names none.
    pub(crate) fn thread(&self) -> Option<(Told, &'v str)> {
        if let Some(id) = self.carried_id("thread") {
            return Some((Told::InBag, id));
        }
        let id = self.correlation()?;
        let is_task = self.task().is_some_and(|(_, task)| task == id);
        (!is_task && self.reply_to().is_none()).then_some((Told::At("/metadata/correlation_id"), id))
    }

    /// Returns the open map in which fields of the message travel that the payload has no place for.
    pub(crate) fn bag(&self) -> Option<&'v Object<'v>> {
        let inner = |key, below: &str| {
            self.payload?.get(key).and_then(|value| value.get(below)).and_then(Value::as_object)
        };
        match self.payload_sort() {
            Payload::Assignment => inner("task", "metadata"),
            Payload::HandoffRequest => inner("context", "metadata"),
            Payload::Update => inner("event", "details"),
            Payload::HandoffResponse
            | Payload::Complete
            | Payload::Failed
            | Payload::HelpRequest
            | Payload::HelpResponse
            | Payload::Status
            | Payload::StateUpdate
            | Payload::Heartbeat
            | Payload::Error => self.metadata?.get("x_details").and_then(Value::as_object),
        }
    }

    /// Returns where that map is.
    pub(crate) fn bag_place(&self) -> &'static str {
        self.payload_sort().bag_place()
    }

    fn carried_id(&self, key: &str) -> Option<&'v str> {
        self.bag().and_then(|bag| text(bag, key)).filter(|id| is_id(id))
    }

    fn event_type(&self) -> Option<&'v str> {
        self.payload?.get("event")?.get("event_type")?.as_str()
    }
}

impl Payload {
    /// Returns the interface of the payload.
    pub(crate) fn interface(self) -> &'static Interface {
        match self {
            Payload::Assignment => &task::TASK_ASSIGNMENT,
            Payload::HandoffRequest => &task::TASK_HANDOFF_REQUEST,
            Payload::HandoffResponse => &task::TASK_HANDOFF_RESPONSE,
            Payload::Update => &task::TASK_UPDATE,
            Payload::Complete => &task::TASK_COMPLETE,
            Payload::Failed => &task::TASK_FAILED,
            Payload::HelpRequest => &help::HELP_REQUEST,
            Payload::HelpResponse => &help::HELP_RESPONSE,
            Payload::Status => &status::STATUS_UPDATE,
            Payload::StateUpdate => &state::STATE_UPDATE_CARRIER,
            Payload::Heartbeat => &status::HEARTBEAT,
            Payload::Error => &crate::interfaces::failure::ERROR_REPORT,
        }
    }

    /// Returns the type of the messages that carry it.
    pub(crate) fn message_type(self) -> MessageType {
        match self {
            Payload::Assignment => MessageType::TaskAssignment,
            Payload::HandoffRequest | Payload::HandoffResponse => MessageType::TaskHandoff,
            Payload::Update => MessageType::TaskUpdate,
            Payload::Complete => MessageType::TaskComplete,
            Payload::Failed => MessageType::TaskFailed,
            Payload::HelpRequest => MessageType::HelpRequest,
            Payload::HelpResponse => MessageType::HelpResponse,
            Payload::Status | Payload::StateUpdate => MessageType::StatusUpdate,
            Payload::Heartbeat => MessageType::Heartbeat,
            Payload::Error => MessageType::ErrorReport,
        }
    }

    /// Returns where fields travel that the payload has no place for.
    pub(crate) fn bag_place(self) -> &'static str {
        match self {
            Payload::Assignment => "/payload/task/metadata",
            Payload::HandoffRequest => "/payload/context/metadata",
            Payload::Update => "/payload/event/details",
            Payload::HandoffResponse
            | Payload::Complete
            | Payload::Failed
            | Payload::HelpRequest
            | Payload::HelpResponse
            | Payload::Status
            | Payload::StateUpdate
            | Payload::Heartbeat
            | Payload::Error => "/metadata/x_details",
        }
    }

    /// Tells whether it answers a message, so that it must carry that message's id.
    pub(crate) fn is_response(self) -> bool {
        matches!(self, Payload::HandoffResponse | Payload::HelpResponse)
    }
}

/// Returns the event that a kind without a message type of its own is told by.
pub(crate) fn event_of_kind(kind: Kind) -> Option<&'static str> {
    EVENTS.iter().find(|(_, known)| *known == kind).map(|(event, _)| *event)
}

/// Returns the text of a member.
pub(crate) fn text<'v>(object: &'v Object<'_>, key: &str) -> Option<&'v str> {
    object.get(key).and_then(Value::as_str)
}

const EVENTS: &[(&str, Kind)] = &[
    ("progress", Kind::TaskProgress),
    ("note", Kind::Note),
    ("announce", Kind::Announce),
    ("report", Kind::Report),
    ("review", Kind::ReviewVerdict),
    ("claimed", Kind::TaskClaim),
    ("rejected", Kind::TaskRejected),
    ("blocked", Kind::TaskBlocked),
    ("state.sync", Kind::StateSync),
];

fn kind_of_event(event: &str) -> Option<Kind> {
    EVENTS.iter().find(|(known, _)| *known == event).map(|(_, kind)| *kind)
}
