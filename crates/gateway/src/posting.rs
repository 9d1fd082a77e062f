//! Posting: one document over HTTP, answered by its receipt, or by the reply for which its sender waits.

use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::Response;
use broker::{Change, Command};

use crate::{Answer, Asking, Caller, Problem, Query, Submission};
use crate::{header_text, json_text, waiting};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The header in which a W3C trace travels.
pub const TRACE: HeaderName = HeaderName::from_static("traceparent");

/// Returns what a repeat of a request is known by, if it says so.
pub fn idempotency_key(headers: &HeaderMap) -> Option<&str> {
    header_text(headers, &IDEMPOTENCY_KEY)
}

/// Returns what a request asks for beside its document.
pub fn asking<'h>(query: Query<'_>, headers: &'h HeaderMap) -> Result<Asking<'h>, Problem> {
    Ok(Asking {
        key: idempotency_key(headers),
        wait_ms: query.duration_ms("wait")?,
        hold: query.flag("hold")?,
        trace: header_text(headers, &TRACE),
    })
}

/// Takes a document in.
pub async fn post(caller: &Caller, submission: Submission) -> Result<Response, Problem> {
    if submission.is_for_the_bus() {
        return note(caller, submission).await;
    }
    let waits = submission.waits();
    let (accept, head) = submission.into_parts();
    let (receipted, awaited) = caller.hub.accept(accept).await?;
    let reply = receipted.answer;
    let status = if receipted.duplicate { StatusCode::OK } else { StatusCode::CREATED };
    let receipt = head.receipt(receipted);
    match (awaited, reply) {
        (Some(awaited), _) => waiting::reply(&caller.hub, receipt, awaited).await,
        (None, Some(reply)) => waiting::stored_reply(&caller.hub, receipt, reply).await,
        // Nobody can answer, or the time in which an answer counted is over.
        (None, None) if waits => {
            let stage = receipt.stage();
            Err(waiting::nothing(&caller.hub, receipt, stage).await)
        }
        (None, None) => Ok(json_text(status, receipt.to_json())),
    }
}

/// Notes what is for the bus alone: a change of the shared state, or a sign of life. Nobody relies on a sign of life, so
/// nothing waits until it is durable.
async fn note(caller: &Caller, submission: Submission) -> Result<Response, Problem> {
    let kind = submission.accept.kind;
    match submission.into_note() {
        Some(Command::ChangeState(change)) => {
            Ok(changed(caller.hub.execute(*change).await?).respond(StatusCode::OK))
        }
        sign => {
            // A bus without room keeps no signs of life; the next one is soon there.
            sign.into_iter().for_each(|sign| caller.hub.node().note(sign));
            let answer = Answer::new().text("kind", kind.name()).text("stage", "acknowledged");
            Ok(answer.respond(StatusCode::ACCEPTED))
        }
    }
}

/// Says how a change of the shared state was taken.
pub fn changed(change: Change) -> Answer {
    let outcome = if change.is_duplicate { "duplicate" } else { "applied" };
    Answer::new().text("outcome", outcome).number("version", change.version.into())
}
