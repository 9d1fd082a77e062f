//! Blockers: what stands in the way of a task, and which error codes mean the same.

/// Returns the error code of other dialects that is nearest to a type of blocker.
pub fn error_of_blocker(blocker_type: &str) -> Option<&'static str> {
    Some(match blocker_type {
        "spec_gap" | "ambiguity" | "verification_fail" => "VALIDATION_ERROR",
        "dependency" | "tool_failure" => "EXTERNAL_SERVICE_ERROR",
        "resource" => "RESOURCE_EXHAUSTED",
        _ => return None,
    })
}

/// Returns the type of blocker that is nearest to an error code; a type of blocker is its own.
pub fn blocker_of_error(code: &str) -> Option<&'static str> {
    Some(match code {
        "spec_gap" | "VALIDATION_ERROR" => "spec_gap",
        "resource" | "RATE_LIMIT" | "RESOURCE_EXHAUSTED" => "resource",
        "tool_failure"
        | "TIMEOUT"
        | "NETWORK_ERROR"
        | "EXTERNAL_SERVICE_ERROR"
        | "INTERNAL_ERROR"
        | "AUTHENTICATION_ERROR"
        | "PROCESS_EXIT" => "tool_failure",
        "dependency" => "dependency",
        "ambiguity" => "ambiguity",
        "verification_fail" => "verification_fail",
        _ => return None,
    })
}
