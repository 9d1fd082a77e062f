//! Problems: everything that can go wrong, as a status, a stable code and a sentence. The one place where errors
//! become HTTP.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use broker::Refusal;
use gateway::{Denied, IntakeError, OutgoingError};
use json::{Object, Value};
use node::CallError;

/// What went wrong.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: String,
    extra: Object<'static>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Problem { status, code, detail: detail.into(), extra: Object::new() }
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Problem::new(StatusCode::NOT_FOUND, "not_found", detail)
    }

    pub(crate) fn forbidden(code: &'static str, detail: impl Into<String>) -> Self {
        Problem::new(StatusCode::FORBIDDEN, code, detail)
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Problem::new(StatusCode::BAD_REQUEST, "bad_request", detail)
    }

    fn with(mut self, key: &'static str, value: Value<'static>) -> Self {
        self.extra.insert(key, value);
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut members: Object<'_> = Object::new();
        members.insert("status", Value::from(u64::from(self.status.as_u16())));
        members.insert("title", Value::from(self.status.canonical_reason().unwrap_or("problem")));
        members.insert("code", Value::from(self.code));
        members.insert("detail", Value::from(self.detail.as_str()));
        for (key, value) in self.extra.iter() {
            members.insert(key.to_owned(), value.clone());
        }
        let body = Value::Object(members).to_json();
        (self.status, [(header::CONTENT_TYPE, "application/problem+json")], body).into_response()
    }
}

impl From<Denied> for Problem {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::NoToken => Problem::new(StatusCode::UNAUTHORIZED, "no_token", denied.to_string()),
            Denied::NotYours => Problem::forbidden("not_yours", denied.to_string()),
        }
    }
}

impl From<CallError> for Problem {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused(refusal) => refusal.into(),
            CallError::NoRoom => Problem::new(StatusCode::INSUFFICIENT_STORAGE, "no_room", error.to_string()),
            CallError::Stopped => Problem::new(StatusCode::SERVICE_UNAVAILABLE, "stopped", error.to_string()),
        }
    }
}

impl From<IntakeError> for Problem {
    fn from(error: IntakeError) -> Self {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        match &error {
            IntakeError::Json(_) | IntakeError::NotAnObject => {
                Problem::new(StatusCode::BAD_REQUEST, "not_json", error.to_string())
            }
            IntakeError::UnknownDialect => Problem::new(status, "unknown_dialect", error.to_string()),
            IntakeError::Invalid { errors, .. } => {
                let errors = errors.iter().map(|finding| finding.to_value().into_owned()).collect();
                Problem::new(status, "invalid", error.to_string()).with("errors", Value::Array(errors))
            }
        }
    }
}

impl From<OutgoingError> for Problem {
    fn from(error: OutgoingError) -> Self {
        match &error {
            OutgoingError::Stored => {
                Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "stored", error.to_string())
            }
            OutgoingError::Untranslatable { .. } => {
                Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "untranslatable", error.to_string())
            }
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let (status, code) = status_of(&refusal);
        let problem = Problem::new(status, code, refusal.to_string());
        if let Refusal::UnknownRecipient { suggestions, .. } = &refusal {
            let suggestions = suggestions.iter().map(|name| Value::from(name.clone())).collect();
            return problem.with("suggestions", Value::Array(suggestions));
        }
        if let Refusal::Conflict { id } = &refusal {
            return problem.with("id", Value::from(id.to_string()));
        }
        problem
    }
}

fn status_of(refusal: &Refusal) -> (StatusCode, &'static str) {
    match refusal {
        Refusal::UnknownAgent => (StatusCode::NOT_FOUND, "unknown_agent"),
        Refusal::UnknownRecipient { .. } => (StatusCode::NOT_FOUND, "unknown_recipient"),
        Refusal::UnknownDelivery => (StatusCode::NOT_FOUND, "unknown_delivery"),
        Refusal::UnknownMessage => (StatusCode::NOT_FOUND, "unknown_message"),
        Refusal::UnknownSession => (StatusCode::NOT_FOUND, "unknown_session"),
        Refusal::NotDead => (StatusCode::NOT_FOUND, "not_dead"),
        Refusal::NameTaken { .. } => (StatusCode::CONFLICT, "name_taken"),
        Refusal::Conflict { .. } => (StatusCode::CONFLICT, "conflict"),
        Refusal::LeaseLost => (StatusCode::CONFLICT, "lease_lost"),
        Refusal::NotParked => (StatusCode::CONFLICT, "not_parked"),
        Refusal::Settled => (StatusCode::CONFLICT, "settled"),
        Refusal::NameReserved { .. } => (StatusCode::FORBIDDEN, "name_reserved"),
        Refusal::NotYours => (StatusCode::FORBIDDEN, "not_yours"),
        Refusal::NoRecipient => (StatusCode::UNPROCESSABLE_ENTITY, "no_recipient"),
        Refusal::TooManyRecipients { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "too_many_recipients"),
        Refusal::Expired => (StatusCode::UNPROCESSABLE_ENTITY, "expired"),
        Refusal::TooManyHops { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "too_many_hops"),
        Refusal::TooLong { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "too_long"),
        Refusal::LeaseLength { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "lease_length"),
        Refusal::NotAGroup { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "not_a_group"),
        Refusal::TooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
        Refusal::TooMany { .. } => (StatusCode::TOO_MANY_REQUESTS, "too_many"),
        Refusal::QueueFull { .. } | Refusal::QueueBytesFull { .. } => {
            (StatusCode::TOO_MANY_REQUESTS, "queue_full")
        }
        Refusal::BusFull { .. } | Refusal::BusBytesFull { .. } => (StatusCode::TOO_MANY_REQUESTS, "bus_full"),
    }
}
