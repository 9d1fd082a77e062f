//! What went wrong, as clients of this door expect it: `{"success":false,"error":…}`, with our code beside it.

use axum::http::StatusCode;
use axum::response::Response;
use gateway::{Answer, Code, Problem};
use json::Value;

/// Members of a problem that this door says otherwise.
const OTHERWISE: [&str; 3] = ["status", "title", "detail"];

/// Says what went wrong.
pub(crate) fn shape(problem: &Problem) -> Response {
    let status = StatusCode::from_u16(status(problem.code)).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    body(problem).respond(status)
}

/// Says what went wrong to a client that reads nothing but answers that look well.
pub(crate) fn shape_legacy(problem: &Problem) -> Response {
    body(problem).respond(StatusCode::OK)
}

/// Tells whether a client of the origin would have been told by an answer that looks well: what concerns its message.
/// Who may not ask, or not now, is told so in any case.
pub(crate) fn is_of_message(code: Code) -> bool {
    matches!(status(code), 400 | 404 | 409 | 504)
}

/// Returns the status that goes with a code here: a document that is not valid is a bad request.
fn status(code: Code) -> u16 {
    match code.status() {
        422 => 400,
        _ if code == Code::NameTaken => 400,
        other => other,
    }
}

fn body(problem: &Problem) -> Answer {
    let answer = Answer::new().flag("success", false).text("error", &said(problem));
    let Value::Object(members) = problem.to_value() else { return answer };
    let others = members.iter().filter(|(key, _)| !OTHERWISE.contains(key));
    others.fold(answer, |answer, (key, value)| answer.value(key, value))
}

/// Says it in words that clients look for.
pub(crate) fn said(problem: &Problem) -> String {
    let before = if problem.code == Code::UnknownRecipient { "No available recipients: " } else { "" };
    format!("{before}{}", problem.detail)
}
