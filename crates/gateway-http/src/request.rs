//! What a request says: its token, its query, its body.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dialect::Name;
use gateway::Token;
use json::{Limits, Value};
use message::parse_duration;

use crate::problem::Problem;

/// Returns the token that a request carries, if it is one.
pub(crate) fn token(headers: &HeaderMap) -> Option<Token> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") { token.trim().parse().ok() } else { None }
}

/// Returns a value of the query, plain letters only: none of ours needs more.
pub(crate) fn query<'q>(query: Option<&'q str>, key: &str) -> Option<&'q str> {
    query?
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find(|(name, _)| *name == key)
        .map(|(_, value)| value)
}

/// Returns the dialect that a request names, in its query or its header.
pub(crate) fn dialect(asked: Option<&str>, headers: &HeaderMap) -> Result<Option<Name>, Problem> {
    let in_header = headers.get("convoke-dialect").and_then(|value| value.to_str().ok());
    match query(asked, "dialect").or(in_header) {
        None => Ok(Some(Name::Convoke)),
        Some("auto") => Ok(None),
        Some(name) => name_of(name).map(Some),
    }
}

/// Returns the dialect of a name.
pub(crate) fn name_of(name: &str) -> Result<Name, Problem> {
    Name::from_name(name).ok_or_else(|| Problem::bad_request(format!("there is no dialect {name:?}")))
}

/// A body, or why it could not be read.
pub(crate) type Body = Result<Bytes, BytesRejection>;

/// Returns the body of a request.
pub(crate) fn body(body: Body) -> Result<Bytes, Problem> {
    body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            let detail = format!("a request has at most {} bytes", crate::BODY_BYTES_MAX);
            Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
        }
        _ => Problem::bad_request("the request ended before its body did"),
    })
}

/// Reads the body of a request that has options, or none.
pub(crate) fn options(body: &[u8]) -> Result<Value<'_>, Problem> {
    let body = if body.iter().all(u8::is_ascii_whitespace) { b"{}" } else { body };
    json::parse(body, Limits::DOCUMENT).map_err(|error| Problem::bad_request(format!("not JSON: {error}")))
}

/// Returns a duration among options, such as `"30s"`.
pub(crate) fn duration_ms(options: &Value<'_>, key: &str) -> Result<Option<u64>, Problem> {
    let Some(text) = options.get(key).and_then(Value::as_str) else { return Ok(None) };
    let duration = parse_duration(text).map_err(|error| Problem::bad_request(format!("{key}: {error}")))?;
    Ok(Some(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)))
}

/// Answers with JSON.
pub(crate) fn answer(status: StatusCode, value: &Value<'_>) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], value.to_json()).into_response()
}
