//! The coord door: `/coord` over HTTP and WebSocket, for agents that speak the Agent Communication Protocols.

use axum::Router;
use axum::http::StatusCode;
use axum::response::Response;
use gateway::{Answer, Doorway, Problem};

/// Returns the door.
pub fn doorway() -> Doorway {
    Doorway { prefix: "/coord", routes: Router::new(), shape }
}

/// Says what went wrong as clients of this door expect it.
fn shape(problem: &Problem) -> Response {
    let status = StatusCode::from_u16(problem.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Answer::new().text("error", problem.code.name()).text("message", &problem.detail).respond(status)
}
