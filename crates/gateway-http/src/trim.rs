//! Trimming the log when the operator says so.

use std::time::Duration;

use axum::http::StatusCode;
use axum::response::Response;
use gateway::{Answer, Body, Caller, Problem};
use node::Keep;

/// Gives up what the log need not keep, or says what that would be.
pub(crate) async fn trim(caller: Caller, body: Body) -> Result<Response, Problem> {
    caller.principal.must_be_operator()?;
    let body = gateway::body(body)?;
    let fields = gateway::fields(&body)?;
    let keep = Keep {
        time: fields.duration_ms("keep")?.map(Duration::from_millis),
        bytes: fields.number("keep_bytes")?,
    };
    if keep.is_whole() {
        return Err(Problem::bad_request("say what to keep: `keep`, a duration, or `keep_bytes`"));
    }
    let is_trial = fields.flag("dry_run")?.unwrap_or(false);
    let trim = caller.hub.node().trim(keep, is_trial).await?;
    let answer = Answer::new()
        .flag("dry_run", is_trial)
        .number("first", trim.first.0)
        .number("segments", trim.segments)
        .number("bytes", trim.bytes)
        .number("carried", trim.carried)
        .number("carried_bytes", trim.carried_bytes)
        .maybe("kept_because", trim.hindrance.map(node::Hindrance::as_str));
    Ok(answer.respond(StatusCode::OK))
}
