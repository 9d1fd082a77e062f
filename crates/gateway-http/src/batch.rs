//! Many documents at once: JSON Lines in, one receipt or problem a line out, in order, in one commit.

use axum::extract::RawQuery;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use gateway::{Asking, Body, Code, Problem, Query, Sending};

use crate::messages;
use gateway::Caller;

/// Lines of a batch at most; each holds memory until all are durable.
const LINES_MAX: usize = 10_000;

/// Takes documents in. Nothing waits for replies here: a wish to wait is a wish for a receipt.
pub(crate) async fn send(
    caller: Caller,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let body = gateway::body(body)?;
    let query = Query(query.as_deref());
    let dialect = messages::dialect(query, &headers)?;
    let trace = gateway::header_text(&headers, &gateway::TRACE);
    let asking = Asking { hold: query.flag("hold")?, trace, ..Asking::default() };
    let is_full = |line: &&[u8]| !line.iter().all(u8::is_ascii_whitespace);
    let lines: Vec<&[u8]> = body.split(|byte| *byte == b'\n').filter(is_full).collect();
    if lines.len() > LINES_MAX {
        let detail = format!("{} lines, at most {LINES_MAX} are taken at once", lines.len());
        return Err(Problem::new(Code::TooLarge, detail));
    }
    let read = |line| Sending::read(&caller.hub, &caller.principal, line, dialect, asking);
    let sendings: Vec<_> = lines.into_iter().map(read).collect();
    let outcomes = caller.hub.call(move |turn| {
        let accept = |sending: Result<Sending, Problem>| {
            let sending = sending?;
            let receipted = sending.accept(turn)?;
            let recipients = turn.broker().receipt(receipted.id).unwrap_or_default();
            Ok((sending.incoming, receipted, recipients))
        };
        Ok(sendings.into_iter().map(accept).collect::<Vec<Result<_, Problem>>>())
    });
    let mut text = String::new();
    for outcome in outcomes.await? {
        match outcome {
            Ok((incoming, receipted, recipients)) => {
                let receipt = gateway::receipt_of(&incoming, receipted, recipients);
                text.push_str(&receipt.to_json());
            }
            Err(problem) => text.push_str(&problem.to_value().to_json()),
        }
        text.push('\n');
    }
    Ok((StatusCode::OK, [(header::CONTENT_TYPE, "application/jsonl")], text).into_response())
}
