//! The stream: every write of a record as it becomes durable, in the JSON of Jetstream.
//!
//! A subscriber reads the log by a place of its own; nothing is kept for it, so a slow one is merely behind. It sees
//! what it might read with a call, and no more.

mod frames;
mod kept;
mod places;
mod wishes;

use std::time::Duration;

use axum::extract::RawQuery;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::http::HeaderMap;
use axum::response::Response;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{FutureExt, SinkExt, StreamExt};
use gateway::socket::Pings;
use gateway::{Code, OpenConnection, Problem, Query};
use message::Seq;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout, timeout_at};

use crate::refused::Refused;
use crate::visitor::{self, Visitor};
use kept::Kept;
use wishes::Wishes;

/// Bytes of what a subscriber says at most.
const FRAME_BYTES_MAX: usize = 1 << 20;
/// How long a subscriber may take to read what is written to it, and to say what it wants.
const WRITE_TIME: Duration = Duration::from_secs(30);
/// How often a silent subscriber is asked for a sign of life, and after how much silence it is cut.
const PING_TIME: Duration = Duration::from_secs(30);
const SILENCE_TIME: Duration = Duration::from_secs(90);

const CLOSE_STOPPING: u16 = 1001;
const CLOSE_UNREADABLE: u16 = 1007;
const CLOSE_POLICY: u16 = 1008;
const CLOSE_AGAIN: u16 = 1013;

/// Somebody who follows.
struct Follower {
    visitor: Visitor,
    headers: HeaderMap,
    wishes: Wishes,
    /// The last place of the log that was looked at.
    after: Seq,
    sink: SplitSink<WebSocket, Message>,
    heard: Instant,
    pings: Pings,
    _connection: OpenConnection,
}

/// Why a stream ends.
enum End {
    /// The subscriber is gone.
    Quiet,
    /// The subscriber is told.
    Told(u16, &'static str),
}

/// Opens the stream, from now on or from behind a cursor.
pub(crate) async fn subscribe(
    visitor: Visitor,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Refused> {
    let wishes = Wishes::of_query(Query(query.as_deref()))?;
    let connection = visitor.hub.count_connection_of(visitor.who)?;
    let upgrade =
        upgrade.map_err(|error| Refused::from(Problem::new(Code::NotAnUpgrade, error.to_string())))?;
    let upgrade = upgrade.max_message_size(FRAME_BYTES_MAX).max_frame_size(FRAME_BYTES_MAX);
    Ok(upgrade.on_upgrade(async move |socket| {
        let (sink, said) = socket.split();
        let after = places::begin(&visitor.hub, wishes.cursor).await;
        let (heard, pings) = (Instant::now(), Pings::new());
        let follower =
            Follower { visitor, headers, wishes, after, sink, heard, pings, _connection: connection };
        follower.run(said).await;
    }))
}

impl Follower {
    async fn run(mut self, mut said: SplitStream<WebSocket>) {
        let end = match self.greet(&mut said).await {
            Some(end) => end,
            None => match self.tell_kept(&mut said).await {
                Ok(()) => self.follow(&mut said).await,
                Err(end) => end,
            },
        };
        if let End::Told(code, reason) = end {
            let frame = CloseFrame { code, reason: reason.into() };
            // Whoever does not listen is not told.
            drop(timeout(WRITE_TIME, self.sink.send(Message::Close(Some(frame)))).await);
        }
    }

    /// Waits until the subscriber has said what it wants, if it asked to be heard first.
    async fn greet(&mut self, said: &mut SplitStream<WebSocket>) -> Option<End> {
        let until = Instant::now() + WRITE_TIME;
        while self.wishes.awaits_hello {
            match timeout_at(until, said.next()).await {
                Ok(Some(Ok(message))) => {
                    if let Err(end) = self.hear(&message) {
                        return Some(end);
                    }
                }
                Ok(Some(Err(_)) | None) => return Some(End::Quiet),
                Err(_) => return Some(End::Told(CLOSE_POLICY, "no options_update came")),
            }
        }
        None
    }

    /// Writes what was written behind the cursor and is not in the log any more.
    async fn tell_kept(&mut self, said: &mut SplitStream<WebSocket>) -> Result<(), End> {
        let unreadable = |_| End::Told(CLOSE_STOPPING, "the records cannot be read");
        let kept = Kept::behind(&self.visitor, self.wishes.cursor, &mut self.after).await;
        let Some(mut kept) = kept.map_err(unreadable)? else { return Ok(()) };
        while let Some(texts) = kept.next(&self.visitor, &self.wishes).await.map_err(unreadable)? {
            for text in texts {
                if !self.write(Message::Text(text.into())).await {
                    return Err(End::Quiet);
                }
            }
            while let Some(message) = said.next().now_or_never() {
                match message {
                    Some(Ok(message)) => self.hear(&message)?,
                    Some(Err(_)) | None => return Err(End::Quiet),
                }
            }
            if *self.visitor.hub.stopping().borrow() || !self.is_welcome() {
                return Err(End::Told(CLOSE_POLICY, "stopping, or the token is good no more"));
            }
        }
        Ok(())
    }

    async fn follow(&mut self, said: &mut SplitStream<WebSocket>) -> End {
        let mut durable = self.visitor.hub.node().watch_durable();
        let (mut stopping, mut changes) = (self.visitor.hub.stopping(), self.visitor.hub.registry_changes());
        let mut pings = interval_at(Instant::now() + PING_TIME, PING_TIME);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            durable.mark_unchanged();
            let is_behind = match self.catch_up().await {
                Ok(is_behind) => is_behind,
                Err(end) => return end,
            };
            tokio::select! {
                biased;
                message = said.next() => match message {
                    Some(Ok(message)) => if let Err(end) = self.hear(&message) { return end; },
                    Some(Err(_)) | None => return End::Quiet,
                },
                () = stops(&mut stopping) => return End::Told(CLOSE_STOPPING, "stopping"),
                changed = changes.changed() => if changed.is_err() || !self.is_welcome() {
                    return End::Told(CLOSE_POLICY, "the token is good no more");
                },
                _ = pings.tick() => {
                    if self.heard.elapsed() > SILENCE_TIME || !self.is_welcome() {
                        return End::Told(CLOSE_POLICY, "silent, or the token is good no more");
                    }
                    if !self.write(Message::Ping(Default::default())).await { return End::Quiet; }
                }
                moved = durable.changed(), if !is_behind => if moved.is_err() {
                    return End::Told(CLOSE_STOPPING, "stopped");
                },
                () = std::future::ready(()), if is_behind => {}
            }
        }
    }

    /// Writes what has become durable, as much as is read at a time; tells whether there is more.
    async fn catch_up(&mut self) -> Result<bool, End> {
        let piece = places::read(&self.visitor.hub, self.after).await;
        let piece = piece.ok_or(End::Told(CLOSE_STOPPING, "the log cannot be read"))?;
        if piece.is_cut {
            // With a cursor it is told what is still there of it.
            return Err(End::Told(CLOSE_AGAIN, "too far behind: come again with your cursor"));
        }
        self.after = piece.upto;
        let texts = frames::write(&self.visitor, &self.wishes, &piece.events);
        for text in texts {
            if !self.write(Message::Text(text.into())).await {
                return Err(End::Quiet);
            }
        }
        Ok(piece.is_behind)
    }

    /// Notes what the subscriber said.
    fn hear(&mut self, message: &Message) -> Result<(), End> {
        self.heard = Instant::now();
        match message {
            Message::Text(text) => match self.wishes.update(text) {
                Ok(()) => Ok(()),
                Err(()) => Err(End::Told(CLOSE_UNREADABLE, "not an options_update")),
            },
            Message::Binary(_) => Err(End::Told(CLOSE_UNREADABLE, "not text")),
            Message::Ping(_) if self.pings.is_one_too_many() => {
                Err(End::Told(CLOSE_POLICY, "too many pings"))
            }
            Message::Ping(_) | Message::Pong(_) => Ok(()),
            Message::Close(_) => Err(End::Quiet),
        }
    }

    /// Tells whether whoever opened the stream would still be let in.
    fn is_welcome(&self) -> bool {
        let Visitor { hub, door, principal, .. } = &self.visitor;
        match principal {
            None => true,
            Some(principal) => {
                visitor::principal(hub, door, &self.headers).is_ok_and(|now| now == *principal)
            }
        }
    }

    async fn write(&mut self, message: Message) -> bool {
        matches!(timeout(WRITE_TIME, self.sink.send(message)).await, Ok(Ok(())))
    }
}

/// Waits until the bus stops.
async fn stops(stopping: &mut watch::Receiver<bool>) {
    // A hub that is gone has stopped.
    drop(stopping.wait_for(|stops| *stops).await);
}
