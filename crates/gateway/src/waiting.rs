//! Waiting for a reply: one outcome always, and a reply that nobody could be given goes to the inbox.

use std::pin::Pin;
use std::task::{Context, Poll};

use crate::{Answer, Code, Hub, Outgoing, Problem, letters};
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use broker::Command;
use broker::query::messages::{DeliveryHolder, FindMessage, ReceiptOf};
use hyper::body::{Frame, SizeHint};
use message::{DeliveryId, Dialect, MessageId, Receipt, Stage};
use node::{Awaited, Outcome};
use tokio::runtime::Handle;

/// By which the receipt says that a reply was handed to whom waited for it.
const BY: &str = "http";

/// A reply that is about to be given to whom waits for it.
pub struct Reply {
    /// Its id.
    pub id: MessageId,
    /// The document, in the language of the request.
    pub outgoing: Outgoing,
}

/// How a wait ended.
pub enum Ended {
    /// A reply has come; it is settled when it was given to whom waits.
    Reply(Reply, Settle),
    /// None will come; the message has come so far.
    Nothing(Stage),
}

/// Waits for the reply to a message, in a language.
pub async fn outcome(hub: &Hub, dialect: Dialect, awaited: Awaited) -> Result<Ended, Problem> {
    match awaited.outcome().await {
        Some(Outcome::Reply { reply, delivery }) => {
            let settle = Settle::new(hub, delivery);
            Ok(Ended::Reply(read(hub, reply, dialect).await?, settle))
        }
        Some(Outcome::Nothing { stage }) => Ok(Ended::Nothing(stage)),
        None => Err(Problem::new(Code::Stopped, "the bus stops")),
    }
}

/// Waits for the reply to a message, and answers with it.
pub async fn reply(hub: &Hub, receipt: Receipt, awaited: Awaited) -> Result<Response, Problem> {
    match outcome(hub, receipt.dialect, awaited).await? {
        Ended::Reply(reply, settle) => {
            let text = answer(&current(hub, receipt).await, &reply);
            Ok(settle.respond(text))
        }
        Ended::Nothing(stage) => Err(nothing(hub, receipt, stage).await),
    }
}

/// Answers a repeat with the reply that came before.
pub async fn stored_reply(hub: &Hub, receipt: Receipt, reply: MessageId) -> Result<Response, Problem> {
    let reply = read(hub, reply, receipt.dialect).await?;
    let json = [(header::CONTENT_TYPE, "application/json")];
    Ok((StatusCode::OK, json, answer(&receipt, &reply)).into_response())
}

/// Says why no reply came, with the receipt as it is now.
pub async fn nothing(hub: &Hub, receipt: Receipt, stage: Stage) -> Problem {
    let receipt = current(hub, receipt).await;
    let (code, detail) = match stage {
        Stage::Dead | Stage::Expired | Stage::Withdrawn | Stage::Unconfirmed => {
            (Code::Undeliverable, format!("the message ended as {stage}, and nobody answered"))
        }
        Stage::Accepted
        | Stage::Stored
        | Stage::Dispatched
        | Stage::Surfaced
        | Stage::Acknowledged
        | Stage::Answered => (Code::NoReply, format!("no reply came in time: the message is {stage}")),
    };
    Problem::new(code, detail).with("receipt", receipt.to_value())
}

/// Returns a receipt with what has become of the message meanwhile.
async fn current(hub: &Hub, mut receipt: Receipt) -> Receipt {
    if let Ok(Some(recipients)) = hub.query(ReceiptOf { message: receipt.id }).await {
        receipt.recipients = recipients;
    }
    receipt
}

/// Reads a reply in the language of the request.
pub async fn read(hub: &Hub, id: MessageId, dialect: Dialect) -> Result<Reply, Problem> {
    let view = hub.query(FindMessage { message: id }).await?;
    let view = view.ok_or_else(|| Problem::new(Code::UnknownMessage, "the reply is not at hand any more"))?;
    let body = letters::body(hub, view.body).await?;
    Ok(Reply { id, outgoing: letters::view(hub, (id, view.body), &body, Some(dialect)).await? })
}

fn answer(receipt: &Receipt, reply: &Reply) -> String {
    Answer::with_capacity(reply.outgoing.text.len() + 1_024)
        .raw("receipt", &receipt.to_json())
        .text("id", &reply.id.to_string())
        .text("dialect", reply.outgoing.dialect.name())
        .raw("reply", &reply.outgoing.text)
        .end()
}

/// A reply that is settled when it was given to the connection, and returned when it was not.
pub struct Settle {
    hub: Hub,
    delivery: DeliveryId,
    is_given: bool,
}

impl Settle {
    /// Holds a reply that was handed out.
    pub fn new(hub: &Hub, delivery: DeliveryId) -> Self {
        Settle { hub: hub.clone(), delivery, is_given: false }
    }

    /// Says that it was written.
    pub fn given(mut self) {
        self.is_given = true;
    }

    /// Answers with a text that holds the reply, which is given when the text is.
    pub fn respond(self, text: String) -> Response {
        SettledBody { text: Some(text.into()), settle: self }.into_response()
    }
}

impl Drop for Settle {
    fn drop(&mut self) {
        let (hub, delivery, is_given) = (self.hub.clone(), self.delivery, self.is_given);
        // Without a runtime nobody is left to settle it; its lease ends by itself.
        let Ok(runtime) = Handle::try_current() else { return };
        runtime.spawn(async move {
            // It may have ended meanwhile; then there is nothing to settle.
            let Ok(Some(agent)) = hub.query(DeliveryHolder { delivery }).await else { return };
            hub.node().note(if is_given {
                Command::Ack { agent, delivery, by: BY.into() }
            } else {
                Command::Return { agent, delivery }
            });
        });
    }
}

/// The body of an answer with a reply.
struct SettledBody {
    text: Option<Bytes>,
    settle: Settle,
}

impl HttpBody for SettledBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let text = self.text.take();
        self.settle.is_given |= text.is_some();
        Poll::Ready(text.map(|text| Ok(Frame::data(text))))
    }

    fn is_end_stream(&self) -> bool {
        self.text.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.text.as_ref().map_or(0, |text| text.len() as u64))
    }
}

impl IntoResponse for SettledBody {
    fn into_response(self) -> Response {
        (StatusCode::OK, [(header::CONTENT_TYPE, "application/json")], Body::new(self)).into_response()
    }
}
