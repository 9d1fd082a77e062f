//! The bus door: `/bus` over HTTP and WebSocket, for clients of the AgentMessage bus.
//!
//! Paths, shapes and words are those that such clients know; what they mean is what the bus means everywhere. Where
//! the origin forgot what it promised (routing of what comes over a socket, fallbacks, retries, durations) the promise
//! is kept.

mod agents;
mod figures;
mod refusal;
mod send;
mod socket;

#[cfg(test)]
mod tests;

use axum::Router;
use axum::routing::{delete, get, post};
use gateway::Doorway;

/// Returns the door.
pub fn doorway() -> Doorway {
    let routes = Router::new()
        .route("/bus", get(socket::open))
        .route("/bus/", get(socket::open))
        .route("/bus/agents/register", post(agents::register))
        // An id may hold slashes, encoded or not.
        .route("/bus/agents/{*id}", delete(agents::remove))
        .route("/bus/messages/send", post(send::send))
        .route("/bus/health", get(figures::health))
        .route("/bus/metrics", get(figures::metrics));
    Doorway { prefix: "/bus", routes, shape: refusal::shape }
}
