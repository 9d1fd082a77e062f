//! Clients that others wrote: Python's `httpx` and `websockets`, `fetch` and `ws` of JavaScript, and `schemathesis`,
//! which makes requests up. `curl` is tested with the examples of the README (`docs.rs`).
//!
//! Where they cannot be had the tests pass and say what they skipped.

use crate::rounds::run;

#[test]
fn a_session_in_python() {
    run("python");
}

#[test]
fn a_platform_of_agent_wire_in_python() {
    run("wire");
}

#[test]
fn records_in_python() {
    run("repo-python");
}

#[test]
fn the_official_client_is_answered_as_by_a_pds() {
    run("pds");
}

#[test]
fn the_stream_is_followed_while_the_official_client_writes() {
    run("follow");
}

#[test]
fn requests_made_up_from_the_openapi_document() {
    run("openapi");
}

#[test]
fn a_bus_client_in_python() {
    run("bus-python");
}

#[test]
fn a_bus_client_in_typescript() {
    run("bus-node");
}

#[test]
fn coord_agents_in_python() {
    run("coord-python");
}
