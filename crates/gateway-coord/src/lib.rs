//! The coord door: `/coord` over HTTP and WebSocket, for agents that speak the Agent Communication Protocols.
//!
//! The protocols say what messages look like and what is promised, and nothing of how they travel. Here they travel as
//! they are: one typed message a request or a frame. What goes wrong is told as an `ErrorReport`.
//!
//! The shared state is the one that the native door shows.

mod messages;
mod report;
mod socket;
mod state;

#[cfg(test)]
mod tests;

use axum::Router;
use axum::routing::{get, post};
use gateway::Doorway;

/// Returns the door.
pub fn doorway() -> Doorway {
    let routes = Router::new()
        .route("/coord/messages", post(messages::send))
        .route("/coord/agents/{agent}/inbox", get(messages::look))
        .route("/coord/agents/{agent}", get(socket::open))
        .route("/coord/state", get(state::show).post(state::change))
        .route("/coord/state/socket", get(state::follow));
    Doorway { prefix: "/coord", routes, shape: report::shape }
}
