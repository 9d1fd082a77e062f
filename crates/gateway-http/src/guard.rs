//! Who may knock at all: requests by a browser on somebody else's behalf are turned away before anything is read.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::door::Door;
use crate::problem::Problem;

/// Turns requests away that call the server by a name that is not its own, or that come from a page of another site.
pub(crate) async fn check(State(door): State<Door>, request: Request, next: Next) -> Response {
    match refusal(&door.hosts, request.headers()) {
        Some(problem) => problem.into_response(),
        None => next.run(request).await,
    }
}

fn refusal(hosts: &[String], headers: &HeaderMap) -> Option<Problem> {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let is_ours = |authority: &str| hosts.iter().any(|host| host == name_of(authority));
    let host = text(header::HOST).unwrap_or_default();
    if !is_ours(host) {
        return Some(Problem::forbidden("host", "the server is called by a name that is not its own"));
    }
    let origin = text(header::ORIGIN)?;
    let is_own_page = origin.split_once("://").is_some_and(|(_, authority)| is_ours(authority));
    (!is_own_page).then(|| Problem::forbidden("origin", "pages of other sites may not speak to the bus"))
}

/// Returns a host without its port.
fn name_of(authority: &str) -> &str {
    match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => authority.split(':').next().unwrap_or_default(),
    }
}
