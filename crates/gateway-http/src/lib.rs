//! The native door: `/v1` over HTTP.
//!
//! Each call is one file. A call reads what it was sent, does one thing with the node, and answers when that is
//! durable. What goes wrong becomes a problem with a stable code (`gateway::Problem`).
//!
//! It knows nothing of the log, and of the broker only what a node lets it do in a turn.

mod agents;
mod api;
mod attend;
mod batch;
mod channels;
mod dead;
mod deliveries;
mod events;
mod gates;
mod inbox;
mod lexicons;
mod messages;
mod metrics;
mod openapi;
mod past;
mod policy;
mod serve;
mod socket;
mod state;
mod status;
mod tasks;
mod tokens;
mod trim;
mod unread;

#[cfg(test)]
mod tests;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use gateway::{Code, Doorway, Hub, Problem, Shapes};

use attend::{Desk, attend};

pub use serve::{ServeLimits, Tls, TlsError, Validity, serve};

/// Returns everything that this door and the others answer.
pub fn router(hub: Hub, doorways: Vec<Doorway>) -> Router {
    let body_bytes_max = hub.limits().body_bytes_max;
    let desk = Desk { hub: hub.clone(), shapes: Shapes::of(&doorways) };
    let routes = doorways.into_iter().fold(api::routes(&hub), |routes, doorway| routes.merge(doorway.routes));
    routes
        .fallback(async || Problem::not_found("there is nothing here: see /v1/openapi.json"))
        .method_not_allowed_fallback(async || {
            Problem::new(Code::MethodNotAllowed, "this path has other methods: see /v1/openapi.json")
        })
        .layer(DefaultBodyLimit::max(body_bytes_max))
        .layer(from_fn_with_state(desk, attend))
        .with_state(hub)
}
