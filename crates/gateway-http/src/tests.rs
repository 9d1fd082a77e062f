//! Tests of the native door, against a node on a real disk.

mod calls;
mod channels;
mod documented;
mod events;
mod past;
mod presence;
mod registry;
mod replies;
mod sockets;
mod trims;

/// Starts a bus with the native door alone.
async fn start() -> doorstep::Server {
    doorstep::Server::start(|hub| crate::router(hub, Vec::new())).await
}
