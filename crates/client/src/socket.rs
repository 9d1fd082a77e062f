//! The socket: what is sent is pipelined, what comes is handed over as it comes.
//!
//! Sending writes into a buffer and returns; [`Socket::flush`], or waiting for the next item, puts the buffer on the
//! wire. So a thousand messages cost one write. Receipts come back as items with the number that sending returned.
//!
//! Whoever sends without end must also read, or both sides stop when the buffers between them are full:
//! [`Socket::split`] gives the two halves to two tasks.

pub(crate) mod frame;
pub(crate) mod items;
pub(crate) mod scan;

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use hyper::header::AUTHORIZATION;
use message::{DeliveryId, Dialect};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::error::Error as WsError;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use crate::connection::Connection;
use crate::http::Http;
use crate::query::Target;
use crate::{Client, ClientError, Nack, Problem, read};

use self::frame::Writing;
pub use self::items::{SocketDelivery, SocketItem, SocketProblem, SocketReceipt, SocketReply};

type Line = WebSocketStream<Connection>;

/// How a socket is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SocketOptions {
    /// The language of what comes; the agent's own where there is none.
    pub dialect: Option<Dialect>,
    /// For how long messages are handed out.
    pub lease: Option<Duration>,
    /// How much receipts say.
    pub receipts: Receipts,
}

/// How much the receipts of a socket say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Receipts {
    /// Everything.
    #[default]
    Full,
    /// The id, the stage, and whether it was a duplicate.
    Brief,
    /// As brief, and one for all messages that became durable together: [`SocketItem::Receipts`].
    Together,
}

/// How one document is sent through a socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SocketSend<'s> {
    /// The language of the document; `convoke` where there is none.
    pub dialect: Option<Dialect>,
    /// How long to wait for a reply, which then comes as an item.
    pub wait: Option<Duration>,
    /// A key by which a repeat is known, for documents without an id of their own.
    pub key: Option<&'s str>,
}

/// A live line of one agent.
pub struct Socket {
    writer: SocketWriter,
    reader: SocketReader,
}

/// The half that sends.
pub struct SocketWriter {
    sink: SplitSink<Line, Message>,
    http: Arc<Http>,
    last_ref: u64,
    is_flushed: bool,
}

/// The half that reads.
pub struct SocketReader {
    stream: SplitStream<Line>,
    http: Arc<Http>,
    agent: String,
    session: Option<String>,
}

impl Client {
    /// Opens a socket for an agent. Nothing is delivered before credit is given.
    ///
    /// ```no_run
    /// use client::{SocketItem, SocketOptions};
    /// # async fn example(bob: client::Client) -> Result<(), client::ClientError> {
    /// let mut socket = bob.socket("bob", &SocketOptions::default()).await?;
    /// socket.credit(100).await?;
    /// while let Some(item) = socket.next().await? {
    ///     if let SocketItem::Delivery(delivery) = item {
    ///         println!("{}", delivery.document());
    ///         socket.ack(delivery.delivery).await?;
    ///         socket.credit(1).await?;
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn socket(&self, agent: &str, options: &SocketOptions) -> Result<Socket, ClientError> {
        let line = self.handshake(agent, options).await?;
        let (sink, stream) = line.split();
        let writer = SocketWriter { sink, http: Arc::clone(&self.http), last_ref: 0, is_flushed: true };
        let mut reader =
            SocketReader { stream, http: Arc::clone(&self.http), agent: agent.to_owned(), session: None };
        let limit = self.http.answer_timeout;
        let welcomed = timeout(limit, reader.welcome()).await;
        welcomed.map_err(|_| ClientError::TimedOut { url: self.url(), seconds: limit.as_secs() })??;
        Ok(Socket { writer, reader })
    }

    async fn handshake(&self, agent: &str, options: &SocketOptions) -> Result<Line, ClientError> {
        let receipts = match options.receipts {
            Receipts::Full => "full",
            Receipts::Brief => "brief",
            Receipts::Together => "together",
        };
        let target = Target::new("/v1/agents")
            .segment(agent)
            .then("/socket")
            .maybe("dialect", options.dialect.map(Dialect::name))
            .maybe("lease", options.lease.map(message::format_duration))
            .maybe("receipts", Some(receipts))
            .into_text();
        let address = &self.http.address;
        let mut request = format!("ws://{}{}{target}", address.authority, address.prefix)
            .into_client_request()
            .map_err(|error| self.http.broken(error))?;
        if let Some(authorization) = self.http.authorization() {
            request.headers_mut().insert(AUTHORIZATION, authorization.clone());
        }
        let opening = tokio_tungstenite::client_async(request, self.http.connect().await?);
        let limit = self.http.answer_timeout;
        match timeout(limit, opening).await {
            Ok(Ok((line, _))) => Ok(line),
            Ok(Err(WsError::Http(response))) => {
                let body = response.body().as_deref().unwrap_or_default();
                let problem = Problem::read(response.status().as_u16(), None, read::parse(body).ok());
                Err(ClientError::Problem(Box::new(problem)))
            }
            Ok(Err(error)) => Err(self.http.broken(error)),
            Err(_) => Err(ClientError::TimedOut { url: self.url(), seconds: limit.as_secs() }),
        }
    }
}

impl Socket {
    /// Puts a document into the buffer; returns the number that its receipt will carry.
    pub async fn send(&mut self, document: &str, how: SocketSend<'_>) -> Result<u64, ClientError> {
        self.writer.send(document, how).await
    }

    /// Lets the bus deliver that many more messages.
    pub async fn credit(&mut self, count: u32) -> Result<(), ClientError> {
        self.writer.credit(count).await
    }

    /// Says that a delivery is done with.
    pub async fn ack(&mut self, delivery: DeliveryId) -> Result<(), ClientError> {
        self.writer.ack(delivery).await
    }

    /// Gives a delivery back.
    pub async fn nack(&mut self, delivery: DeliveryId, nack: &Nack) -> Result<(), ClientError> {
        self.writer.nack(delivery, nack).await
    }

    /// Says that a model was shown a delivery.
    pub async fn surfaced(&mut self, delivery: DeliveryId) -> Result<(), ClientError> {
        self.writer.surfaced(delivery).await
    }

    /// Asks for more time.
    pub async fn extend(&mut self, delivery: DeliveryId, lease: Duration) -> Result<(), ClientError> {
        self.writer.extend(delivery, lease).await
    }

    /// Puts everything on the wire.
    pub async fn flush(&mut self) -> Result<(), ClientError> {
        self.writer.flush().await
    }

    /// Puts everything on the wire and returns what comes next; nothing when the bus has closed the socket.
    pub async fn next(&mut self) -> Result<Option<SocketItem>, ClientError> {
        self.writer.flush().await?;
        self.reader.next().await
    }

    /// Returns the agent and the session that the bus gave this line.
    pub fn session(&self) -> (&str, Option<&str>) {
        (&self.reader.agent, self.reader.session.as_deref())
    }

    /// Gives the two halves, to be used by two tasks.
    pub fn split(self) -> (SocketWriter, SocketReader) {
        (self.writer, self.reader)
    }

    /// Closes the socket in good order.
    pub async fn close(mut self) -> Result<(), ClientError> {
        self.writer.close().await
    }
}

impl SocketWriter {
    /// Puts a document into the buffer; returns the number that its receipt will carry.
    pub async fn send(&mut self, document: &str, how: SocketSend<'_>) -> Result<u64, ClientError> {
        self.last_ref += 1;
        self.feed(Writing::send(self.last_ref, document, &how)).await?;
        Ok(self.last_ref)
    }

    /// Lets the bus deliver that many more messages.
    pub async fn credit(&mut self, count: u32) -> Result<(), ClientError> {
        self.feed(Writing::credit(count)).await
    }

    /// Says that a delivery is done with.
    pub async fn ack(&mut self, delivery: DeliveryId) -> Result<(), ClientError> {
        self.feed(Writing::settle("ack", delivery)).await
    }

    /// Gives a delivery back.
    pub async fn nack(&mut self, delivery: DeliveryId, nack: &Nack) -> Result<(), ClientError> {
        self.feed(Writing::nack(delivery, nack)).await
    }

    /// Says that a model was shown a delivery.
    pub async fn surfaced(&mut self, delivery: DeliveryId) -> Result<(), ClientError> {
        self.feed(Writing::settle("surfaced", delivery)).await
    }

    /// Asks for more time.
    pub async fn extend(&mut self, delivery: DeliveryId, lease: Duration) -> Result<(), ClientError> {
        self.feed(Writing::extend(delivery, lease)).await
    }

    /// Puts everything on the wire.
    pub async fn flush(&mut self) -> Result<(), ClientError> {
        if !self.is_flushed {
            self.sink.flush().await.map_err(|error| self.http.broken(error))?;
            self.is_flushed = true;
        }
        Ok(())
    }

    /// Closes the socket in good order.
    pub async fn close(&mut self) -> Result<(), ClientError> {
        self.sink.close().await.map_err(|error| self.http.broken(error))
    }

    async fn feed(&mut self, frame: String) -> Result<(), ClientError> {
        self.is_flushed = false;
        let frame = Message::Text(Utf8Bytes::from(frame));
        self.sink.feed(frame).await.map_err(|error| self.http.broken(error))
    }
}

impl SocketReader {
    /// Returns what comes next; nothing when the bus has closed the socket.
    pub async fn next(&mut self) -> Result<Option<SocketItem>, ClientError> {
        match self.text().await? {
            Some(text) => items::read(text).map(Some),
            None => Ok(None),
        }
    }

    async fn welcome(&mut self) -> Result<(), ClientError> {
        let text = self.text().await?.ok_or_else(|| self.http.broken("the bus closed the socket at once"))?;
        let value = read::parse(text.as_bytes())?;
        match value.get("op").and_then(json::Value::as_str) {
            Some("ready") => {
                self.agent = read::text_maybe(&value, "agent").unwrap_or_else(|| self.agent.clone());
                self.session = value.get("session").map(|session| match session.as_str() {
                    Some(text) => text.to_owned(),
                    None => session.to_json(),
                });
                Ok(())
            }
            Some(_) | None => {
                let status = read::number(&value, "status").and_then(|status| u16::try_from(status).ok());
                let problem = Problem::read(status.unwrap_or(400), None, Some(value));
                Err(ClientError::Problem(Box::new(problem)))
            }
        }
    }

    async fn text(&mut self) -> Result<Option<Utf8Bytes>, ClientError> {
        loop {
            match self.stream.next().await {
                Some(Ok(Message::Text(text))) => return Ok(Some(text)),
                // Pings are answered beneath; our bus speaks text only.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Binary(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Close(_))) | None => return Ok(None),
                Some(Err(WsError::ConnectionClosed)) => return Ok(None),
                Some(Err(error)) => return Err(self.http.broken(error)),
            }
        }
    }
}
