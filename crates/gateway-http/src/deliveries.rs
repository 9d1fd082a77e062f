//! What becomes of a delivery: `ack`, `nack`, `surfaced`, `extend`.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use broker::{Command, Delay, Nack, Reply};
use json::{Object, Value};
use message::DeliveryId;

use crate::door::Door;
use crate::problem::Problem;
use crate::request;

/// Settles a delivery, or says what became of it.
pub(crate) async fn settle(
    State(door): State<Door>,
    Path((delivery, what)): Path<(String, String)>,
    headers: HeaderMap,
    body: request::Body,
) -> Result<Response, Problem> {
    let body = request::body(body)?;
    let delivery: DeliveryId =
        delivery.parse().map_err(|_| Problem::not_found("there is no such delivery"))?;
    let options = request::options(&body)?;
    let text = |key: &str| options.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (by, reason) = (text("by"), text("reason"));
    let delay = request::duration_ms(&options, "delay")?.map_or(Delay::Backoff, Delay::Ms);
    let is_final = options.get("retryable").and_then(Value::as_bool) == Some(false);
    let lease_ms = request::duration_ms(&options, "lease")?;
    let settled = door.call(request::token(&headers), move |turn, principal| {
        let agent = principal.speaker();
        let command = match what.as_str() {
            "ack" => Command::Ack { agent, delivery, by: &by },
            "surfaced" => Command::Surface { agent, delivery, by: &by },
            "nack" => {
                let delay = if is_final { Delay::Never } else { delay };
                Command::Nack(Nack { agent, delivery, reason: &reason, delay })
            }
            "extend" => {
                let lease_ms =
                    lease_ms.ok_or_else(|| Problem::bad_request("extend wants a lease, such as \"60s\""))?;
                Command::Extend { agent, delivery, lease_ms }
            }
            _ => return Err(Problem::not_found("a delivery is acked, nacked, surfaced or extended")),
        };
        turn.execute(&command).map_err(Problem::from)
    });
    let mut members: Object<'_> = Object::new();
    members.insert("delivery", Value::from(delivery.to_string()));
    match settled.await? {
        Reply::Stage(stage) => members.insert("stage", Value::from(stage.name())),
        Reply::Lease(until) => members.insert("lease_until", Value::from(until.timestamp().to_string())),
        Reply::Done | Reply::Agent(_) | Reply::Session { .. } | Reply::Accepted(_) | Reply::Taken(_) => None,
    };
    Ok(request::answer(StatusCode::OK, &Value::Object(members)))
}
