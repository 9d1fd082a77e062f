//! Who may knock at all: requests by a browser on somebody else's behalf are turned away before anything is read.

use axum::http::{HeaderMap, header};

use crate::{Code, Hub, Problem};

/// Says why a request is turned away that calls the server by a name that is not its own, or that comes from a page of
/// another site.
pub fn refusal(hub: &Hub, headers: &HeaderMap) -> Option<Problem> {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let is_ours =
        |authority: &str| hub.hosts().iter().any(|host| host.eq_ignore_ascii_case(name_of(authority)));
    let host = text(header::HOST).unwrap_or_default();
    if !is_ours(host) {
        return Some(Problem::new(Code::Host, "the server is called by a name that is not its own"));
    }
    let origin = text(header::ORIGIN)?;
    let is_own_page = origin.split_once("://").is_some_and(|(_, authority)| is_ours(authority));
    (!is_own_page).then(|| Problem::new(Code::Origin, "a page of another site asks"))
}

/// Bytes of a body that are read even when nobody wants them.
const BODY_BYTES: u64 = 64 << 10;

/// Tells whether a request has a body that may be refused before it was read.
pub fn has_much(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    headers.contains_key(header::TRANSFER_ENCODING) || length.is_some_and(|bytes: u64| bytes > BODY_BYTES)
}

/// Returns a host without its port.
fn name_of(authority: &str) -> &str {
    match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => authority.split(':').next().unwrap_or_default(),
    }
}
