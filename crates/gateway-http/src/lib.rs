//! The native door: `/v1` over HTTP.
//!
//! Each call is one file. A call reads what it was sent, does one thing with the node, and answers when that is
//! durable. What goes wrong becomes a problem with a stable code (`gateway::Problem`).
//!
//! It knows nothing of the log, and of the broker only what a node lets it do in a turn.

mod agents;
mod answer;
mod batch;
mod caller;
mod dead;
mod deliveries;
mod events;
mod inbox;
mod letters;
mod messages;
mod past;
mod serve;
mod socket;
mod status;
mod tokens;
mod waiting;

#[cfg(test)]
mod tests;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{delete, get, post, put};
use gateway::{Code, Hub, Problem};

pub use serve::{ServeLimits, Tls, TlsError, Validity, serve, trace};

/// Returns everything that the door answers.
pub fn router(hub: Hub) -> Router {
    let (body_bytes_max, batch_bytes_max) = (hub.limits().body_bytes_max, hub.limits().batch_bytes_max);
    let batch = post(batch::send).layer(DefaultBodyLimit::max(batch_bytes_max));
    Router::new()
        .route("/healthz", get(status::alive))
        .route("/readyz", get(status::ready))
        .route("/v1/me", get(status::me))
        .route("/v1/bus", get(status::bus))
        .route("/v1/messages", post(messages::send).get(past::list))
        .route("/v1/events", get(events::stream))
        .route("/v1/messages/batch", batch)
        .route("/v1/messages/{id}", get(messages::document).put(messages::amend).delete(messages::retract))
        .route("/v1/messages/{id}/receipt", get(messages::receipt))
        .route("/v1/messages/{id}/resume", post(messages::resume))
        .route("/v1/agents", get(agents::list))
        .route("/v1/agents/{agent}", put(agents::put).get(agents::show).delete(agents::remove))
        .route("/v1/agents/{agent}/tokens", post(tokens::add))
        .route("/v1/agents/{agent}/tokens/{label}", delete(tokens::revoke))
        .route("/v1/agents/{agent}/subscriptions/{address}", put(agents::join).delete(agents::leave))
        .route("/v1/agents/{agent}/inbox", get(inbox::look))
        .route("/v1/agents/{agent}/inbox/take", post(inbox::take))
        .route("/v1/agents/{agent}/socket", get(socket::open))
        .route("/v1/deliveries/{delivery}/{what}", post(deliveries::settle))
        .route("/v1/dead", get(dead::list))
        .route("/v1/dead/{id}", delete(dead::remove))
        .route("/v1/dead/{id}/retry", post(dead::retry))
        .fallback(async || Problem::not_found("there is nothing here: see /v1/openapi.json"))
        .method_not_allowed_fallback(async || {
            Problem::new(Code::MethodNotAllowed, "this path has other methods: see /v1/openapi.json")
        })
        .layer(from_fn_with_state(hub.clone(), gateway::check_site))
        .layer(DefaultBodyLimit::max(body_bytes_max))
        .layer(from_fn(trace))
        .with_state(hub)
}
