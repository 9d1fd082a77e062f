//! Who may knock at all: requests by a browser on somebody else's behalf are turned away before anything is read.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::{Code, Hub, Problem};

/// Turns requests away that call the server by a name that is not its own, or that come from a page of another site.
pub async fn check_site(State(hub): State<Hub>, request: Request, next: Next) -> Response {
    let has_much = has_much(request.headers());
    let mut response = match refusal(hub.hosts(), request.headers()) {
        Some(problem) => problem.into_response(),
        None => next.run(request).await,
    };
    // What was not read stands in the way of the next request, so the connection ends, and says so.
    if has_much && response.status().is_client_error() {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Bytes of a body that are read even when nobody wants them.
const BODY_BYTES: u64 = 64 << 10;

/// Tells whether a request has a body that may be refused before it was read.
fn has_much(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    headers.contains_key(header::TRANSFER_ENCODING) || length.is_some_and(|bytes: u64| bytes > BODY_BYTES)
}

fn refusal(hosts: &[String], headers: &HeaderMap) -> Option<Problem> {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let is_ours = |authority: &str| hosts.iter().any(|host| host.eq_ignore_ascii_case(name_of(authority)));
    let host = text(header::HOST).unwrap_or_default();
    if !is_ours(host) {
        return Some(Problem::new(Code::Host, "the server is called by a name that is not its own"));
    }
    let origin = text(header::ORIGIN)?;
    let is_own_page = origin.split_once("://").is_some_and(|(_, authority)| is_ours(authority));
    (!is_own_page).then(|| Problem::new(Code::Origin, "a page of another site asks"))
}

/// Returns a host without its port.
fn name_of(authority: &str) -> &str {
    match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => authority.split(':').next().unwrap_or_default(),
    }
}
