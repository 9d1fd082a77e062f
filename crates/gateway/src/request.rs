//! What a request says: its token, its query, its body.

use std::borrow::Cow;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dialect::Name;
use json::{Limits, Value};
use message::parse_duration;

use crate::{Code, Hub, Problem, Token};

/// A body, or why it could not be read.
pub type Body = Result<Bytes, BytesRejection>;

/// The query of a request, not yet taken apart.
#[derive(Clone, Copy, Debug)]
pub struct Query<'q>(pub Option<&'q str>);

/// The members of a body that has options, or none.
#[derive(Debug)]
pub struct Fields<'a>(Value<'a>);

/// The header in which clients of the AgentMessage bus send their token.
/// The header in which some clients show their token.
pub const API_KEY: HeaderName = HeaderName::from_static("x-agent-api-key");
/// What a token is called in a query, where the operator allows it there.
const TOKENS_IN_QUERY: [&str; 2] = ["token", "api_key"];

/// What a request shows to be let in.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// The token, if it is one.
    pub token: Option<Token>,
    /// Whether anything was shown, token or not.
    pub is_any: bool,
}

/// Returns the token in the head of a request, if it is one.
pub fn token(headers: &HeaderMap) -> Option<Token> {
    match header_text(headers, &header::AUTHORIZATION) {
        Some(value) => {
            let (scheme, token) = value.split_once(' ')?;
            if scheme.eq_ignore_ascii_case("bearer") { token.trim().parse().ok() } else { None }
        }
        None => header_text(headers, &API_KEY)?.trim().parse().ok(),
    }
}

/// Returns what a request shows to be let in, in its head or, for those who cannot set one, in its query. A token
/// that stands where the operator does not want it is refused, so that nobody leaves it there.
pub fn shown(hub: &Hub, headers: &HeaderMap, query: Query<'_>) -> Result<Shown, Problem> {
    if [header::AUTHORIZATION, API_KEY].iter().any(|name| headers.contains_key(name)) {
        return Ok(Shown { token: token(headers), is_any: true });
    }
    for key in TOKENS_IN_QUERY {
        let Some(token) = query.get(key)? else { continue };
        if hub.allows_token_in_url() {
            return Ok(Shown { token: token.parse().ok(), is_any: true });
        }
        if !hub.is_open() {
            let detail = format!("`{key}` in the URL is not read: URLs end up in logs");
            return Err(Problem::new(Code::NoToken, detail));
        }
    }
    Ok(Shown::default())
}

/// Returns the text of a header.
pub fn header_text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Returns the dialect of a name; `auto` is whichever it looks like.
pub fn dialect_of(name: &str) -> Result<Option<Name>, Problem> {
    if name == "auto" {
        return Ok(None);
    }
    let found = Name::from_name(name).ok_or_else(|| {
        let names: Vec<_> = Name::ALL.iter().map(|name| name.name()).collect();
        Problem::bad_request(format!("there is no dialect {name:?}, only {}", names.join(", ")))
    })?;
    Ok(Some(found))
}

/// Returns the body of a request.
pub fn body(body: Body) -> Result<Bytes, Problem> {
    body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Problem::new(Code::TooLarge, "the request has too many bytes"),
        _ => Problem::bad_request("the request ended before its body did"),
    })
}

/// Reads the body of a request that has options, or none.
pub fn fields(body: &[u8]) -> Result<Fields<'_>, Problem> {
    let body = if body.iter().all(u8::is_ascii_whitespace) { b"{}" } else { body };
    let value = json::parse(body, Limits::DOCUMENT);
    let value = value.map_err(|error| Problem::new(Code::NotJson, format!("not JSON: {error}")))?;
    if value.as_object().is_none() {
        return Err(Problem::new(Code::NotJson, "the body is a JSON object"));
    }
    Ok(Fields(value))
}

/// Answers with JSON.
pub fn answer(status: StatusCode, value: &Value<'_>) -> Response {
    json_text(status, value.to_json())
}

/// Answers with a text that is JSON.
pub fn json_text(status: StatusCode, text: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], text).into_response()
}

impl<'q> Query<'q> {
    /// Returns a value of the query, decoded; of several with the same key the first.
    pub fn get(self, key: &str) -> Result<Option<Cow<'q, str>>, Problem> {
        let pairs = self.0.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
        let mut pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let Some((_, value)) = pairs.find(|(name, _)| *name == key) else { return Ok(None) };
        decode(value)
            .map(Some)
            .ok_or_else(|| Problem::bad_request(format!("`{key}` in the query is not UTF-8")))
    }

    /// Returns every value of a key, decoded, in order.
    pub fn all(self, key: &str) -> Result<Vec<Cow<'q, str>>, Problem> {
        let pairs = self.0.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let values = pairs.filter(|(name, _)| *name == key).map(|(_, value)| decode(value));
        let values = values.collect::<Option<_>>();
        values.ok_or_else(|| Problem::bad_request(format!("`{key}` in the query is not UTF-8")))
    }

    /// Returns a number of the query.
    pub fn number(self, key: &str) -> Result<Option<u64>, Problem> {
        let Some(text) = self.get(key)? else { return Ok(None) };
        let number =
            text.parse().map_err(|_| Problem::bad_request(format!("`{key}` is a number, not {text:?}")))?;
        Ok(Some(number))
    }

    /// Returns a duration of the query, such as `30s`, in milliseconds.
    pub fn duration_ms(self, key: &str) -> Result<Option<u64>, Problem> {
        self.get(key)?.map(|text| milliseconds(key, &text)).transpose()
    }

    /// Tells whether something is wished.
    pub fn flag(self, key: &str) -> Result<bool, Problem> {
        match self.get(key)?.as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(other) => Err(Problem::bad_request(format!("`{key}` is true or false, not {other:?}"))),
        }
    }

    /// Returns the dialect that is wished.
    pub fn dialect(self) -> Result<Option<Name>, Problem> {
        self.get("dialect")?.map_or(Ok(None), |name| dialect_of(&name))
    }
}

impl<'a> Fields<'a> {
    /// Returns the object itself.
    pub fn value(&self) -> &Value<'a> {
        &self.0
    }

    /// Returns a text.
    pub fn text(&self, key: &str) -> Result<Option<&str>, Problem> {
        match self.present(key) {
            None => Ok(None),
            Some(value) => value.as_str().map(Some).ok_or_else(|| wrong(key, "a string")),
        }
    }

    /// Returns a number that is not negative.
    pub fn number(&self, key: &str) -> Result<Option<u64>, Problem> {
        let Some(value) = self.present(key) else { return Ok(None) };
        let number = value.as_integer().and_then(|number| u64::try_from(number).ok());
        number.map(Some).ok_or_else(|| wrong(key, "a whole number, 0 or more"))
    }

    /// Returns yes or no.
    pub fn flag(&self, key: &str) -> Result<Option<bool>, Problem> {
        let Some(value) = self.present(key) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| wrong(key, "true or false"))
    }

    /// Returns a list of texts.
    pub fn texts(&self, key: &str) -> Result<Option<Vec<&str>>, Problem> {
        let Some(value) = self.present(key) else { return Ok(None) };
        let texts = value.as_array().map(|items| items.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
        texts.flatten().map(Some).ok_or_else(|| wrong(key, "a list of strings"))
    }

    /// Returns a duration, such as `"30s"`, in milliseconds.
    pub fn duration_ms(&self, key: &str) -> Result<Option<u64>, Problem> {
        self.text(key)?.map(|text| milliseconds(key, text)).transpose()
    }

    /// Returns a dialect.
    pub fn dialect(&self, key: &str) -> Result<Option<Name>, Problem> {
        self.text(key)?.map_or(Ok(None), dialect_of)
    }

    fn present(&self, key: &str) -> Option<&Value<'a>> {
        self.0.get(key)
    }
}

fn wrong(key: &str, expected: &str) -> Problem {
    Problem::bad_request(format!("`{key}` is {expected}"))
}

fn milliseconds(key: &str, text: &str) -> Result<u64, Problem> {
    let duration = parse_duration(text).map_err(|error| Problem::bad_request(format!("`{key}`: {error}")))?;
    Ok(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

/// Decodes a value of a query; nothing if it is not UTF-8. A `+` is a blank, as forms and libraries write it.
fn decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains(['%', '+']) {
        return Some(Cow::Borrowed(text));
    }
    let bytes = text.as_bytes();
    let hex = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match (byte, hex(at + 1), hex(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push(u8::try_from(high * 16 + low).ok()?);
                at += 3;
            }
            (b'+', ..) => {
                decoded.push(b' ');
                at += 1;
            }
            _ => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).ok().map(Cow::Owned)
}
