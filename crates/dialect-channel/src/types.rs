//! The types of messages that are known, who writes them, and what they mean. The set is open.

use message::Kind;

/// A type of message.
#[derive(Debug)]
pub struct MessageType {
    /// Its word in the field `type`.
    pub name: &'static str,
    /// Who writes it.
    pub sender: Sender,
    /// What for.
    pub purpose: &'static str,
    /// What a message of this type means.
    pub kind: Kind,
}

/// Who writes messages of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// Anybody.
    Any,
    /// Whoever works; by its name it cannot be told.
    Worker,
    /// Whoever verifies; by its name it cannot be told.
    Verifier,
    /// The agent of that id, or those of that role with a number: `qc` is written by `qc-1`, `qc-2`, …
    Role(&'static str),
}

/// The types of the specification's table, then those that its programs write beside them.
pub const KNOWN: &[MessageType] = &[
    known("chat", Sender::Any, "general conversation", Kind::Note),
    known("task_assign", Sender::Role("supervisor"), "work assignment", Kind::TaskRequest),
    known("task_result", Sender::Worker, "completion report", Kind::TaskDone),
    known("review_vote", Sender::Verifier, "approval or rejection", Kind::ReviewVerdict),
    known("ha_report", Sender::Role("ha-mgr"), "HA status update", Kind::Report),
    known("bag_analysis", Sender::Role("bags"), "bag journey report", Kind::Report),
    known("incident", Sender::Any, "problem report", Kind::ErrorReport),
    known("docs", Sender::Role("docs"), "documentation update", Kind::Report),
    known("qc_review", Sender::Role("qc"), "quality check result", Kind::ReviewVerdict),
    known("review", Sender::Role("qc"), "quality check result", Kind::ReviewVerdict),
    known("triage", Sender::Role("triage"), "assessment of an incident", Kind::ErrorReport),
    known("code-review", Sender::Role("code"), "review of code", Kind::ReviewVerdict),
    known("code", Sender::Role("code"), "code that was written", Kind::Note),
    known("supervisor", Sender::Role("supervisor"), "word to the human", Kind::Note),
    known("directive", Sender::Role("supervisor"), "order to an agent", Kind::TaskRequest),
];

/// Finds a known type.
pub fn find(name: &str) -> Option<&'static MessageType> {
    KNOWN.iter().find(|known| known.name == name)
}

/// Returns what a type means; an unknown one is something said.
pub fn kind_of(name: &str) -> Kind {
    find(name).map_or(Kind::Note, |known| known.kind)
}

/// Returns the type that comes nearest to a kind.
pub fn type_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Note
        | Kind::Announce
        | Kind::TaskClaim
        | Kind::TaskProgress
        | Kind::HelpAsk
        | Kind::HelpReply
        | Kind::HandoffReply
        | Kind::Gate
        | Kind::Question
        | Kind::StateSync => "chat",
        Kind::TaskRequest | Kind::HandoffOffer => "task_assign",
        Kind::TaskDone | Kind::TaskFailed => "task_result",
        Kind::TaskRejected | Kind::ReviewVerdict => "review_vote",
        Kind::TaskBlocked | Kind::ErrorReport => "incident",
        Kind::AgentStatus | Kind::AgentHeartbeat => "ha_report",
        Kind::Report => "docs",
    }
}

impl Sender {
    /// Tells whether an agent may be one of these, as far as its id says.
    pub fn may_be(self, agent: &str) -> bool {
        match self {
            Sender::Any | Sender::Worker | Sender::Verifier => true,
            Sender::Role(role) => match agent.strip_prefix(role) {
                None => false,
                Some("") => true,
                Some(rest) => rest.strip_prefix('-').is_some_and(is_number),
            },
        }
    }
}

const fn known(name: &'static str, sender: Sender, purpose: &'static str, kind: Kind) -> MessageType {
    MessageType { name, sender, purpose, kind }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
