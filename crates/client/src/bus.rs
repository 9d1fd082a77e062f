//! The bus itself: is it there, who am I to it, how much does it hold.

use json::Value;

use crate::query::Target;
use crate::{Client, ClientError, read};

/// Whether the bus takes work.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Readiness {
    /// Whether it does.
    pub ready: bool,
    /// `ready`, `starting`, `full` or `stopping`.
    pub state: String,
    /// A sentence for people.
    pub detail: Option<String>,
}

/// Who a token speaks for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Me {
    /// The agent.
    pub agent: String,
    /// Whether it is the operator.
    pub operator: bool,
    /// Whom else it speaks for.
    pub speaks_for: Vec<String>,
    /// The clock of the bus.
    pub time: Option<String>,
    /// The version of the bus.
    pub version: Option<String>,
    /// The last sequence number that is durable.
    pub seq: Option<u64>,
    /// The whole as the bus sent it.
    pub json: Value<'static>,
}

/// How much the bus holds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BusCounts {
    /// Agents that are known.
    pub agents: u64,
    /// Messages that are not settled.
    pub messages: u64,
    /// Dead letters.
    pub dead: u64,
    /// The whole as the bus sent it.
    pub json: Value<'static>,
}

impl Client {
    /// Tells whether the process answers at all.
    pub async fn health(&self) -> Result<(), ClientError> {
        self.get(Target::new("/healthz")).await.map(|_| ())
    }

    /// Tells whether the bus takes work.
    pub async fn ready(&self) -> Result<Readiness, ClientError> {
        match self.get(Target::new("/readyz")).await {
            Ok(answer) => readiness(&read::parse(&answer.body)?),
            // A bus that is not ready says so with a status of its own and the same body.
            Err(ClientError::Problem(problem)) if problem.extra.contains_key("state") => {
                readiness(&Value::Object(problem.extra.clone()))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the figures of the bus in the text form of Prometheus.
    pub async fn metrics(&self) -> Result<String, ClientError> {
        let answer = self.get(Target::new("/metrics")).await?;
        String::from_utf8(answer.body).map_err(|_| ClientError::answer("not UTF-8"))
    }

    /// Returns the description of the calls, OpenAPI as JSON.
    pub async fn openapi(&self) -> Result<String, ClientError> {
        let answer = self.get(Target::new("/v1/openapi.json")).await?;
        String::from_utf8(answer.body).map_err(|_| ClientError::answer("not UTF-8"))
    }

    /// Tells who this client's token speaks for.
    pub async fn me(&self) -> Result<Me, ClientError> {
        self.look_up(Target::new("/v1/me"), me).await
    }

    /// Counts what the bus holds.
    pub async fn bus(&self) -> Result<BusCounts, ClientError> {
        self.look_up(Target::new("/v1/bus"), |value| {
            Ok(BusCounts {
                agents: read::number(&value, "agents").unwrap_or(0),
                messages: read::number(&value, "messages").unwrap_or(0),
                dead: read::number(&value, "dead").unwrap_or(0),
                json: value.into_owned(),
            })
        })
        .await
    }
}

fn readiness(value: &Value<'_>) -> Result<Readiness, ClientError> {
    let state = read::text(value, "state")?;
    let ready = value.get("ready").and_then(Value::as_bool).unwrap_or(false);
    Ok(Readiness { ready, state, detail: read::text_maybe(value, "detail") })
}

fn me(value: Value<'_>) -> Result<Me, ClientError> {
    Ok(Me {
        agent: read::text(&value, "agent")?,
        operator: value.get("operator").and_then(Value::as_bool).unwrap_or(false),
        speaks_for: read::texts(&value, "speaks_for"),
        time: read::text_maybe(&value, "time"),
        version: read::text_maybe(&value, "version"),
        seq: read::number(&value, "seq"),
        json: value.into_owned(),
    })
}
