//! The XRPC door: `/xrpc`, repositories of records, and `/subscribe`, for clients of the AT Protocol.
//!
//! Each call is one function, in a file with its kin. A record of a message collection is a message: writing it sends
//! it, changing it amends it, removing it takes it back. Answers and errors have the names and the forms that a PDS
//! gives them.
//!
//! Nothing here signs, and nothing is resolved over the network: a repository is what one agent of this bus wrote.

mod blobs;
mod identity;
mod jwt;
mod reading;
mod refused;
mod repo;
mod server;
mod sessions;
mod store;
mod stream;
mod visitor;
mod writing;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::routing::{any, get, post};
use axum::{Extension, Router};
use gateway::{Doorway, Hub, RateLimits, Rates};

use refused::{Refused, shape};
use store::Blobs;

/// What sessions are signed with; the name of the key.
const SESSION_KEY: &str = "convoke 2026 sessions of the XRPC door";
/// Failures to open a session that one address has at once; it earns one in a second.
const FAILURES_MAX: u32 = 30;
/// Addresses whose failures are remembered.
const FAILING_MAX: usize = 10_000;

/// What the operator chooses.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder that holds the blobs.
    pub blobs: PathBuf,
    /// Bytes of all blobs together at most.
    pub blobs_bytes_max: u64,
    /// Collections that everybody may read, without a token; a `*` at the end stands for every name that begins so.
    pub public: Vec<String>,
}

/// What every call of this door has at hand.
pub(crate) struct Door {
    pub(crate) blobs: Blobs,
    pub(crate) public: Vec<String>,
    pub(crate) session_key: [u8; 32],
    pub(crate) failures: Rates,
}

/// Returns the door: what answers under `/xrpc`, and the stream at `/subscribe`.
pub fn doorways(hub: &Hub, settings: Settings) -> Vec<Doorway> {
    let failures = RateLimits { per_second: 1, burst: FAILURES_MAX, remembered_max: FAILING_MAX };
    let door = Arc::new(Door {
        blobs: Blobs::new(settings.blobs, settings.blobs_bytes_max, hub.node().clone()),
        public: settings.public,
        session_key: hub.derive_key(SESSION_KEY),
        failures: Rates::new(failures),
    });
    store::collect(hub, &door);
    let stream =
        Router::new().route("/subscribe", get(stream::subscribe)).layer(Extension(Arc::clone(&door)));
    vec![
        Doorway { prefix: "/xrpc", routes: calls().layer(Extension(door)), shape },
        Doorway { prefix: "/subscribe", routes: stream, shape },
    ]
}

/// Every call.
fn calls() -> Router<Hub> {
    Router::new()
        .route("/xrpc/_health", get(server::health))
        .route("/xrpc/com.atproto.server.describeServer", get(server::describe))
        .route("/xrpc/com.atproto.server.createSession", post(sessions::create))
        .route("/xrpc/com.atproto.server.refreshSession", post(sessions::refresh))
        .route("/xrpc/com.atproto.server.getSession", get(sessions::show))
        .route("/xrpc/com.atproto.server.deleteSession", post(sessions::delete))
        .route("/xrpc/com.atproto.identity.resolveHandle", get(identity::resolve_handle))
        .route("/xrpc/com.atproto.repo.createRecord", post(writing::create))
        .route("/xrpc/com.atproto.repo.putRecord", post(writing::put))
        .route("/xrpc/com.atproto.repo.deleteRecord", post(writing::delete))
        .route("/xrpc/com.atproto.repo.applyWrites", post(writing::apply))
        .route("/xrpc/com.atproto.repo.getRecord", get(reading::get))
        .route("/xrpc/com.atproto.repo.listRecords", get(reading::list))
        .route("/xrpc/com.atproto.repo.describeRepo", get(reading::describe))
        .route(
            "/xrpc/com.atproto.repo.uploadBlob",
            // It is written to the disk as it comes, and counted there.
            post(blobs::upload).layer(DefaultBodyLimit::disable()),
        )
        .route("/xrpc/com.atproto.sync.getBlob", get(blobs::get))
        .route("/xrpc/{method}", any(async || Refused::unknown_method()))
}
