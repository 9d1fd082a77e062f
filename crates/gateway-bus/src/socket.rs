//! The socket: one `AgentMessage` a frame, both ways.

use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;
use dialect::Name;
use gateway::plain::{self, Manner, Refused};
use gateway::websocket::Upgrade;
use gateway::{Answer, Hub, Problem, Query, Retry};

use crate::refusal;

/// What the bus calls itself to clients of this door.
const BUS: &str = "communication-bus";

const MANNER: Manner = Manner {
    dialect: Name::Bus,
    by: "bus",
    id_key: "message_id",
    nobody: "Agent not registered",
    refuse: refused,
};

/// Opens the socket of the agent that the query names.
pub(crate) async fn open(
    State(hub): State<Hub>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    upgrade: Result<Upgrade, Problem>,
) -> Result<Response, Problem> {
    let query = Query(query.as_deref());
    let name = query.get("agent_id")?;
    let name = name.ok_or_else(|| Problem::bad_request("say who you are: /bus?agent_id=…"))?.into_owned();
    let shown = gateway::shown(&hub, &headers, query)?;
    plain::open(hub, MANNER, name, shown, upgrade?)
}

/// Tells a peer that its message was refused, by a message of the type `error`.
fn refused(refused: &Refused<'_>) -> String {
    let Refused { uri, about, problem, at, .. } = refused;
    let (code, said) = (problem.code.name(), refusal::said(problem));
    let agent = |agent_id: &str, framework: &str| {
        Answer::new().text("agent_id", agent_id).text("framework", framework).end()
    };
    let framework = uri.split_once("://").map_or("unknown", |(scheme, _)| scheme);
    let mut payload = Answer::new()
        .text("code", code)
        .text("message", &said)
        .text("error_code", code)
        .text("error_message", &said)
        .maybe("original_message_id", *about)
        .list("recovery_suggestions", [json::Value::from(problem.code.help()).to_json()]);
    for key in ["errors", "suggestions"] {
        if let Some(value) = problem.to_value().get(key) {
            payload = payload.value(key, value);
        }
    }
    let metadata = Answer::new()
        .maybe("in_reply_to", *about)
        .maybe("original_message_id", *about)
        .flag("retryable", problem.code.retry() == Retry::Later);
    Answer::with_capacity(1_024)
        .text("message_id", &format!("msg_{}", gateway::uuid()))
        .text("timestamp", &at.to_string())
        .raw("sender", &agent(BUS, BUS))
        .raw("recipient", &agent(uri, framework))
        .text("message_type", "error")
        .text("priority", "high")
        .raw("payload", &payload.end())
        .raw("routing", ROUTING)
        .raw("metadata", &metadata.end())
        .end()
}

/// A refusal is told once, now.
const ROUTING: &str =
    r#"{"timeout":"60s","retry_policy":{"max_retries":0,"backoff":"linear"},"delivery_mode":"async"}"#;
