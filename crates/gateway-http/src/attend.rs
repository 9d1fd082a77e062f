//! What is done for every request, whichever door it knocks at: it is turned away if it comes from somebody else's
//! page, large answers that nobody reads are counted, a problem is told in the shape of the door, and a line is written
//! for those who look for a fault.
//!
//! One layer does all of it: each has every request moved into memory of its own on the way in.

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use gateway::{Hub, Shapes};
use tokio::time::Instant;

use crate::unread::Asker;

/// What it takes.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) hub: Hub,
    pub(crate) shapes: Shapes,
}

pub(crate) async fn attend(State(desk): State<Desk>, request: Request, next: Next) -> Response {
    let line = tracing::enabled!(tracing::Level::DEBUG).then(|| Line::begin(&request));
    let shape = desk.shapes.at(request.uri().path());
    let has_much = gateway::has_much(request.headers());
    let response = match gateway::refusal(&desk.hub, request.headers()) {
        Some(problem) => problem.into_response(),
        None => {
            let asker = Asker::of(&request);
            asker.count(&desk.hub, next.run(request).await).await
        }
    };
    let mut response = gateway::shaped(response, shape);
    // What was not read stands in the way of the next request, so the connection ends, and says so.
    if has_much && response.status().is_client_error() {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if let Some(line) = line {
        line.end(&response);
    }
    response
}

/// What was asked for, to be written down with how it was answered. Never what was said: no body, no query, no token,
/// and of the path its template, because a path may hold what somebody would rather not see in a log.
struct Line {
    method: Method,
    path: Option<MatchedPath>,
    began: Instant,
}

impl Line {
    fn begin(request: &Request) -> Self {
        let path = request.extensions().get::<MatchedPath>().cloned();
        Line { method: request.method().clone(), path, began: Instant::now() }
    }

    fn end(self, response: &Response) {
        let Line { method, path, began } = self;
        let path = path.as_ref().map_or("(none)", MatchedPath::as_str);
        let (status, duration_us) = (response.status().as_u16(), began.elapsed().as_micros());
        tracing::debug!(
            http.method = %method, http.path = path, http.status = status, duration_us = %duration_us,
            "{method} {path} answered {status}"
        );
    }
}
