//! What can go wrong, with codes that stay.

use std::fmt;
use std::time::Duration;

use json::{Object, Value};

/// Why a call did not do what it was to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The bus refused, and says why.
    #[error("{0}")]
    Problem(Box<Problem>),
    /// Nobody answers at the address.
    #[error("cannot reach {url}")]
    Unreachable {
        /// The address.
        url: String,
        /// Why.
        source: std::io::Error,
    },
    /// The connection ended before the answer did; whether the call was heard is not known.
    #[error("the connection to {url} broke")]
    Broken {
        /// The address.
        url: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// No answer came in time.
    #[error("{url} did not answer within {seconds} s")]
    TimedOut {
        /// The address.
        url: String,
        /// How long it had.
        seconds: u64,
    },
    /// The address of the bus is none.
    #[error("{url:?} is not the address of a bus: {reason}")]
    Url {
        /// What was given.
        url: String,
        /// What an address is.
        reason: &'static str,
    },
    /// The token cannot be put into a request.
    #[error("the token holds characters that no token has")]
    Token,
    /// TLS cannot be set up.
    #[error("cannot set up TLS: {reason}")]
    Tls {
        /// What is missing or wrong.
        reason: String,
    },
    /// The answer is not one that this client understands.
    #[error("the bus gave an answer that this client cannot read: {what}")]
    Answer {
        /// What is wrong with it.
        what: String,
    },
}

/// What the bus says about a call that it refused: `application/problem+json`.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Problem {
    /// The HTTP status.
    pub status: u16,
    /// The stable code, such as `unknown_recipient`.
    pub code: String,
    /// A sentence for people.
    pub detail: String,
    /// After how long to try again, where the bus says so.
    pub retry_after: Option<Duration>,
    /// What else there is, by code: `suggestions`, `errors`, `id`, `receipt`.
    pub extra: Object<'static>,
}

impl ClientError {
    /// Returns a stable code: that of the problem, else one of our own.
    pub fn code(&self) -> &str {
        match self {
            ClientError::Problem(problem) => &problem.code,
            ClientError::Unreachable { .. } => "unreachable",
            ClientError::Broken { .. } => "broken",
            ClientError::TimedOut { .. } => "timed_out",
            ClientError::Url { .. } => "url",
            ClientError::Token => "token",
            ClientError::Tls { .. } => "tls",
            ClientError::Answer { .. } => "answer",
        }
    }

    /// Returns what the bus said, if it said anything.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            ClientError::Problem(problem) => Some(problem),
            ClientError::Unreachable { .. }
            | ClientError::Broken { .. }
            | ClientError::TimedOut { .. }
            | ClientError::Url { .. }
            | ClientError::Token
            | ClientError::Tls { .. }
            | ClientError::Answer { .. } => None,
        }
    }

    pub(crate) fn answer(what: impl Into<String>) -> Self {
        ClientError::Answer { what: what.into() }
    }
}

impl Problem {
    /// Reads a problem; whatever is missing is filled in from the status.
    pub(crate) fn read(status: u16, retry_after: Option<Duration>, body: Option<Value<'_>>) -> Self {
        let mut extra = match body.map(Value::into_owned) {
            Some(Value::Object(members)) => members,
            Some(_) | None => Object::new(),
        };
        let mut text = |key: &str| extra.remove(key).and_then(|value| value.as_str().map(str::to_owned));
        let code = text("code").unwrap_or_else(|| format!("http_{status}"));
        let title = text("title").unwrap_or_else(|| format!("status {status}"));
        let detail = text("detail").unwrap_or(title);
        extra.remove("status");
        Problem { status, code, detail, retry_after, extra }
    }

    /// Returns a list of texts among what else there is, such as `suggestions`.
    pub fn texts(&self, key: &str) -> Vec<&str> {
        let list = self.extra.get(key).and_then(Value::as_array).unwrap_or_default();
        list.iter().filter_map(Value::as_str).collect()
    }

    /// Returns the problem as the JSON object that the bus sent.
    pub fn to_value(&self) -> Value<'_> {
        let mut members: Object<'_> = [
            ("status", Value::from(u64::from(self.status))),
            ("code", Value::from(self.code.as_str())),
            ("detail", Value::from(self.detail.as_str())),
        ]
        .into_iter()
        .collect();
        for (key, value) in self.extra.iter() {
            members.insert(key.to_owned(), value.clone());
        }
        Value::Object(members)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

/// Shows status, code and sentence; documents that travel in the rest are not for logs.
impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Problem({} {}: {})", self.status, self.code, self.detail)
    }
}
