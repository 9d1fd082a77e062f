//! Events: everything that happens, followed across restarts of the bus.
//!
//! Each event has a number; after a break the reader asks for what came after the last one that it saw. What the bus
//! no longer has is reported as a gap, never passed over.

mod pause;
mod sse;

use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::Method;
use hyper::body::Incoming;
use json::Value;
use tokio::time::{sleep, timeout};

use crate::http::{Call, Http, Sender};
use crate::query::Target;
use crate::{Client, ClientError, read};

use self::pause::Pause;
pub(crate) use self::sse::{Parser, Raw};

/// The bus says something at least every 15 s; who is silent for longer is gone, whatever TCP believes.
const SILENCE_MAX: Duration = Duration::from_secs(45);

/// Which events are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventFilter {
    /// Of this agent.
    pub agent: Option<String>,
    /// Of this conversation.
    pub thread: Option<String>,
    /// About this task.
    pub task: Option<String>,
    /// After this sequence number; without it, from now on.
    pub after: Option<u64>,
}

/// What the reader has to tell.
#[derive(Clone, Debug, PartialEq)]
pub enum EventsItem {
    /// Something happened.
    Event(Event),
    /// These events are no longer there.
    Gap {
        /// The first of them.
        first: u64,
        /// The last of them.
        last: u64,
    },
    /// The bus is gone; the reader goes on trying.
    Lost {
        /// What was noticed.
        reason: String,
    },
    /// The bus is there again; what follows comes right after what was seen last.
    Found,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// Its number.
    pub seq: u64,
    /// What it is, such as `accepted`.
    pub name: String,
    /// When it happened.
    pub at: Option<String>,
    /// The whole as the bus sent it.
    pub json: Value<'static>,
}

/// Follows events.
pub struct Events {
    http: Arc<Http>,
    filter: EventFilter,
    state: State,
    pause: Pause,
}

enum State {
    Connected(Box<Stream>),
    /// The bus was lost, and somebody was told.
    Lost,
}

struct Stream {
    body: Incoming,
    parser: Parser,
    /// Dropping it would end the connection.
    _sender: Sender,
}

impl Client {
    /// Starts to follow events.
    ///
    /// ```no_run
    /// use client::{EventFilter, EventsItem};
    /// # async fn example(client: client::Client) -> Result<(), client::ClientError> {
    /// let mut events = client.events(EventFilter::default()).await?;
    /// loop {
    ///     if let EventsItem::Event(event) = events.next().await? {
    ///         println!("{} {}", event.seq, event.name);
    ///     }
    /// }
    /// # }
    /// ```
    pub async fn events(&self, filter: EventFilter) -> Result<Events, ClientError> {
        let mut events =
            Events { http: Arc::clone(&self.http), filter, state: State::Lost, pause: Pause::new() };
        events.state = State::Connected(Box::new(events.connect().await?));
        Ok(events)
    }
}

impl Events {
    /// Returns the next item. It ends only with an error that trying again would not mend.
    pub async fn next(&mut self) -> Result<EventsItem, ClientError> {
        loop {
            match &mut self.state {
                State::Lost => {
                    sleep(self.pause.next()).await;
                    if let Some(stream) = self.reconnect().await? {
                        self.state = State::Connected(Box::new(stream));
                        return Ok(EventsItem::Found);
                    }
                }
                State::Connected(stream) => {
                    if let Some(raw) = stream.parser.next() {
                        self.pause.reset();
                        if let Some(item) = self.read(&raw)? {
                            return Ok(item);
                        }
                    } else if let Err(reason) = stream.fill().await {
                        self.state = State::Lost;
                        return Ok(EventsItem::Lost { reason });
                    }
                }
            }
        }
    }

    async fn reconnect(&self) -> Result<Option<Stream>, ClientError> {
        match self.connect().await {
            Ok(stream) => Ok(Some(stream)),
            Err(ClientError::Problem(problem)) if problem.status < 500 && problem.status != 429 => {
                Err(ClientError::Problem(problem))
            }
            Err(
                ClientError::Problem(_)
                | ClientError::Unreachable { .. }
                | ClientError::Broken { .. }
                | ClientError::TimedOut { .. },
            ) => Ok(None),
            Err(
                error @ (ClientError::Url { .. }
                | ClientError::Token
                | ClientError::Tls { .. }
                | ClientError::Answer { .. }),
            ) => Err(error),
        }
    }

    async fn connect(&self) -> Result<Stream, ClientError> {
        let target = Target::new("/v1/events")
            .maybe("after", self.filter.after)
            .maybe("agent", self.filter.agent.as_ref())
            .maybe("thread", self.filter.thread.as_ref())
            .maybe("task", self.filter.task.as_ref());
        let mut call = Call::new(Method::GET, target.into_text()).header("accept", "text/event-stream")?;
        if let Some(after) = self.filter.after {
            call = call.header("last-event-id", &after.to_string())?;
        }
        let (response, sender) = self.http.stream(call).await?;
        Ok(Stream { body: response.into_body(), parser: Parser::default(), _sender: sender })
    }

    /// Reads what came; remembers where to go on.
    fn read(&mut self, raw: &Raw) -> Result<Option<EventsItem>, ClientError> {
        let value = read::parse(raw.data.as_bytes())?;
        let number = |key: &'static str| read::number(&value, key).ok_or_else(|| read::missing(key));
        match raw.event.as_str() {
            // Whoever starts now and loses the bus before anything happened still misses nothing.
            "hello" => {
                let seq = number("seq")?;
                self.filter.after.get_or_insert(seq);
                Ok(None)
            }
            "gap" => {
                let (first, last) = (number("first")?, number("last")?);
                self.filter.after = self.filter.after.max(Some(last));
                Ok(Some(EventsItem::Gap { first, last }))
            }
            name => {
                let seq = raw.id.as_deref().and_then(|id| id.parse().ok());
                let seq = seq.map_or_else(|| number("seq"), Ok)?;
                self.filter.after = Some(seq);
                let (name, at) = (name.to_owned(), read::text_maybe(&value, "at"));
                Ok(Some(EventsItem::Event(Event { seq, name, at, json: value.into_owned() })))
            }
        }
    }
}

impl Stream {
    /// Reads more, or says why there will be no more.
    async fn fill(&mut self) -> Result<(), String> {
        let frame = timeout(SILENCE_MAX, self.body.frame()).await;
        let frame = frame.map_err(|_| "the bus has been silent for too long".to_owned())?;
        match frame {
            Some(Ok(frame)) => match frame.data_ref() {
                Some(bytes) => self.parser.push(bytes),
                None => Ok(()),
            },
            Some(Err(_)) => Err("the connection broke".to_owned()),
            None => Err("the bus ended the stream".to_owned()),
        }
    }
}
