//! Kinds: what a message means.

use crate::TaskStatus;

words! {
    /// What a message means, few and named for it.
    pub enum Kind {
        /// Something said to somebody.
        Note = "note",
        /// Something said to everybody who listens.
        Announce = "announce",
        /// Brief to be done.
        TaskRequest = "task.request",
        /// Somebody takes the work.
        TaskClaim = "task.claim",
        /// The work goes on.
        TaskProgress = "task.progress",
        /// The work is done.
        TaskDone = "task.done",
        /// The work was tried and failed.
        TaskFailed = "task.failed",
        /// The work was not taken.
        TaskRejected = "task.rejected",
        /// The work cannot go on without something.
        TaskBlocked = "task.blocked",
        /// Somebody asks for help.
        HelpAsk = "help.ask",
        /// Somebody helps.
        HelpReply = "help.reply",
        /// Somebody offers to hand work over.
        HandoffOffer = "handoff.offer",
        /// The answer to such an offer.
        HandoffReply = "handoff.reply",
        /// How an agent is.
        AgentStatus = "agent.status",
        /// That an agent is.
        AgentHeartbeat = "agent.heartbeat",
        /// An error that somebody should know.
        ErrorReport = "error.report",
        /// What a review found.
        ReviewVerdict = "review.verdict",
        /// A step that waits for approval, or the approval.
        Gate = "gate",
        /// A question to be answered.
        Question = "question",
        /// A change of shared state.
        StateSync = "state.sync",
        /// A report of some domain, known by its schema.
        Report = "report",
    }
}

impl Kind {
    /// Returns what an answer means when its writer does not say: nothing is claimed done or decided by accident.
    pub fn answered_by(self) -> Kind {
        match self {
            Kind::HelpAsk | Kind::Question => Kind::HelpReply,
            Kind::HandoffOffer => Kind::HandoffReply,
            Kind::Note
            | Kind::Announce
            | Kind::TaskRequest
            | Kind::TaskClaim
            | Kind::TaskProgress
            | Kind::TaskDone
            | Kind::TaskFailed
            | Kind::TaskRejected
            | Kind::TaskBlocked
            | Kind::HelpReply
            | Kind::HandoffReply
            | Kind::AgentStatus
            | Kind::AgentHeartbeat
            | Kind::ErrorReport
            | Kind::ReviewVerdict
            | Kind::Gate
            | Kind::StateSync
            | Kind::Report => Kind::Note,
        }
    }

    /// Returns the status of its task that a message of this kind states by itself, if it does.
    pub fn task_status(self) -> Option<TaskStatus> {
        match self {
            Kind::TaskClaim => Some(TaskStatus::Claimed),
            Kind::TaskDone => Some(TaskStatus::Done),
            Kind::TaskFailed => Some(TaskStatus::Failed),
            Kind::TaskRejected => Some(TaskStatus::Rejected),
            Kind::TaskBlocked => Some(TaskStatus::Blocked),
            Kind::Note
            | Kind::Announce
            | Kind::TaskRequest
            | Kind::TaskProgress
            | Kind::HelpAsk
            | Kind::HelpReply
            | Kind::HandoffOffer
            | Kind::HandoffReply
            | Kind::AgentStatus
            | Kind::AgentHeartbeat
            | Kind::ErrorReport
            | Kind::ReviewVerdict
            | Kind::Gate
            | Kind::Question
            | Kind::StateSync
            | Kind::Report => None,
        }
    }
}
