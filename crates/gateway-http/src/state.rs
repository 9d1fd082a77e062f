//! The shared state: all of it, one change of it, and what changes from then on.

use axum::body::Bytes;
use axum::extract::RawQuery;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use gateway::state::{Follower, Told, read_change, shared_state};
use gateway::{Answer, Body, Caller, Problem, Query};
use message::Seq;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Shows all of it.
pub(crate) async fn show(caller: Caller) -> Result<Response, Problem> {
    Ok(gateway::json_text(StatusCode::OK, shared_state(&caller.hub, &caller.principal).await?))
}

/// Makes one change of it.
pub(crate) async fn change(caller: Caller, body: Body) -> Result<Response, Problem> {
    let change = read_change(&gateway::body(body)?, caller.principal.speaker())?;
    let change = caller.hub.execute(change).await?;
    Ok(gateway::changed(change).respond(StatusCode::OK))
}

/// Streams what changes, from now on or from a place on.
pub(crate) async fn stream(
    caller: Caller,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let query = Query(query.as_deref());
    let resumed = gateway::header_text(&headers, &LAST_EVENT_ID).and_then(|id| id.parse().ok());
    let after = resumed.or(query.number("after")?).map(Seq);
    let token = gateway::shown(&caller.hub, &headers, query)?.token;
    let connection = caller.hub.count_connection(&caller.principal)?;
    let follower = Follower::new(caller.hub, caller.principal, token, after, connection);
    let pieces = futures_util::stream::unfold((follower, true), |(mut follower, is_first)| async move {
        let text = if is_first {
            // Whoever connects knows at once that it is heard.
            String::from("retry: 1000\n\n")
        } else {
            follower.next().await?.iter().map(event).collect()
        };
        Some((Ok::<_, std::convert::Infallible>(Bytes::from(text)), (follower, false)))
    });
    let head = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((head, axum::body::Body::from_stream(pieces)).into_response())
}

fn event(told: &Told) -> String {
    match told {
        Told::Update(seq, update) => format!("id: {seq}\nevent: update\ndata: {update}\n\n"),
        Told::Resync(seq) => {
            let data = Answer::new().number("seq", seq.0).end();
            format!("id: {seq}\nevent: resync\ndata: {data}\n\n")
        }
        Told::Nothing => String::from(": keep-alive\n\n"),
    }
}
