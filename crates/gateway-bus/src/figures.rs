//! How the bus is, in figures that are counted.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use broker::Totals;
use gateway::{Answer, Caller, Hub, Problem};
use node::Durations;

/// Agents that every bus has and nobody registered.
const RESERVED: u64 = 3;

/// Says whether the bus takes messages.
pub(crate) async fn health(State(hub): State<Hub>) -> Response {
    let (status, word) = if *hub.stopping().borrow() || hub.node().is_stopped() {
        (StatusCode::SERVICE_UNAVAILABLE, "unhealthy")
    } else if hub.node().is_full() {
        (StatusCode::SERVICE_UNAVAILABLE, "degraded")
    } else {
        (StatusCode::OK, "healthy")
    };
    Answer::new().text("status", word).number("uptime", uptime_ms(&hub)).respond(status)
}

/// Shows the figures, all since the bus started; times are in milliseconds, throughput in messages a second.
pub(crate) async fn metrics(caller: Caller) -> Result<Response, Problem> {
    let hub = &caller.hub;
    let counts = hub.query(Totals).await?;
    let counters = hub.node().counters();
    let happened = &counters.happened;
    let total = |counters: &[&AtomicU64]| -> u64 {
        counters.iter().map(|counter| counter.load(Ordering::Relaxed)).sum()
    };
    let accepted = total(&[&happened.accepted]);
    let failed = total(&[&happened.dead, &happened.expired, &happened.unconfirmed]);
    let ended = failed + total(&[&happened.acknowledged]);
    let uptime_ms = uptime_ms(hub);
    let answer = Answer::new()
        .number("total_messages", accepted)
        .number("active_sessions", hub.connections() as u64)
        .number("registered_agents", counts.agents.saturating_sub(RESERVED))
        .raw("average_response_time", &mean_ms(&counters.settle))
        .raw("error_rate", &ratio(failed, ended))
        .number("uptime", uptime_ms)
        .raw("throughput", &ratio(accepted.saturating_mul(1_000), uptime_ms));
    Ok(answer.respond(StatusCode::OK))
}

fn uptime_ms(hub: &Hub) -> u64 {
    u64::try_from(hub.node().steady().as_millis()).unwrap_or(u64::MAX)
}

/// Returns how long something took on average, in milliseconds.
fn mean_ms(durations: &Durations) -> String {
    let (steps, sum) = durations.read();
    ratio(u64::try_from(sum.as_millis()).unwrap_or(u64::MAX), steps.iter().sum())
}

/// Divides, to three places; nothing divided by nothing is nothing.
fn ratio(part: u64, whole: u64) -> String {
    let thousandths = part.saturating_mul(1_000).checked_div(whole).unwrap_or(0);
    format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000)
}
