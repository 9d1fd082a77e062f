//! What becomes of a delivery.

use std::time::Duration;

use hyper::Method;
use json::{Object, Value};
use message::{DeliveryId, format_duration};

use crate::http::Call;
use crate::query::Target;
use crate::{Client, ClientError};

/// Why something is given back, and when it may come again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Nack {
    /// Why.
    pub reason: Option<String>,
    /// After how long it may be handed out again.
    pub delay: Option<Duration>,
    /// Whether it must never be handed out again.
    pub last: bool,
}

impl Client {
    /// Says that a delivery is done with.
    pub async fn ack(&self, delivery: DeliveryId, by: Option<&str>) -> Result<Value<'static>, ClientError> {
        self.settle(delivery, "/ack", [("by", by.map(text))]).await
    }

    /// Gives a delivery back.
    pub async fn nack(&self, delivery: DeliveryId, nack: &Nack) -> Result<Value<'static>, ClientError> {
        let members = [
            ("reason", nack.reason.as_deref().map(text)),
            ("delay", nack.delay.map(|delay| Value::from(format_duration(delay)))),
            ("retryable", nack.last.then_some(Value::from(false))),
        ];
        self.settle(delivery, "/nack", members).await
    }

    /// Says that a model was shown a delivery.
    pub async fn surfaced(
        &self,
        delivery: DeliveryId,
        by: Option<&str>,
    ) -> Result<Value<'static>, ClientError> {
        self.settle(delivery, "/surfaced", [("by", by.map(text))]).await
    }

    /// Asks for more time.
    pub async fn extend(
        &self,
        delivery: DeliveryId,
        lease: Option<Duration>,
    ) -> Result<Value<'static>, ClientError> {
        let lease = lease.map(|lease| Value::from(format_duration(lease)));
        self.settle(delivery, "/extend", [("lease", lease)]).await
    }

    async fn settle<const COUNT: usize>(
        &self,
        delivery: DeliveryId,
        what: &str,
        members: [(&'static str, Option<Value<'static>>); COUNT],
    ) -> Result<Value<'static>, ClientError> {
        let members: Object<'static> =
            members.into_iter().filter_map(|(key, value)| value.map(|value| (key, value))).collect();
        let target = Target::new("/v1/deliveries").segment(&delivery.to_string()).then(what).into_text();
        let call = Call::new(Method::POST, target).body(Value::Object(members).to_json());
        self.ask(call, |value| Ok(value.into_owned())).await
    }
}

fn text(text: &str) -> Value<'static> {
    Value::from(text.to_owned())
}
