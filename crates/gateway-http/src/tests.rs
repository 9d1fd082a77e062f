//! The door, called as a client calls it; only the socket is missing.

mod calls;
mod server;
