//! An agent's inbox: looking changes nothing, taking hands messages out for a time.

use std::time::Duration;

use hyper::Method;
use json::{Object, Value};
use message::{DeliveryId, Dialect, MessageId, Priority, Stage, format_duration};

use crate::http::Call;
use crate::query::Target;
use crate::{Client, ClientError, read};

/// How to look.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Look {
    /// The language of the documents; the agent's own where there is none.
    pub dialect: Option<Dialect>,
    /// How many messages at most.
    pub max: Option<u64>,
    /// How many tokens of a model they may fill together.
    pub max_tokens: Option<u64>,
}

/// How to take.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Take {
    /// The language of the documents; the agent's own where there is none.
    pub dialect: Option<Dialect>,
    /// How many messages at most.
    pub max: Option<u64>,
    /// How many tokens of a model they may fill together.
    pub max_tokens: Option<u64>,
    /// How long to wait for the first of them.
    pub wait: Option<Duration>,
    /// For how long they are handed out.
    pub lease: Option<Duration>,
}

/// What waits for an agent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Inbox {
    /// The first of them.
    pub messages: Vec<Waiting>,
    /// How many more there are.
    pub more: u64,
    /// The whole as the bus sent it.
    pub json: Value<'static>,
}

/// A message that waits.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Waiting {
    /// Its id.
    pub id: MessageId,
    /// How far it is.
    pub stage: Option<Stage>,
    /// How urgent it is.
    pub priority: Option<Priority>,
    /// What it means.
    pub kind: Option<String>,
    /// Who sent it.
    pub from: Option<String>,
    /// When it came.
    pub at: Option<String>,
    /// The language of the document.
    pub dialect: Option<Dialect>,
    /// The document.
    pub document: Value<'static>,
}

/// What was handed out.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Taken {
    /// Each message with its delivery.
    pub deliveries: Vec<Delivery>,
    /// How many more wait.
    pub more: u64,
    /// The whole as the bus sent it.
    pub json: Value<'static>,
}

/// A message that was handed out.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Delivery {
    /// By which to acknowledge it.
    pub delivery: DeliveryId,
    /// The id of the message.
    pub id: MessageId,
    /// The how manieth time it is handed out.
    pub attempt: u64,
    /// Until when it is this reader's.
    pub lease_until: Option<String>,
    /// What it means.
    pub kind: Option<String>,
    /// Who sent it.
    pub from: Option<String>,
    /// How urgent it is.
    pub priority: Option<Priority>,
    /// The language of the document.
    pub dialect: Option<Dialect>,
    /// The document.
    pub document: Value<'static>,
}

impl Client {
    /// Shows what waits for an agent.
    pub async fn inbox(&self, agent: &str, look: &Look) -> Result<Inbox, ClientError> {
        let target = inbox_of(agent)
            .maybe("dialect", look.dialect.map(Dialect::name))
            .maybe("max", look.max)
            .maybe("max_tokens", look.max_tokens);
        self.look_up(target, |value| {
            Ok(Inbox {
                messages: read::list(&value, "messages", waiting)?,
                more: read::number(&value, "more").unwrap_or(0),
                json: value.into_owned(),
            })
        })
        .await
    }

    /// Takes messages; each must be acknowledged before its lease ends, or it is handed out again.
    ///
    /// ```no_run
    /// # async fn example(bob: client::Client) -> Result<(), client::ClientError> {
    /// let taken = bob.take("bob", &client::Take::default()).await?;
    /// for delivery in &taken.deliveries {
    ///     println!("{}", delivery.document);
    ///     bob.ack(delivery.delivery, None).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn take(&self, agent: &str, take: &Take) -> Result<Taken, ClientError> {
        let target = inbox_of(agent).then("/take").into_text();
        let call = Call::new(Method::POST, target).body(take.to_value().to_json()).wait(take.wait);
        self.ask(call, |value| {
            Ok(Taken {
                deliveries: read::list(&value, "deliveries", delivery)?,
                more: read::number(&value, "more").unwrap_or(0),
                json: value.into_owned(),
            })
        })
        .await
    }
}

impl Take {
    fn to_value(&self) -> Value<'static> {
        let members = [
            ("max", self.max.map(Value::from)),
            ("max_tokens", self.max_tokens.map(Value::from)),
            ("wait", self.wait.map(|wait| Value::from(format_duration(wait)))),
            ("lease", self.lease.map(|lease| Value::from(format_duration(lease)))),
            ("dialect", self.dialect.map(|dialect| Value::from(dialect.name()))),
        ];
        let members: Object<'static> =
            members.into_iter().filter_map(|(key, value)| value.map(|value| (key, value))).collect();
        Value::Object(members)
    }
}

fn inbox_of(agent: &str) -> Target {
    Target::new("/v1/agents").segment(agent).then("/inbox")
}

fn waiting(value: &Value<'_>) -> Result<Waiting, ClientError> {
    Ok(Waiting {
        id: read::parsed(value, "id")?,
        stage: read::word(value, "stage", Stage::from_name),
        priority: read::word(value, "priority", Priority::from_name),
        kind: read::text_maybe(value, "kind"),
        from: read::text_maybe(value, "from"),
        at: read::text_maybe(value, "at"),
        dialect: read::word(value, "dialect", Dialect::from_name),
        document: document(value)?,
    })
}

fn delivery(value: &Value<'_>) -> Result<Delivery, ClientError> {
    Ok(Delivery {
        delivery: read::parsed(value, "delivery")?,
        id: read::parsed(value, "id")?,
        attempt: read::number(value, "attempt").unwrap_or(1),
        lease_until: read::text_maybe(value, "lease_until"),
        kind: read::text_maybe(value, "kind"),
        from: read::text_maybe(value, "from"),
        priority: read::word(value, "priority", Priority::from_name),
        dialect: read::word(value, "dialect", Dialect::from_name),
        document: document(value)?,
    })
}

fn document(value: &Value<'_>) -> Result<Value<'static>, ClientError> {
    value.get("document").cloned().map(Value::into_owned).ok_or_else(|| read::missing("document"))
}
