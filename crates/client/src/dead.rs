//! Dead letters: what the bus had promised to deliver and could not.

use hyper::Method;
use json::Value;
use message::{MessageId, Receipt};

use crate::http::Call;
use crate::query::Target;
use crate::{Client, ClientError, messages, read};

const DEAD: &str = "/v1/dead";

/// A message that did not reach one of its recipients.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DeadLetter {
    /// The id of the message.
    pub id: MessageId,
    /// Who sent it.
    pub from: Option<String>,
    /// Whom it did not reach.
    pub to: Option<String>,
    /// What it means.
    pub kind: Option<String>,
    /// How it ended.
    pub stage: Option<String>,
    /// When.
    pub at: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// How often it was handed out.
    pub attempts: u64,
    /// The whole as the bus sent it.
    pub json: Value<'static>,
}

impl Client {
    /// Lists dead letters.
    pub async fn dead(&self) -> Result<Vec<DeadLetter>, ClientError> {
        self.look_up(Target::new(DEAD), |value| read::list(&value, "dead", dead_letter)).await
    }

    /// Sends the dead letters of a message once more.
    pub async fn retry_dead(&self, id: MessageId) -> Result<Receipt, ClientError> {
        let target = Target::new(DEAD).segment(&id.to_string()).then("/retry").into_text();
        self.ask(Call::new(Method::POST, target), messages::receipt).await
    }

    /// Drops the dead letters of a message.
    pub async fn drop_dead(&self, id: MessageId) -> Result<(), ClientError> {
        self.tell(Method::DELETE, Target::new(DEAD).segment(&id.to_string()), String::new()).await
    }
}

fn dead_letter(value: &Value<'_>) -> Result<DeadLetter, ClientError> {
    Ok(DeadLetter {
        id: read::parsed(value, "id")?,
        from: read::text_maybe(value, "from"),
        to: read::text_maybe(value, "to"),
        kind: read::text_maybe(value, "kind"),
        stage: read::text_maybe(value, "stage"),
        at: read::text_maybe(value, "at"),
        reason: read::text_maybe(value, "reason"),
        attempts: read::number(value, "attempts").unwrap_or(0),
        json: value.clone().into_owned(),
    })
}
