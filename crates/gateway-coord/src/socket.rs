//! The socket: one typed message a frame, both ways.

use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;
use dialect::Name;
use gateway::plain::{self, Manner, Refused};
use gateway::websocket::Upgrade;
use gateway::{Answer, At, Code, Hub, Problem, Query};

use crate::report::{SYSTEM, report};

const MANNER: Manner =
    Manner { dialect: Name::Coord, by: "coord", id_key: "id", nobody: "unknown_agent", refuse: refused };

/// Opens the socket of an agent.
pub(crate) async fn open(
    State(hub): State<Hub>,
    At(name): At<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    upgrade: Result<Upgrade, Problem>,
) -> Result<Response, Problem> {
    debug_assert_eq!(MANNER.nobody, Code::UnknownAgent.name(), "one word for one idea");
    let shown = gateway::shown(&hub, &headers, Query(query.as_deref()))?;
    plain::open(hub, MANNER, name, shown, upgrade?)
}

/// Tells a peer that its message was refused, by a message of the type `ERROR_REPORT`.
fn refused(refused: &Refused<'_>) -> String {
    let Refused { agent, about, problem, at, .. } = refused;
    let metadata = Answer::new()
        .maybe("correlation_id", *about)
        .text("priority", "critical")
        .number("retry_count", 0)
        .number("max_retries", 0);
    Answer::with_capacity(1_024)
        .text("id", &gateway::uuid())
        .text("timestamp", &at.to_string())
        .text("from", SYSTEM)
        .text("to", agent.as_str())
        .text("type", "ERROR_REPORT")
        .raw("payload", &report(problem).end())
        .raw("metadata", &metadata.end())
        .end()
}
