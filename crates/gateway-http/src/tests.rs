//! Tests of the native door, against a node on a real disk.

mod calls;
mod documented;
mod events;
mod past;
mod registry;
mod replies;
mod server;
mod sockets;
