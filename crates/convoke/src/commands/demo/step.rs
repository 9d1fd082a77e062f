//! One step of the conversation: a document is written, taken and acknowledged; a question is also answered.

use std::time::Duration;

use client::{Client, Delivery, SendOptions, Sent, Take};
use json::{Object, Value};
use message::MessageId;

use crate::failure::Failure;

use super::cast::Cast;
use super::told;

/// How long anything may take; a demo that hangs is none.
const WAIT: Duration = Duration::from_secs(20);
/// What every document has, whatever it says: who, to whom, when, by which id.
const ENVELOPE: [&str; 22] = [
    "convoke",
    "wire",
    "id",
    "native_id",
    "message_id",
    "wire_id",
    "stream_id",
    "timestamp",
    "ts",
    "createdAt",
    "created",
    "session_id",
    "thread",
    "from",
    "to",
    "sender",
    "senderHandle",
    "recipient",
    "routing",
    "metadata",
    "xOrigin",
    "origin",
];

/// What is to happen.
pub(super) struct Step<'s> {
    from: &'s str,
    to: &'s str,
    document: &'s Value<'s>,
    reply: Option<&'s Value<'s>>,
}

/// What happened: one document on its way.
pub(super) struct Hop {
    pub(super) id: MessageId,
    pub(super) from: &'static str,
    pub(super) to: &'static str,
    pub(super) written: Value<'static>,
    pub(super) received: Value<'static>,
}

impl<'s> Step<'s> {
    /// Reads a line of the conversation.
    pub(super) fn read(value: &'s Value<'s>) -> Result<Self, Failure> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        match (text("from"), text("to"), value.get("document")) {
            (Some(from), Some(to), Some(document)) => {
                Ok(Step { from, to, document, reply: value.get("reply") })
            }
            _ => Err(Failure::wrong_use("the conversation has a line without from, to or document")),
        }
    }

    /// Plays it.
    pub(super) async fn play(&self, cast: &Cast) -> Result<Vec<Hop>, Failure> {
        let (from, to) = (cast.name(self.from)?, cast.name(self.to)?);
        let (sender, recipient) = (cast.client(from)?, cast.client(to)?);
        let mut options = SendOptions::new(cast.dialect(from));
        let written = self.document.clone().into_owned();
        let Some(reply) = self.reply else {
            let sent = told(sender.send(&written.to_json(), &options).await)?;
            let id = sent.receipt().id;
            let received = take(recipient, to).await?.document;
            return Ok(vec![Hop { id, from, to, written, received }]);
        };
        options.wait = Some(WAIT);
        let document = written.to_json();
        let asking = async { told(sender.send(&document, &options).await) };
        let answering = async {
            let question = take(recipient, to).await?;
            let answer = addressed(reply, &question.document);
            let sent = told(recipient.send(&answer.to_json(), &SendOptions::new(cast.dialect(to))).await)?;
            Ok::<_, Failure>((question, answer, sent.receipt().id))
        };
        let (asked, answered) = tokio::join!(asking, answering);
        let (question, answer, answer_id) = answered?;
        let received = match asked? {
            Sent::Replied(reply) => reply.document,
            Sent::Receipt(_) => return Err(Failure::wrong_use("the bus did not wait for the reply")),
        };
        Ok(vec![
            Hop { id: question.id, from, to, written, received: question.document },
            Hop { id: answer_id, from: to, to: from, written: answer, received },
        ])
    }
}

/// Returns what a document says, without its envelope and the document that it was made of: the lines of a screen
/// are short, and who wrote to whom stands beside it.
pub(super) fn content(document: &Value<'_>) -> Value<'static> {
    let mut document = document.clone().into_owned();
    if let Some(members) = document.as_object_mut() {
        for key in ENVELOPE {
            members.remove(key);
        }
        remove_all(members, &["x_origin", "timestamp"]);
    }
    document
}

fn remove_all(members: &mut Object<'static>, keys: &[&str]) {
    for key in keys {
        members.remove(key);
    }
    let inner: Vec<String> = members.iter().map(|(key, _)| key.to_owned()).collect();
    for key in inner {
        if let Some(nested) = members.get_mut(&key).and_then(Value::as_object_mut) {
            remove_all(nested, keys);
        }
    }
}

async fn take(recipient: &Client, name: &str) -> Result<Delivery, Failure> {
    let mut take = Take::default();
    (take.max, take.wait) = (Some(1), Some(WAIT));
    let taken = told(recipient.take(name, &take).await)?;
    let delivery = taken.deliveries.into_iter().next();
    let delivery = delivery.ok_or_else(|| Failure::wrong_use(format!("nothing came for {name}")))?;
    told(recipient.ack(delivery.delivery, None).await)?;
    Ok(delivery)
}

/// Answers the very message that came: by the id that it has in the answerer's dialect.
fn addressed(reply: &Value<'_>, question: &Value<'_>) -> Value<'static> {
    let id = ["message_id", "id"].into_iter().find_map(|key| question.get(key)).and_then(Value::as_str);
    let mut reply = reply.clone().into_owned();
    if let (Some(id), Some(metadata)) =
        (id, reply.as_object_mut().and_then(|reply| reply.get_mut("metadata")).and_then(Value::as_object_mut))
    {
        metadata.insert("in_reply_to", id.to_owned());
    }
    reply
}
