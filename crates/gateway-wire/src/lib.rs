//! The wire door: `/wire` over HTTP: envelopes in, inboxes and topics out.
//!
//! It speaks Agent Wire and nothing else: whatever waits for an agent is shown to it as a wire. It keeps nothing of its
//! own. Who works on a task is not decided here: a claim is a message, and the broker says whether it won.

mod claim;
mod concern;
mod inbox;
mod post;
mod refusal;
mod tasks;
mod topics;

#[cfg(test)]
mod tests;

use axum::Router;
use axum::routing::{get, post as by_post};
use gateway::Doorway;

/// Returns the door.
pub fn doorway() -> Doorway {
    let routes = Router::new()
        .route("/wire", by_post(post::send))
        .route("/wire/inbox/{agent}", get(inbox::look))
        .route("/wire/inbox/{agent}/processed", by_post(inbox::processed))
        .route("/wire/tasks/{id}", get(tasks::show))
        .route("/wire/topics/{topic}/messages", get(topics::read));
    Doorway { prefix: "/wire", routes, shape: refusal::shape }
}
