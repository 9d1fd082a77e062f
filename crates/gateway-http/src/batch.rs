//! Many documents at once: JSON Lines in, one receipt or problem a line out, in order, in one commit.

use axum::extract::RawQuery;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use broker::{Accept, Command, Receipted};
use gateway::{Asking, Body, Code, Problem, Query, Submission};
use node::{CallError, Executed};

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
    let read = |line| Submission::read(&caller.hub, &caller.principal, line, dialect, asking);
    let (mut heads, mut commands) = (Vec::with_capacity(lines.len()), Vec::with_capacity(lines.len()));
    for line in lines {
        heads.push(read(line).map(|submission| {
            let (accept, head) = submission.into_parts();
            commands.push(Command::Accept(accept));
            head
        }));
    }
    let mut executed = caller.hub.execute_all(commands).await?.into_iter();
    let mut text = String::new();
    for head in heads {
        match head.and_then(|head| Ok(head.receipt(receipted(executed.next())?))) {
            Ok(receipt) => text.push_str(&receipt.to_json()),
            Err(problem) => text.push_str(&problem.to_value().to_json()),
        }
        text.push('\n');
    }
    Ok((StatusCode::OK, [(header::CONTENT_TYPE, "application/jsonl")], text).into_response())
}

fn receipted(executed: Option<Executed>) -> Result<Receipted, Problem> {
    Ok(executed.ok_or(CallError::Unexpected)?.answer::<Box<Accept>>()?)
}
