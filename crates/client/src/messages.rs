//! Messages: sending them, and what became of them.

use std::time::Duration;

use hyper::Method;
use json::Value;
use message::{Dialect, MessageId, Receipt, format_duration};

use crate::http::Call;
use crate::query::Target;
use crate::{Client, ClientError, Problem, read};

const MESSAGES: &str = "/v1/messages";

/// How a document is sent.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SendOptions {
    /// The language of the document; the bus finds out where there is none.
    pub dialect: Option<Dialect>,
    /// How long to wait for a reply.
    pub wait: Option<Duration>,
    /// Whether to keep the message for recipients that nobody knows yet.
    pub hold: bool,
    /// A key by which a repeat is known, for documents without an id of their own.
    pub key: Option<String>,
}

/// What came of sending.
#[derive(Clone, Debug, PartialEq)]
pub enum Sent {
    /// The message was accepted.
    Receipt(Box<Receipt>),
    /// It was accepted and answered.
    Replied(Box<Reply>),
}

/// A reply that was waited for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reply {
    /// What became of the question.
    pub receipt: Receipt,
    /// The language of the reply.
    pub dialect: Option<Dialect>,
    /// The reply.
    pub document: Value<'static>,
}

/// A document with its language.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Document {
    /// Its language.
    pub dialect: Option<Dialect>,
    /// Its text, JSON.
    pub text: String,
}

impl SendOptions {
    /// Sends documents of that language without waiting.
    pub fn new(dialect: Dialect) -> Self {
        SendOptions { dialect: Some(dialect), ..SendOptions::default() }
    }

    fn target(&self) -> String {
        Target::new(MESSAGES)
            .maybe("dialect", Some(self.dialect.map_or("auto", Dialect::name)))
            .maybe("wait", self.wait.map(format_duration))
            .maybe("hold", self.hold.then_some("true"))
            .into_text()
    }
}

impl Sent {
    /// Returns what became of the message that was sent.
    pub fn receipt(&self) -> &Receipt {
        match self {
            Sent::Receipt(receipt) => receipt,
            Sent::Replied(reply) => &reply.receipt,
        }
    }
}

impl Client {
    /// Sends one document; with a wait, comes back with the reply.
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use client::{SendOptions, Sent};
    /// # async fn example(ann: client::Client, question: &str) -> Result<(), client::ClientError> {
    /// let mut options = SendOptions::default();
    /// options.wait = Some(Duration::from_secs(30));
    /// if let Sent::Replied(reply) = ann.send(question, &options).await? {
    ///     println!("{}", reply.document);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn send(&self, document: &str, options: &SendOptions) -> Result<Sent, ClientError> {
        let mut call = Call::new(Method::POST, options.target()).body(document).wait(options.wait);
        if let Some(key) = &options.key {
            call = call.header("idempotency-key", key)?;
        }
        self.ask(call, sent).await
    }

    /// Tells the bus itself something of its sender, such as a sign of life, which is noted and leaves no receipt.
    pub async fn tell_bus(&self, document: &str, dialect: Dialect) -> Result<(), ClientError> {
        let target = Target::new(MESSAGES).maybe("dialect", Some(dialect.name()));
        self.tell(Method::POST, target, document.to_owned()).await
    }

    /// Sends documents of one language, one a line, in one commit; each gets its answer, in order.
    pub async fn send_batch(
        &self,
        lines: &str,
        dialect: Option<Dialect>,
    ) -> Result<Vec<Result<Receipt, Problem>>, ClientError> {
        let target = Target::new(MESSAGES).then("/batch");
        let target = target.maybe("dialect", Some(dialect.map_or("auto", Dialect::name))).into_text();
        let answer = self.http.call(Call::new(Method::POST, target).body(lines)).await?;
        let lines = answer.body.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        lines.map(batch_line).collect()
    }

    /// Returns a message as a document, in a language or as its sender wrote it.
    pub async fn document(&self, id: MessageId, dialect: Option<Dialect>) -> Result<Document, ClientError> {
        let answer = self.get(message(id).maybe("dialect", dialect.map(Dialect::name))).await?;
        let text = String::from_utf8(answer.body).map_err(|_| ClientError::answer("not UTF-8"))?;
        Ok(Document { dialect: answer.dialect.as_deref().and_then(Dialect::from_name).or(dialect), text })
    }

    /// Replaces what a message says.
    pub async fn amend(
        &self,
        id: MessageId,
        document: &str,
        dialect: Option<Dialect>,
    ) -> Result<Receipt, ClientError> {
        let target = message(id).maybe("dialect", Some(dialect.map_or("auto", Dialect::name)));
        self.ask(Call::new(Method::PUT, target.into_text()).body(document), receipt).await
    }

    /// Takes a message back: what nobody has got is withdrawn, who has it is told.
    pub async fn retract(&self, id: MessageId) -> Result<Receipt, ClientError> {
        self.ask(Call::new(Method::DELETE, message(id).into_text()), receipt).await
    }

    /// Lets a conversation go on that was parked because it turned in circles.
    pub async fn resume(&self, id: MessageId) -> Result<Receipt, ClientError> {
        self.ask(Call::new(Method::POST, message(id).then("/resume").into_text()), receipt).await
    }

    /// Tells what became of a message.
    pub async fn receipt(&self, id: MessageId) -> Result<Receipt, ClientError> {
        self.look_up(message(id).then("/receipt"), receipt).await
    }
}

/// Reads a receipt.
pub(crate) fn receipt(value: Value<'_>) -> Result<Receipt, ClientError> {
    Receipt::from_value(value).map_err(|findings| {
        let first = findings.first().map(ToString::to_string).unwrap_or_default();
        ClientError::answer(format!("a receipt: {first}"))
    })
}

fn message(id: MessageId) -> Target {
    Target::new(MESSAGES).segment(&id.to_string())
}

fn sent(value: Value<'_>) -> Result<Sent, ClientError> {
    let Some(inner) = value.get("receipt") else { return receipt(value).map(Box::new).map(Sent::Receipt) };
    Ok(Sent::Replied(Box::new(Reply {
        receipt: receipt(inner.clone())?,
        dialect: read::word(&value, "dialect", Dialect::from_name),
        document: value.get("reply").cloned().ok_or_else(|| read::missing("reply"))?.into_owned(),
    })))
}

fn batch_line(line: &[u8]) -> Result<Result<Receipt, Problem>, ClientError> {
    let value = read::parse(line)?;
    match read::number(&value, "status") {
        Some(status) => {
            let status = u16::try_from(status).map_err(|_| read::missing("status"))?;
            Ok(Err(Problem::read(status, None, Some(value))))
        }
        None => receipt(value).map(Ok),
    }
}
