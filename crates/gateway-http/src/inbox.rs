//! An agent's inbox: looking changes nothing, taking hands messages out.

use std::time::Duration;

use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::Response;
use gateway::{Body, Problem, Query};
use message::Seq;
use node::Wishes;

use gateway::Answer;
use gateway::letters::{self, BYTES_MAX};
use gateway::{At, Caller};

const MAX_DEFAULT: u64 = 10;
const MAX_LOOK: u64 = 1_000;
const WAIT_MS_MAX: u64 = 5 * 60 * 1_000;
/// Bytes that a model counts as one token, roughly.
const TOKEN_BYTES: u64 = 4;

/// Shows what waits.
pub(crate) async fn look(
    caller: Caller,
    At(name): At<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let query = Query(query.as_deref());
    let agent = caller.own(&name)?;
    caller.visits(&agent);
    let dialect = query.dialect()?.unwrap_or(agent.dialect);
    let max = query.number("max")?.unwrap_or(MAX_DEFAULT).min(MAX_LOOK);
    let bytes_max = bytes_max(query.number("max_tokens")?);
    let max = usize::try_from(max).unwrap_or(0);
    let (shown, more) = letters::look(&caller.hub, agent.key, dialect, max, bytes_max).await?;
    let messages = shown.iter().map(|(view, outgoing)| {
        let from = caller.hub.name_of(view.from);
        let answer = Answer::with_capacity(outgoing.text.len() + 256)
            .text("id", &view.id.to_string())
            .text("stage", view.stage.name())
            .text("priority", view.priority.name())
            .text("kind", view.kind.name())
            .maybe("from", from.as_ref().map(|name| name.as_str()))
            .text("at", &letters::came(view.id).to_string())
            .text("dialect", outgoing.dialect.name());
        answer.raw("document", &outgoing.text).end()
    });
    Ok(Answer::new().list("messages", messages).number("more", more).respond(StatusCode::OK))
}

/// Hands messages out.
pub(crate) async fn take(caller: Caller, At(name): At<String>, body: Body) -> Result<Response, Problem> {
    let body = gateway::body(body)?;
    let agent = caller.own(&name)?;
    // Before anything is handed out: what cannot be answered would be lost for a while.
    caller.hub.may_answer_at_length(caller.principal.who())?;
    let fields = gateway::fields(&body)?;
    caller.visits(&agent);
    let wishes = Wishes {
        agent: agent.key,
        session: None,
        max: u32::try_from(fields.number("max")?.unwrap_or(MAX_DEFAULT)).unwrap_or(u32::MAX),
        bytes_max: bytes_max(fields.number("max_tokens")?),
        lease_ms: fields.duration_ms("lease")?.unwrap_or(caller.hub.limits().lease_ms),
        by: "http".into(),
    };
    let wait_ms = fields.duration_ms("wait")?.unwrap_or(0).min(WAIT_MS_MAX);
    let _connection = if wait_ms > 0 { Some(caller.hub.count_connection(&caller.principal)?) } else { None };
    let dialect = fields.dialect("dialect")?.unwrap_or(agent.dialect);
    let mut letters = caller.hub.node().take(wishes, Duration::from_millis(wait_ms)).await?;
    let places: Vec<Seq> = letters.iter().map(|letter| letter.delivery.body).collect();
    let bodies = letters::bodies(&caller.hub, places).await?;
    let mut deliveries = Vec::with_capacity(letters.len());
    for (letter, body) in letters.drain(..).zip(&bodies) {
        deliveries.push(letters::delivery(&caller.hub, &letter, body, dialect, None).await?);
    }
    Ok(Answer::new().list("deliveries", deliveries).respond(StatusCode::OK))
}

fn bytes_max(tokens_max: Option<u64>) -> u64 {
    tokens_max.map_or(BYTES_MAX, |tokens| tokens.saturating_mul(TOKEN_BYTES).min(BYTES_MAX))
}
