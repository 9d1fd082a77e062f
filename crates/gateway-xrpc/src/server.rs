//! What the server is, for clients that look before they log in.

use axum::http::StatusCode;
use axum::response::Response;
use gateway::Answer;

use crate::store::BLOB_BYTES_MAX;

/// What the server is called where a DID is wanted; it has none that could be resolved.
pub(crate) const SERVICE: &str = "did:web:convoke.invalid";

/// Says that the door is open.
pub(crate) async fn health() -> Response {
    Answer::new().text("version", env!("CARGO_PKG_VERSION")).respond(StatusCode::OK)
}

/// Describes the server: agents are made by the operator, and their handles are whatever the operator says.
pub(crate) async fn describe() -> Response {
    let answer = Answer::new().text("did", SERVICE).raw("availableUserDomains", "[]");
    let answer = answer.flag("inviteCodeRequired", true).flag("phoneVerificationRequired", false);
    answer.number("blobUploadLimit", BLOB_BYTES_MAX).respond(StatusCode::OK)
}
