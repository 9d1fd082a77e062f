//! What becomes of a delivery: `ack`, `nack`, `surfaced`, `extend`.

use axum::http::StatusCode;
use axum::response::Response;
use broker::query::messages::DeliveryHolder;
use broker::{AgentKey, Delay, Nack, Settle, Settled};
use gateway::{Body, Fields, Principal, Problem};
use message::DeliveryId;
use smol_str::SmolStr;

use gateway::Answer;
use gateway::{At, Caller};

/// What is said of a delivery.
#[derive(Debug)]
pub(crate) struct Settling {
    pub(crate) delivery: DeliveryId,
    what: What,
}

#[derive(Debug)]
enum What {
    Ack { by: SmolStr },
    Surfaced { by: SmolStr },
    Nack { reason: String, delay: Delay },
    Extend { lease_ms: u64 },
}

/// Settles a delivery, or says what became of it.
pub(crate) async fn settle(
    caller: Caller,
    At((delivery, what)): At<(String, String)>,
    body: Body,
) -> Result<Response, Problem> {
    let body = gateway::body(body)?;
    let settling = Settling::read(&delivery, &what, &gateway::fields(&body)?)?;
    let agent = settler(&caller, settling.delivery).await?;
    let settled = caller.hub.execute(settling.request(agent)).await?;
    let answer = Answer::new().text("delivery", &delivery);
    let answer = match settled {
        Settled::Stage(stage) => answer.text("stage", stage.name()),
        Settled::Lease(until) => answer.text("lease_until", &until.timestamp().to_string()),
        Settled::Done => answer,
    };
    Ok(answer.respond(StatusCode::OK))
}

/// Returns as whom the caller settles a delivery: as the agent that holds it, if it may speak for that.
async fn settler(caller: &Caller, delivery: DeliveryId) -> Result<AgentKey, Problem> {
    let own = match &caller.principal {
        Principal::Agent(speaker) if speaker.also.is_empty() => return Ok(speaker.key),
        Principal::Agent(speaker) => speaker.key,
        Principal::Operator | Principal::Anybody => AgentKey::HUMAN,
    };
    let holder = caller.hub.query(DeliveryHolder { delivery }).await?;
    Ok(holder.filter(|holder| caller.principal.acts_as(*holder)).unwrap_or(own))
}

impl Settling {
    /// Says that a delivery arrived, and nothing else.
    pub(crate) fn ack(delivery: DeliveryId) -> Self {
        Settling { delivery, what: What::Ack { by: SmolStr::default() } }
    }

    /// Reads what is said of a delivery.
    pub(crate) fn read(delivery: &str, what: &str, fields: &Fields<'_>) -> Result<Self, Problem> {
        let unknown = |_| Problem::new(gateway::Code::UnknownDelivery, "there is no such delivery");
        let delivery: DeliveryId = delivery.parse().map_err(unknown)?;
        let text = |key: &str| fields.text(key).map(|text| text.unwrap_or_default().to_owned());
        let what = match what {
            "ack" => What::Ack { by: text("by")?.into() },
            "surfaced" => What::Surfaced { by: text("by")?.into() },
            "nack" => {
                let is_final = fields.flag("retryable")? == Some(false);
                let asked = fields.duration_ms("delay")?.map_or(Delay::Backoff, Delay::Ms);
                What::Nack { reason: text("reason")?, delay: if is_final { Delay::Never } else { asked } }
            }
            "extend" => {
                let missing = || Problem::bad_request("extend wants a lease, such as \"60s\"");
                What::Extend { lease_ms: fields.duration_ms("lease")?.ok_or_else(missing)? }
            }
            _ => return Err(Problem::not_found("a delivery is acked, nacked, surfaced or extended")),
        };
        Ok(Settling { delivery, what })
    }

    /// Returns the request by which an agent says it.
    pub(crate) fn request(&self, agent: AgentKey) -> Settle {
        let delivery = self.delivery;
        match &self.what {
            What::Ack { by } => Settle::Ack { agent, delivery, by: by.clone() },
            What::Surfaced { by } => Settle::Surface { agent, delivery, by: by.clone() },
            What::Nack { reason, delay } => {
                Settle::Nack(Nack { agent, delivery, reason: reason.as_str().into(), delay: *delay })
            }
            What::Extend { lease_ms } => Settle::Extend { agent, delivery, lease_ms: *lease_ms },
        }
    }
}
