//! How the bus is: whether it is alive and ready, who asks, what it holds.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use broker::Totals;
use gateway::{Hub, Principal, Problem};

use gateway::Answer;
use gateway::Caller;

/// Says that the process is alive.
pub(crate) async fn alive() -> &'static str {
    "ok\n"
}

/// Says whether the bus takes messages, and if not, why.
pub(crate) async fn ready(State(hub): State<Hub>) -> Response {
    let (status, state, detail) = if *hub.stopping().borrow() {
        (StatusCode::SERVICE_UNAVAILABLE, "stopping", "the bus stops")
    } else if hub.node().is_stopped() {
        (StatusCode::SERVICE_UNAVAILABLE, "stopping", "the node has stopped")
    } else if hub.node().is_full() {
        (
            StatusCode::SERVICE_UNAVAILABLE,
            "full",
            "the disk is full: messages can be taken and settled, not sent",
        )
    } else {
        (StatusCode::OK, "ready", "")
    };
    let answer = Answer::new().flag("ready", status == StatusCode::OK).text("state", state);
    answer.maybe("detail", Some(detail).filter(|detail| !detail.is_empty())).respond(status)
}

/// Tells whom a token speaks for, and what time it is here.
pub(crate) async fn me(caller: Caller) -> Result<Response, Problem> {
    let name = caller.hub.name_of(caller.principal.speaker());
    let name = name.as_ref().map_or("human", |name| name.as_str());
    let also = match &caller.principal {
        Principal::Agent(speaker) => {
            speaker.also.iter().filter_map(|agent| caller.hub.name_of(*agent)).collect()
        }
        Principal::Operator | Principal::Anybody => Vec::new(),
    };
    let dialect = caller.hub.find(name).map_or(dialect::Name::Convoke, |(_, _, dialect)| dialect);
    let answer = Answer::new()
        .text("agent", name)
        .flag("operator", caller.principal.is_operator())
        .texts("speaks_for", also.iter().map(ToString::to_string))
        .text("dialect", dialect.name())
        .text("time", &caller.hub.node().wall().timestamp().to_string())
        .text("version", env!("CARGO_PKG_VERSION"))
        .number("seq", caller.hub.node().durable().0);
    Ok(answer.respond(StatusCode::OK))
}

/// Counts what the bus holds.
pub(crate) async fn bus(caller: Caller) -> Result<Response, Problem> {
    let counts = caller.hub.query(Totals).await?;
    let (position, durable) = (caller.hub.history().position(), caller.hub.node().durable());
    let history = Answer::new()
        .number("applied", position.applied.0)
        .number("indexed", position.indexed.0)
        .number("lag", durable.0.saturating_sub(position.applied.0))
        .number("since", position.since.0)
        .maybe("trouble", caller.hub.history().trouble().as_deref())
        .end();
    let log = Answer::new()
        .number("first", caller.hub.node().log_first().0)
        .number("bytes", caller.hub.node().log_bytes())
        .end();
    let disk = Answer::new().flag("full", caller.hub.node().is_full()).end();
    let answer = Answer::new()
        .number("agents", counts.agents)
        .number("messages", counts.messages)
        .number("bytes", counts.bytes)
        .number("dead", counts.dead)
        .number("handed_out", counts.handed_out)
        .number("waits", counts.waits)
        .number("seq", durable.0)
        .raw("history", &history)
        .raw("log", &log)
        .raw("disk", &disk);
    Ok(answer.respond(StatusCode::OK))
}
