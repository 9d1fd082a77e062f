//! The native door: `/v1` over HTTP.
//!
//! Each call is one file. A call reads what it was sent, does one thing with the node, and answers when that is
//! durable. What goes wrong becomes a problem with a stable code, in one place (`problem.rs`).
//!
//! It knows nothing of the log, and of the broker only what a node lets it do in a turn.

mod agents;
mod deliveries;
mod door;
mod guard;
mod inbox;
mod messages;
mod problem;
mod request;

#[cfg(test)]
mod tests;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post, put};

pub use door::Door;

/// Bytes of a request's body at most.
const BODY_BYTES_MAX: usize = 8 << 20;

/// Returns everything that the door answers.
pub fn router(door: Door) -> Router {
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/v1/messages", post(messages::send))
        .route("/v1/messages/{id}/receipt", get(messages::receipt))
        .route("/v1/agents", get(agents::list))
        .route("/v1/agents/{agent}", put(agents::put).get(agents::show).delete(agents::remove))
        .route("/v1/agents/{agent}/inbox", get(inbox::look))
        .route("/v1/agents/{agent}/inbox/take", post(inbox::take))
        .route("/v1/deliveries/{delivery}/{what}", post(deliveries::settle))
        .fallback(async || problem::Problem::not_found("there is nothing here: see /v1/openapi.json"))
        .layer(from_fn_with_state(door.clone(), guard::check))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(door)
}
