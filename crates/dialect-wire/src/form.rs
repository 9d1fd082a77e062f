//! Forms: the types of wires, and which canonical kinds each of them can carry.

use dialect::Interface;
use json::{Object, Value};
use message::Kind;

use crate::interfaces::{
    AVAILABLE_WIRE, BLOCKED_WIRE, BRIEF_WIRE, CLAIM_WIRE, COMPLETE_WIRE, INBOX_WIRE, POINTER,
};

/// The type of a document, an inbox message with what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Brief,
    Inbox(MessageType),
    Complete,
    Blocked,
    Claim,
    Available,
    Pointer,
}

/// What an inbox message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageType {
    TaskFeedback,
    StatusUpdate,
    TaskBlocked,
    ExecGate,
    Question,
    Info,
}

impl Form {
    /// Tells the form of a document; an inbox message of an unknown type counts as information.
    pub(crate) fn of(document: &Object<'_>) -> Option<Form> {
        if is_pointer(document) {
            return Some(Form::Pointer);
        }
        Some(match document.get("type")?.as_str()? {
            "brief" => Form::Brief,
            "inbox" => {
                let word = document.get("payload").and_then(|payload| payload.get("message_type")?.as_str());
                Form::Inbox(word.and_then(MessageType::from_name).unwrap_or(MessageType::Info))
            }
            "complete" | "task.complete" => Form::Complete,
            "blocked" | "task.blocked" => Form::Blocked,
            "claim" | "task.claim" | "task.claimed" => Form::Claim,
            "available" | "task.available" => Form::Available,
            _ => return None,
        })
    }

    /// Returns the type that is written.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Form::Brief => "brief",
            Form::Inbox(_) => "inbox",
            Form::Complete => "complete",
            Form::Blocked => "blocked",
            Form::Claim => "claim",
            Form::Available | Form::Pointer => "available",
        }
    }

    /// Returns the interface of such documents.
    pub(crate) fn interface(self) -> &'static Interface {
        match self {
            Form::Brief => &BRIEF_WIRE,
            Form::Inbox(_) => &INBOX_WIRE,
            Form::Complete => &COMPLETE_WIRE,
            Form::Blocked => &BLOCKED_WIRE,
            Form::Claim => &CLAIM_WIRE,
            Form::Available => &AVAILABLE_WIRE,
            Form::Pointer => &POINTER,
        }
    }

    /// Returns what such a document means by itself. A status that speaks of a task is progress.
    pub(crate) fn kind(self, has_task: bool) -> Kind {
        match self {
            Form::Brief | Form::Available | Form::Pointer => Kind::TaskRequest,
            Form::Inbox(MessageType::TaskFeedback) => Kind::ReviewVerdict,
            Form::Inbox(MessageType::StatusUpdate) if has_task => Kind::TaskProgress,
            Form::Inbox(MessageType::StatusUpdate | MessageType::Info) => Kind::Note,
            Form::Inbox(MessageType::ExecGate) => Kind::Gate,
            Form::Inbox(MessageType::Question) => Kind::Question,
            Form::Complete => Kind::TaskDone,
            Form::Blocked | Form::Inbox(MessageType::TaskBlocked) => Kind::TaskBlocked,
            Form::Claim => Kind::TaskClaim,
        }
    }

    /// Tells whether a message of that kind is written in this form.
    pub(crate) fn fits(self, kind: Kind) -> bool {
        match kind {
            Kind::TaskRequest => matches!(self, Form::Brief | Form::Available | Form::Pointer),
            Kind::HandoffOffer => self == Form::Brief,
            Kind::TaskClaim => self == Form::Claim,
            Kind::TaskDone => matches!(self, Form::Complete | Form::Inbox(MessageType::StatusUpdate)),
            Kind::TaskFailed | Kind::TaskRejected | Kind::TaskBlocked | Kind::ErrorReport => {
                matches!(self, Form::Blocked | Form::Inbox(MessageType::TaskBlocked))
            }
            Kind::Note
            | Kind::Announce
            | Kind::TaskProgress
            | Kind::HelpAsk
            | Kind::HelpReply
            | Kind::HandoffReply
            | Kind::AgentStatus
            | Kind::AgentHeartbeat
            | Kind::ReviewVerdict
            | Kind::Gate
            | Kind::Question
            | Kind::StateSync
            | Kind::Report => self == Form::Inbox(MessageType::of(kind)),
        }
    }
}

impl MessageType {
    pub(crate) fn name(self) -> &'static str {
        match self {
            MessageType::TaskFeedback => "task.feedback",
            MessageType::StatusUpdate => "status.update",
            MessageType::TaskBlocked => "task.blocked",
            MessageType::ExecGate => "exec.gate",
            MessageType::Question => "question",
            MessageType::Info => "info",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "task.feedback" => MessageType::TaskFeedback,
            "status.update" => MessageType::StatusUpdate,
            "task.blocked" => MessageType::TaskBlocked,
            "exec.gate" => MessageType::ExecGate,
            "question" => MessageType::Question,
            "info" => MessageType::Info,
            _ => return None,
        })
    }

    /// Returns the nearest type of an inbox message for a kind.
    pub(crate) fn of(kind: Kind) -> Self {
        match kind {
            Kind::ReviewVerdict => MessageType::TaskFeedback,
            Kind::TaskBlocked | Kind::TaskFailed | Kind::TaskRejected | Kind::ErrorReport => {
                MessageType::TaskBlocked
            }
            Kind::Gate => MessageType::ExecGate,
            Kind::Question | Kind::HelpAsk => MessageType::Question,
            Kind::TaskRequest
            | Kind::TaskClaim
            | Kind::TaskProgress
            | Kind::TaskDone
            | Kind::HandoffOffer
            | Kind::HandoffReply
            | Kind::AgentStatus
            | Kind::AgentHeartbeat
            | Kind::StateSync => MessageType::StatusUpdate,
            Kind::Note | Kind::Announce | Kind::HelpReply | Kind::Report => MessageType::Info,
        }
    }

    /// Returns the priority that the specification gives to such messages.
    pub(crate) fn priority(self) -> i64 {
        match self {
            MessageType::TaskBlocked | MessageType::ExecGate => 1,
            MessageType::Question | MessageType::TaskFeedback => 2,
            MessageType::StatusUpdate | MessageType::Info => 3,
        }
    }
}

/// Tells whether a wire is of a type that is posted to a topic, where everybody reads it.
pub fn is_posted(document: &Object<'_>) -> bool {
    Form::of(document).is_some_and(|form| match form {
        Form::Complete | Form::Blocked | Form::Claim | Form::Available | Form::Pointer => true,
        Form::Brief | Form::Inbox(_) => false,
    })
}

/// Tells whether a document is meant as an Agent Card.
pub(crate) fn is_card(document: &Object<'_>) -> bool {
    document.contains_key("card_version")
        || (document.contains_key("identity") && document.contains_key("escalation_rules"))
}

/// Tells whether a document is meant as the bare pointer of a role topic.
pub(crate) fn is_pointer(document: &Object<'_>) -> bool {
    let is_envelope = ["wire", "type", "payload"].iter().any(|key| document.contains_key(key));
    !is_envelope && document.get("task_id").is_some_and(|id| matches!(id, Value::String(_)))
}
