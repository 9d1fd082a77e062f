//! States of tasks: the five words of the specification, and the finer ones that its users write beside them.
//!
//! A finer state stands in `metadata.x_state` and counts only while it agrees with the word of the
//! specification, so that somebody who changes that word need not know of it.

use message::{Kind, TaskStatus};

/// Returns the native word of a status.
pub(crate) fn native(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Pending | TaskStatus::Blocked => "pending",
        TaskStatus::Claimed | TaskStatus::Running => "in_progress",
        TaskStatus::Done => "completed",
        TaskStatus::Failed | TaskStatus::Rejected => "failed",
        TaskStatus::Cancelled => "cancelled",
    }
}

/// Returns the native word of a message of that kind that does not state a status.
pub(crate) fn usual(kind: Kind) -> &'static str {
    kind.task_status().map_or("in_progress", native)
}

/// Returns the status that a native word means in a message of that kind. What is not about the work itself
/// has to state a status because the interface demands it, and then it means nothing.
pub(crate) fn inferred(kind: Kind, native: &str) -> Option<TaskStatus> {
    let is_about_work =
        !matches!(kind, Kind::Note | Kind::Announce | Kind::Report | Kind::ReviewVerdict | Kind::StateSync);
    match native {
        "pending" if kind == Kind::TaskBlocked => Some(TaskStatus::Blocked),
        "pending" => Some(TaskStatus::Pending),
        "in_progress" if kind == Kind::TaskClaim => Some(TaskStatus::Claimed),
        "in_progress" => is_about_work.then_some(TaskStatus::Running),
        "completed" => Some(TaskStatus::Done),
        "failed" if kind == Kind::TaskRejected => Some(TaskStatus::Rejected),
        "failed" => Some(TaskStatus::Failed),
        "cancelled" => Some(TaskStatus::Cancelled),
        _ => None,
    }
}

/// Returns the finer word for a status.
pub(crate) fn finer(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Pending => "QUEUED",
        TaskStatus::Claimed => "CLAIMED",
        TaskStatus::Running => "RUNNING",
        TaskStatus::Blocked => "BLOCKED",
        TaskStatus::Done => "STABLE",
        TaskStatus::Failed => "FAILED",
        TaskStatus::Rejected => "REJECTED",
        TaskStatus::Cancelled => "CANCELLED",
    }
}

/// Returns the status that a finer word means.
pub(crate) fn from_finer(word: &str) -> Option<TaskStatus> {
    Some(match word {
        "QUEUED" | "ROUTED" => TaskStatus::Pending,
        "CLAIMED" => TaskStatus::Claimed,
        "RUNNING"
        | "REVIEW"
        | "APPROVED"
        | "CHANGES_REQUESTED"
        | "DRAFT_PR"
        | "REVIEW_CHAIN"
        | "FALLBACK"
        | "CANARY"
        | "HANDOFF_IN_PROGRESS" => TaskStatus::Running,
        "BLOCKED" => TaskStatus::Blocked,
        "MERGED" | "STABLE" => TaskStatus::Done,
        "FAILED" | "ROLLED_BACK" => TaskStatus::Failed,
        "REJECTED" => TaskStatus::Rejected,
        "CANCELLED" => TaskStatus::Cancelled,
        _ => return None,
    })
}
