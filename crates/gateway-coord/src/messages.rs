//! Sending one message, and looking at what waits.

use axum::extract::RawQuery;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use dialect::Name;
use gateway::letters::{self, BYTES_MAX};
use gateway::{Answer, At, Body, Caller, Code, Problem, Query, Submission};

const LOOK_DEFAULT: u64 = 10;
const LOOK_MAX: u64 = 1_000;

/// Takes a message in, and answers with its receipt, or with the reply that `?wait=` waits for.
pub(crate) async fn send(
    caller: Caller,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let body = gateway::body(body)?;
    let asking = gateway::asking(Query(query.as_deref()), &headers)?;
    let submission = Submission::read(&caller.hub, &caller.principal, &body, Some(Name::Coord), asking)?;
    // A state, or a change of one, has neither.
    if submission.native_id.is_none() {
        return Err(Problem::new(Code::Invalid, "a message has a `type` and an `id`"));
    }
    gateway::post(&caller, submission).await
}

/// Shows what waits for an agent; changes nothing.
pub(crate) async fn look(
    caller: Caller,
    At(name): At<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let agent = caller.own(&name)?;
    caller.visits(&agent);
    let max = Query(query.as_deref()).number("max")?.unwrap_or(LOOK_DEFAULT).min(LOOK_MAX);
    let max = usize::try_from(max).unwrap_or(0);
    let (shown, more) = letters::look(&caller.hub, agent.key, Name::Coord, max, BYTES_MAX).await?;
    let messages = shown.into_iter().map(|(_, outgoing)| outgoing.text);
    Ok(Answer::new().list("messages", messages).number("more", more).respond(StatusCode::OK))
}
