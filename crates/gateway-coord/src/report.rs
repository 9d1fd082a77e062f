//! What went wrong, as an `ErrorReport` of the specification, with our code beside it.

use axum::http::StatusCode;
use axum::response::Response;
use gateway::{Answer, Code, Problem, Retry};
use json::Value;

/// Who reports what the bus itself finds wrong.
pub(crate) const SYSTEM: &str = "system";
/// Members of a problem that a report says otherwise.
const OTHERWISE: [&str; 3] = ["title", "detail", "hint"];

/// Says what went wrong.
pub(crate) fn shape(problem: &Problem) -> Response {
    let status = StatusCode::from_u16(problem.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    report(problem).respond(status)
}

/// Writes the report.
pub(crate) fn report(problem: &Problem) -> Answer {
    let code = problem.code;
    let severity = if code.status() >= 500 { "high" } else { "medium" };
    let answer = Answer::with_capacity(512)
        .text("error_id", &gateway::uuid())
        .text("agent_id", SYSTEM)
        .text("error_type", error_type(code))
        .text("severity", severity)
        .text("message", &problem.detail)
        .raw("context", "{}")
        .raw("recovery_attempts", "[]")
        .texts("suggested_actions", [code.help().to_owned()])
        .flag("retryable", code.retry() == Retry::Later);
    let Value::Object(members) = problem.to_value() else { return answer };
    let others = members.iter().filter(|(key, _)| !OTHERWISE.contains(key));
    others.fold(answer, |answer, (key, value)| answer.value(key, value))
}

/// Returns which of the specification's eight sorts of errors it is.
fn error_type(code: Code) -> &'static str {
    match (code.status(), code) {
        (429, Code::RateLimited) => "RATE_LIMIT",
        (413 | 429 | 431 | 507, _) => "RESOURCE_EXHAUSTED",
        (401 | 403, _) => "AUTHENTICATION_ERROR",
        (408 | 504, _) => "TIMEOUT",
        (status, _) if status >= 500 => "INTERNAL_ERROR",
        (_, _) => "VALIDATION_ERROR",
    }
}
