//! Problems: everything that can go wrong, as a code and a sentence. The one place where errors of the parts below
//! become what a peer is told; each door writes them in its own shape.

use std::sync::Arc;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use broker::Refusal;
use json::{Object, Value};
use node::CallError;

use crate::{Code, Denied, IntakeError, OutgoingError};

/// What went wrong.
#[derive(Debug)]
pub struct Problem {
    /// Why, for programs.
    pub code: Code,
    /// Why, for people.
    pub detail: String,
    extra: Object<'static>,
    retry_after_s: Option<u64>,
}

impl Problem {
    /// Makes a problem of a code and a sentence.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Problem { code, detail: detail.into(), extra: Object::new(), retry_after_s: None }
    }

    /// Something that is not there, or not for whoever asks.
    pub fn not_found(detail: impl Into<String>) -> Self {
        Problem::new(Code::NotFound, detail)
    }

    /// An agent that is not there.
    pub fn nobody(name: &str) -> Self {
        Problem::new(Code::UnknownAgent, format!("nobody is called `{name}`"))
    }

    /// A request that cannot be understood.
    pub fn bad_request(detail: impl Into<String>) -> Self {
        Problem::new(Code::BadRequest, detail)
    }

    /// Says when to come again.
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after_s = Some(seconds);
        self
    }

    /// Adds a member.
    pub fn with(mut self, key: &'static str, value: Value<'static>) -> Self {
        self.extra.insert(key, value);
        self
    }

    /// Returns the problem as a JSON object.
    pub fn to_value(&self) -> Value<'_> {
        let status = StatusCode::from_u16(self.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut members: Object<'_> = Object::new();
        members.insert("status", Value::from(u64::from(self.code.status())));
        members.insert("title", Value::from(status.canonical_reason().unwrap_or("problem")));
        members.insert("code", Value::from(self.code.name()));
        members.insert("detail", Value::from(self.detail.as_str()));
        members.insert("hint", Value::from(self.code.help()));
        for (key, value) in self.extra.iter() {
            members.insert(key.to_owned(), value.clone());
        }
        Value::Object(members)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = self.to_value().to_json();
        let mut response =
            (status, [(header::CONTENT_TYPE, "application/problem+json")], body).into_response();
        if let Some(seconds) = self.retry_after_s.or((status == StatusCode::TOO_MANY_REQUESTS).then_some(1)) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        // Doors that have a shape of their own for it find it here.
        response.extensions_mut().insert(Arc::new(self));
        response
    }
}

impl From<Denied> for Problem {
    fn from(denied: Denied) -> Self {
        let code = match denied {
            Denied::NoToken => Code::NoToken,
            Denied::NotYours => Code::NotYours,
        };
        Problem::new(code, denied.to_string())
    }
}

impl From<CallError> for Problem {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused(refusal) => refusal.into(),
            CallError::NoRoom => Problem::new(Code::NoRoom, error.to_string()),
            CallError::Stopped => Problem::new(Code::Stopped, error.to_string()),
            CallError::Unexpected => Problem::new(Code::Internal, error.to_string()),
        }
    }
}

impl From<IntakeError> for Problem {
    fn from(error: IntakeError) -> Self {
        match &error {
            IntakeError::Json(_) | IntakeError::NotAnObject => Problem::new(Code::NotJson, error.to_string()),
            IntakeError::UnknownDialect => Problem::new(Code::UnknownDialect, error.to_string()),
            IntakeError::Invalid { errors, .. } => {
                let errors = errors.iter().map(|finding| finding.to_value().into_owned()).collect();
                Problem::new(Code::Invalid, error.to_string()).with("errors", Value::Array(errors))
            }
        }
    }
}

impl From<OutgoingError> for Problem {
    fn from(error: OutgoingError) -> Self {
        let code = match &error {
            OutgoingError::Stored => Code::Stored,
            OutgoingError::Untranslatable { .. } => Code::Untranslatable,
        };
        Problem::new(code, error.to_string())
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let mut problem = Problem::new(code_of(&refusal), refusal.to_string());
        if let Refusal::UnknownRecipient { suggestions, .. } = &refusal {
            let suggestions = suggestions.iter().map(|name| Value::from(name.clone())).collect();
            problem = problem.with("suggestions", Value::Array(suggestions));
        }
        if let Refusal::Conflict { id } = &refusal {
            problem = problem.with("id", Value::from(id.to_string()));
        }
        if let Refusal::Missed { task, .. }
        | Refusal::NotHolder { task, .. }
        | Refusal::TaskState { task, .. } = &refusal
        {
            problem = problem.with("task", Value::from(task.clone()));
        }
        if let Refusal::Missed { holder, .. } | Refusal::NotHolder { holder: Some(holder), .. } = &refusal {
            problem = problem.with("holder", Value::from(holder.clone()));
        }
        if let Refusal::TaskState { status, .. } = &refusal {
            problem = problem.with("task_status", Value::from(*status));
        }
        if let Refusal::Stale { current } | Refusal::Gap { current } = &refusal {
            problem = problem.with("current", Value::from(u64::from(*current)));
        }
        if let Refusal::BadPolicy { findings } = &refusal {
            let errors = findings.iter().map(|finding| finding.to_value().into_owned()).collect();
            problem = problem.with("errors", Value::Array(errors));
        }
        problem
    }
}

fn code_of(refusal: &Refusal) -> Code {
    match refusal {
        Refusal::UnknownAgent => Code::UnknownAgent,
        Refusal::UnknownRecipient { .. } => Code::UnknownRecipient,
        Refusal::UnknownDelivery => Code::UnknownDelivery,
        Refusal::UnknownMessage => Code::UnknownMessage,
        Refusal::UnknownSession => Code::UnknownSession,
        Refusal::NotDead => Code::NotDead,
        Refusal::NameTaken { .. } => Code::NameTaken,
        Refusal::Conflict { .. } | Refusal::ProfileChanged { .. } => Code::Conflict,
        Refusal::LeaseLost => Code::LeaseLost,
        Refusal::NotParked => Code::NotParked,
        Refusal::Settled => Code::Settled,
        Refusal::NameReserved { .. } => Code::NameReserved,
        Refusal::NotYours => Code::NotYours,
        Refusal::NoRecipient => Code::NoRecipient,
        Refusal::TooManyRecipients { .. } => Code::TooManyRecipients,
        Refusal::Expired => Code::Expired,
        Refusal::TooManyHops { .. } => Code::TooManyHops,
        Refusal::TooLong { .. } => Code::TooLong,
        Refusal::LeaseLength { .. } => Code::LeaseLength,
        Refusal::NotAGroup { .. } => Code::NotAGroup,
        Refusal::Swapped { .. } => Code::Swapped,
        Refusal::RecordExists => Code::RecordExists,
        Refusal::UnknownRecord => Code::UnknownRecord,
        Refusal::RecordTwice { .. } | Refusal::OtherRecipient { .. } => Code::BadRequest,
        Refusal::CommitHead { .. } => Code::Internal,
        Refusal::TooLarge { .. } => Code::TooLarge,
        Refusal::TooMany { .. } => Code::TooMany,
        Refusal::QueueFull { .. } | Refusal::QueueBytesFull { .. } => Code::QueueFull,
        Refusal::BusFull { .. } | Refusal::BusBytesFull { .. } => Code::BusFull,
        Refusal::UnknownTask { .. } => Code::UnknownTask,
        Refusal::UnknownEntity { .. } => Code::NotFound,
        Refusal::UnknownGate => Code::UnknownGate,
        Refusal::Guarded { .. } => Code::Guarded,
        Refusal::TaskState { .. } => Code::TaskState,
        Refusal::TaskHeld { .. } => Code::TaskWaits,
        Refusal::NotHolder { .. } | Refusal::NoOffer { .. } => Code::NotHolder,
        Refusal::NotRequester { .. } => Code::NotYours,
        Refusal::Missed { .. } => Code::Missed,
        Refusal::NotAsked { .. } => Code::NotAsked,
        Refusal::Unfit { .. } => Code::Unfit,
        Refusal::TaskCycle { .. } => Code::TaskCycle,
        Refusal::OverPolicy { .. } => Code::OverPolicy,
        Refusal::HandoffRecipient => Code::BadRequest,
        Refusal::Stale { .. } => Code::Stale,
        Refusal::Gap { .. } => Code::Gap,
        Refusal::BadEntity { .. } | Refusal::BadPolicy { .. } => Code::Invalid,
    }
}
