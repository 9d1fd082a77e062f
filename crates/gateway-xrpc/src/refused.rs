//! What went wrong, in the words of the AT Protocol: a status, a name for programs, a sentence.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use gateway::{Answer, Code, Problem};

/// Why a call is not answered as it was meant.
#[derive(Debug)]
pub(crate) enum Refused {
    /// What every door may find.
    Problem(Box<Problem>),
    /// What only this one has a name for.
    Named(StatusCode, &'static str, String),
}

impl Refused {
    /// A request that cannot be understood or carried out.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Refused::named("InvalidRequest", message)
    }

    /// A refusal with a name of its own.
    pub(crate) fn named(name: &'static str, message: impl Into<String>) -> Self {
        Refused::Named(StatusCode::BAD_REQUEST, name, message.into())
    }

    /// Somebody who has to say who he is, or is somebody else.
    pub(crate) fn unknown_caller(message: impl Into<String>) -> Self {
        Refused::Named(StatusCode::UNAUTHORIZED, "AuthenticationRequired", message.into())
    }

    /// A method that this door does not have.
    pub(crate) fn unknown_method() -> Self {
        let message = "Method Not Implemented".to_owned();
        Refused::Named(StatusCode::NOT_IMPLEMENTED, "MethodNotImplemented", message)
    }
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Refused::Problem(Box::new(problem))
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        match self {
            // The layer around the door gives it its shape.
            Refused::Problem(problem) => problem.into_response(),
            Refused::Named(status, name, message) => respond(status, name, &message),
        }
    }
}

/// Says what went wrong as clients of this door expect it.
pub(crate) fn shape(problem: &Problem) -> Response {
    let (status, name) = name_of(problem.code);
    respond(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), name, &problem.detail)
}

fn respond(status: StatusCode, name: &str, message: &str) -> Response {
    Answer::new().text("error", name).text("message", message).respond(status)
}

/// Returns the status and the name that a PDS has for a problem, or would have.
fn name_of(code: Code) -> (u16, &'static str) {
    match code {
        Code::BadRequest
        | Code::NotJson
        | Code::MethodNotAllowed
        | Code::Invalid
        | Code::UnknownDialect
        | Code::NoRecipient
        | Code::TooManyRecipients
        | Code::TooManyHops
        | Code::TooLong
        | Code::LeaseLength
        | Code::NotAGroup
        | Code::Conflict
        | Code::Settled
        | Code::RecordExists
        | Code::Breaking
        | Code::Expired => (400, "InvalidRequest"),
        Code::Swapped => (400, "InvalidSwap"),
        Code::UnknownRecord => (400, "RecordNotFound"),
        Code::UnknownRecipient => (400, "RecipientNotFound"),
        Code::UnknownAgent => (403, "AccountNotFound"),
        Code::NoToken => (401, "AuthMissing"),
        Code::NotYours | Code::Host | Code::Origin | Code::NameReserved => (403, "Forbidden"),
        Code::NotFound
        | Code::UnknownDelivery
        | Code::UnknownMessage
        | Code::UnknownSession
        | Code::UnknownTask
        | Code::UnknownGate
        | Code::NotDead => (404, "NotFound"),
        Code::TooSlow => (408, "RequestTimeout"),
        Code::NameTaken
        | Code::LeaseLost
        | Code::NotParked
        | Code::Guarded
        | Code::TaskState
        | Code::TaskWaits
        | Code::NotHolder
        | Code::Missed
        | Code::NotAsked
        | Code::Unfit
        | Code::TaskCycle
        | Code::Stale
        | Code::Gap => (409, "Conflict"),
        Code::TooLarge => (413, "PayloadTooLarge"),
        Code::HeadersTooLarge => (431, "InvalidRequest"),
        Code::NotAnUpgrade => (426, "InvalidRequest"),
        Code::TooMany
        | Code::OverPolicy
        | Code::QueueFull
        | Code::BusFull
        | Code::RateLimited
        | Code::TooManyConnections => (429, "RateLimitExceeded"),
        Code::Untranslatable | Code::Stored | Code::Internal => (500, "InternalServerError"),
        Code::Stopped | Code::HistoryBehind => (503, "NotEnoughResources"),
        Code::NoReply | Code::Undeliverable => (504, "UpstreamTimeout"),
        Code::NoRoom => (507, "NotEnoughResources"),
        Code::Gone => (410, "NotFound"),
    }
}
