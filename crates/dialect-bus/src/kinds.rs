//! What a message means: by its type, by what its payload says, or by the hint that we write where neither
//! tells it.

use json::{Object, Value};
use message::{GateDecision, Kind, TaskStatus};

use crate::lenses::task_status;
use crate::parts::{self, Form};

/// The types of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageType {
    TaskRequest,
    TaskResponse,
    StatusUpdate,
    Error,
    Heartbeat,
}

/// Requests that ask for something else than work, by their task type.
const SPECIAL_TASK_TYPES: [(&str, Kind); 4] = [
    ("help", Kind::HelpAsk),
    ("handoff", Kind::HandoffOffer),
    ("approval", Kind::Gate),
    ("question", Kind::Question),
];

/// Fields by which a status update speaks of work rather than of the agent.
const PROGRESS_FIELDS: [&str; 4] = ["phase", "percent_complete", "progress", "current_step"];

/// Tells whether messages of a kind are status updates or heartbeats.
pub fn is_status(kind: Kind) -> bool {
    match MessageType::for_kind(kind, false) {
        MessageType::StatusUpdate | MessageType::Heartbeat => true,
        MessageType::TaskRequest | MessageType::TaskResponse | MessageType::Error => false,
    }
}

impl MessageType {
    const ALL: [MessageType; 5] = [
        MessageType::TaskRequest,
        MessageType::TaskResponse,
        MessageType::StatusUpdate,
        MessageType::Error,
        MessageType::Heartbeat,
    ];

    /// Returns the word as it stands in documents.
    pub(crate) fn name(self) -> &'static str {
        match self {
            MessageType::TaskRequest => "task_request",
            MessageType::TaskResponse => "task_response",
            MessageType::StatusUpdate => "status_update",
            MessageType::Error => "error",
            MessageType::Heartbeat => "heartbeat",
        }
    }

    /// Returns the type that a document states.
    pub(crate) fn of(document: &Object<'_>) -> Option<Self> {
        let name = parts::text(document, "message_type")?;
        MessageType::ALL.into_iter().find(|message_type| message_type.name() == name)
    }

    /// Returns the type in which a kind of message is written; a decision answers, so it is a response.
    pub(crate) fn for_kind(kind: Kind, is_decided: bool) -> Self {
        match kind {
            Kind::Gate if is_decided => MessageType::TaskResponse,
            Kind::TaskRequest | Kind::HelpAsk | Kind::HandoffOffer | Kind::Gate | Kind::Question => {
                MessageType::TaskRequest
            }
            Kind::TaskDone | Kind::HelpReply | Kind::HandoffReply | Kind::ReviewVerdict => {
                MessageType::TaskResponse
            }
            Kind::Note
            | Kind::Announce
            | Kind::TaskClaim
            | Kind::TaskProgress
            | Kind::TaskRejected
            | Kind::TaskBlocked
            | Kind::AgentStatus
            | Kind::StateSync
            | Kind::Report => MessageType::StatusUpdate,
            Kind::TaskFailed | Kind::ErrorReport => MessageType::Error,
            Kind::AgentHeartbeat => MessageType::Heartbeat,
        }
    }
}

/// Tells what a document means, where that can be told.
pub(crate) fn kind_of_form(form: Form, document: &Object<'_>) -> Option<Kind> {
    match form {
        Form::Message => kind_of(document),
        Form::Health => Some(Kind::AgentStatus),
        Form::Descriptor | Form::Registration => None,
    }
}

/// Tells what a message means.
pub(crate) fn kind_of(document: &Object<'_>) -> Option<Kind> {
    hinted(document).or_else(|| told(document))
}

/// Tells what a message means by the word that we write where nothing else says it.
///
/// The hint makes the type more exact and never contradicts it.
pub(crate) fn hinted(document: &Object<'_>) -> Option<Kind> {
    let message_type = MessageType::of(document)?;
    let kind = Kind::from_name(parts::text_in(document, "payload", "kind")?)?;
    (MessageType::for_kind(kind, is_decided(document)) == message_type).then_some(kind)
}

/// Tells what a message means by its type and payload.
pub(crate) fn told(document: &Object<'_>) -> Option<Kind> {
    let status = parts::text_in(document, "payload", "status").and_then(task_status);
    let has_task = parts::task(document).is_some();
    Some(match MessageType::of(document)? {
        MessageType::TaskRequest => special(document).unwrap_or(Kind::TaskRequest),
        MessageType::TaskResponse => response(status),
        MessageType::StatusUpdate if has_task || has_progress(document) => progress(status),
        MessageType::StatusUpdate => Kind::AgentStatus,
        MessageType::Error if has_task => Kind::TaskFailed,
        MessageType::Error => Kind::ErrorReport,
        MessageType::Heartbeat => Kind::AgentHeartbeat,
    })
}

/// Returns the task type that stands for a kind of request which is not for work.
pub(crate) fn special_task_type(kind: Kind) -> Option<&'static str> {
    SPECIAL_TASK_TYPES.iter().find(|(_, special)| *special == kind).map(|(name, _)| *name)
}

/// Tells whether a kind speaks of the agent itself.
pub(crate) fn is_of_agent(kind: Kind) -> bool {
    matches!(kind, Kind::AgentStatus | Kind::AgentHeartbeat)
}

/// Tells whether the payload says what was decided at a gate.
fn is_decided(document: &Object<'_>) -> bool {
    let gate = parts::part(document, "payload").and_then(|payload| parts::part(payload, "gate"));
    gate.is_some_and(|gate| {
        let decision = parts::text(gate, "decision").and_then(GateDecision::from_name);
        decision.is_some() && gate.get("action_required").is_some_and(|value| value.as_bool().is_some())
    })
}

fn special(document: &Object<'_>) -> Option<Kind> {
    let task_type = parts::text_in(document, "payload", "task_type")?;
    SPECIAL_TASK_TYPES.iter().find(|(name, _)| *name == task_type).map(|(_, kind)| *kind)
}

/// A response answers: without a word to the contrary the work is done.
fn response(status: Option<TaskStatus>) -> Kind {
    match status {
        None | Some(TaskStatus::Done) => Kind::TaskDone,
        Some(TaskStatus::Failed | TaskStatus::Cancelled) => Kind::TaskFailed,
        Some(TaskStatus::Rejected) => Kind::TaskRejected,
        Some(TaskStatus::Blocked) => Kind::TaskBlocked,
        Some(TaskStatus::Pending | TaskStatus::Claimed | TaskStatus::Running) => Kind::TaskProgress,
    }
}

fn progress(status: Option<TaskStatus>) -> Kind {
    match status {
        Some(TaskStatus::Claimed) => Kind::TaskClaim,
        Some(TaskStatus::Rejected) => Kind::TaskRejected,
        Some(TaskStatus::Blocked) => Kind::TaskBlocked,
        None
        | Some(
            TaskStatus::Pending
            | TaskStatus::Running
            | TaskStatus::Done
            | TaskStatus::Failed
            | TaskStatus::Cancelled,
        ) => Kind::TaskProgress,
    }
}

fn has_progress(document: &Object<'_>) -> bool {
    let Some(payload) = parts::part(document, "payload") else { return false };
    PROGRESS_FIELDS.iter().any(|key| payload.get(key).is_some_and(|value| !matches!(value, Value::Null)))
}
