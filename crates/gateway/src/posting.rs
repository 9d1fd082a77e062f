//! Posting: one document over HTTP, answered by its receipt, or by the reply for which its sender waits.

use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::Response;
use broker::Change;

use crate::{Answer, Asking, Caller, Problem, Query, Sending, header_text, json_text, receipt_of, waiting};

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
pub async fn post(caller: &Caller, sending: Sending) -> Result<Response, Problem> {
    if sending.is_for_the_bus() && sending.update().is_none() {
        return note(caller, sending);
    }
    if sending.is_for_the_bus() {
        return change(caller, sending).await;
    }
    let waits = sending.waits();
    let accepted = caller.hub.call(move |turn| {
        let accepted = sending.accept_and_look(turn)?;
        Ok((sending.incoming, accepted))
    });
    let (incoming, accepted) = accepted.await?;
    let reply = accepted.receipted.answer;
    let status = if accepted.receipted.duplicate { StatusCode::OK } else { StatusCode::CREATED };
    let receipt = receipt_of(&incoming, accepted.receipted, accepted.recipients);
    match (accepted.awaited, reply) {
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

/// Makes a change of the shared state that is for the bus alone.
async fn change(caller: &Caller, sending: Sending) -> Result<Response, Problem> {
    let by = sending.from;
    let change = caller.hub.call(move |turn| {
        let update = sending.update().ok_or_else(|| Problem::bad_request("it changes nothing"))?;
        update.apply(turn, by)
    });
    Ok(changed(change.await?).respond(StatusCode::OK))
}

/// Says how a change of the shared state was taken.
pub fn changed(change: Change) -> Answer {
    let outcome = if change.is_duplicate { "duplicate" } else { "applied" };
    Answer::new().text("outcome", outcome).number("version", change.version.into())
}

/// Notes a sign of life. Nobody relies on it, so nothing waits until it is durable.
fn note(caller: &Caller, sending: Sending) -> Result<Response, Problem> {
    let kind = sending.incoming.message.kind;
    caller.hub.node().note_with(move |turn| {
        // A bus without room keeps no signs of life; the next one is soon there.
        drop(sending.note(turn));
    });
    let answer = Answer::new().text("kind", kind.name()).text("stage", "acknowledged");
    Ok(answer.respond(StatusCode::ACCEPTED))
}
