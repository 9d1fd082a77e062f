//! Refusals in the words of the wire: an outcome, the reason for it, and what to do.

use axum::http::StatusCode;
use axum::response::Response;
use gateway::{Answer, Code, Problem};
use json::Value;

/// Says what went wrong. The reason is the code; for a document that is not valid, the code of what was found first.
pub(crate) fn shape(problem: &Problem) -> Response {
    let status = StatusCode::from_u16(problem.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut error = problem.to_value();
    if let Some(members) = error.as_object_mut() {
        members.remove("title");
        members.remove("detail");
        members.insert("message", Value::from(problem.detail.as_str()));
    }
    let found = error.get("errors").and_then(Value::as_array).and_then(<[_]>::first);
    let found = found.filter(|_| problem.code == Code::Invalid).and_then(|first| first.get("code")?.as_str());
    let reason = found.unwrap_or(problem.code.name());
    Answer::new().text("outcome", "rejected").text("reason", reason).value("error", &error).respond(status)
}
