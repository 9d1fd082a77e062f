//! The ten types of messages, and the priority and guarantee that each implies.

use message::{Guarantee, Priority};

/// What a message is, as `MessageType` of the specification lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageType {
    /// `TASK_ASSIGNMENT`: somebody is to do something.
    TaskAssignment,
    /// `TASK_HANDOFF`: a request to take work over, or the answer to it.
    TaskHandoff,
    /// `TASK_UPDATE`: something happened to a task.
    TaskUpdate,
    /// `TASK_COMPLETE`: a task is done.
    TaskComplete,
    /// `TASK_FAILED`: a task failed.
    TaskFailed,
    /// `HELP_REQUEST`: somebody needs help.
    HelpRequest,
    /// `HELP_RESPONSE`: somebody helps.
    HelpResponse,
    /// `STATUS_UPDATE`: how an agent is, or a change of the shared state.
    StatusUpdate,
    /// `HEARTBEAT`: that an agent is.
    Heartbeat,
    /// `ERROR_REPORT`: something went wrong.
    ErrorReport,
}

/// The words of [`MessageType`], in the order of the specification.
pub const MESSAGE_TYPES: &[&str] = &[
    "TASK_ASSIGNMENT",
    "TASK_HANDOFF",
    "TASK_UPDATE",
    "TASK_COMPLETE",
    "TASK_FAILED",
    "HELP_REQUEST",
    "HELP_RESPONSE",
    "STATUS_UPDATE",
    "HEARTBEAT",
    "ERROR_REPORT",
];

impl MessageType {
    /// Every type, in the order of the specification.
    pub const ALL: &'static [MessageType] = &[
        MessageType::TaskAssignment,
        MessageType::TaskHandoff,
        MessageType::TaskUpdate,
        MessageType::TaskComplete,
        MessageType::TaskFailed,
        MessageType::HelpRequest,
        MessageType::HelpResponse,
        MessageType::StatusUpdate,
        MessageType::Heartbeat,
        MessageType::ErrorReport,
    ];

    /// Returns the word as it stands in documents.
    pub fn name(self) -> &'static str {
        match self {
            MessageType::TaskAssignment => "TASK_ASSIGNMENT",
            MessageType::TaskHandoff => "TASK_HANDOFF",
            MessageType::TaskUpdate => "TASK_UPDATE",
            MessageType::TaskComplete => "TASK_COMPLETE",
            MessageType::TaskFailed => "TASK_FAILED",
            MessageType::HelpRequest => "HELP_REQUEST",
            MessageType::HelpResponse => "HELP_RESPONSE",
            MessageType::StatusUpdate => "STATUS_UPDATE",
            MessageType::Heartbeat => "HEARTBEAT",
            MessageType::ErrorReport => "ERROR_REPORT",
        }
    }

    /// Finds the type of a word.
    pub fn from_name(name: &str) -> Option<Self> {
        MessageType::ALL.iter().copied().find(|known| known.name() == name)
    }
}

/// Returns the priority of a message that does not state one.
///
/// The specification ranks six of the types. The others carry work that must not be lost, and so are high.
pub fn implied_priority(message_type: MessageType) -> Priority {
    match message_type {
        MessageType::ErrorReport => Priority::Critical,
        MessageType::TaskHandoff
        | MessageType::HelpRequest
        | MessageType::TaskAssignment
        | MessageType::TaskComplete
        | MessageType::TaskFailed
        | MessageType::HelpResponse => Priority::High,
        MessageType::StatusUpdate | MessageType::TaskUpdate => Priority::Normal,
        MessageType::Heartbeat => Priority::Low,
    }
}

/// Returns how hard a bus must try for messages of that priority.
pub fn guarantee(priority: Priority) -> Guarantee {
    match priority {
        Priority::Critical | Priority::High => Guarantee::AtLeastOnce,
        Priority::Normal | Priority::Low => Guarantee::AtMostOnce,
    }
}
