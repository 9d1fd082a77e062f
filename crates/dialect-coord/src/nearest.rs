//! The nearest native word for one that the specification does not have. A word that it has is its own nearest.

use crate::interfaces::failure::ERROR_TYPES;
use crate::interfaces::help::{HELP_RESPONSE_TYPES, HELP_TYPES};
use crate::interfaces::task::HANDOFF_REASONS;

/// Returns the type of error that a code of any dialect comes closest to.
pub(crate) fn error_type(code: &str) -> &'static str {
    own(ERROR_TYPES, code).unwrap_or(match code {
        "spec_gap" | "ambiguity" | "verification_fail" => "VALIDATION_ERROR",
        "dependency" | "tool_failure" => "EXTERNAL_SERVICE_ERROR",
        "resource" => "RESOURCE_EXHAUSTED",
        _ => "INTERNAL_ERROR",
    })
}

/// Returns the type of help that a sort of work comes closest to.
pub(crate) fn help_type(task_type: &str) -> &'static str {
    own(HELP_TYPES, task_type).unwrap_or(match task_type {
        "code_review" | "review" => "CODE_REVIEW",
        "debugging" => "DEBUGGING_ASSISTANCE",
        _ => "TECHNICAL_GUIDANCE",
    })
}

/// Returns the type of answer that a sort of work comes closest to.
pub(crate) fn response_type(task_type: &str) -> &'static str {
    own(HELP_RESPONSE_TYPES, task_type).unwrap_or("DIRECT_ANSWER")
}

/// Returns the reason of a handoff that a free one comes closest to.
pub(crate) fn reason(reason: &str) -> &'static str {
    own(HANDOFF_REASONS, reason).unwrap_or("ESCALATION")
}

fn own(words: &'static [&'static str], word: &str) -> Option<&'static str> {
    words.iter().copied().find(|known| *known == word)
}
