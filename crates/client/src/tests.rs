//! Unit tests of what needs no bus: readers and writers as tables and properties, calls against a scripted server.

mod calls;
mod following;
mod frames;
mod secure;
mod server;
mod streams;
mod writing;
