//! The stream: every write of a record as it becomes durable, in the JSON of Jetstream.
//!
//! A subscriber reads the log by a place of its own; nothing is kept for it, so a slow one is merely behind. It sees
//! what it might read with a call, and no more.

mod frames;
mod kept;
mod places;
mod wishes;

use axum::extract::RawQuery;
use axum::http::HeaderMap;
use axum::response::Response;
use futures_util::FutureExt;
use gateway::socket::{
    CLOSE_NORMAL, CLOSE_POLICY, CLOSE_STOPPING, PING_TIME, Pings, SILENCE_TIME, WRITE_TIME, close, stops,
};
use gateway::websocket::{Frames, Heard, Sink, Upgrade, WebSocket};
use gateway::{OpenConnection, Problem, Query};
use message::Seq;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout_at};

use crate::refused::Refused;
use crate::visitor::{self, Visitor};
use kept::Kept;
use wishes::Wishes;

/// Bytes of what a subscriber says at most.
const FRAME_BYTES_MAX: usize = 1 << 20;

const CLOSE_UNREADABLE: u16 = 1007;
const CLOSE_AGAIN: u16 = 1013;

/// Somebody who follows.
struct Follower {
    visitor: Visitor,
    headers: HeaderMap,
    wishes: Wishes,
    /// The last place of the log that was looked at.
    after: Seq,
    sink: Sink,
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
    upgrade: Result<Upgrade, Problem>,
) -> Result<Response, Refused> {
    let wishes = Wishes::of_query(Query(query.as_deref()))?;
    let connection = visitor.hub.count_connection_of(visitor.who)?;
    let upgrade = upgrade.map_err(Refused::from)?.of_bytes(FRAME_BYTES_MAX);
    Ok(upgrade.serve(async move |socket| {
        let WebSocket { frames: said, sink } = socket;
        let after = places::begin(&visitor.hub, wishes.cursor).await;
        let (heard, pings) = (Instant::now(), Pings::new());
        let follower =
            Follower { visitor, headers, wishes, after, sink, heard, pings, _connection: connection };
        follower.run(said).await;
    }))
}

impl Follower {
    async fn run(mut self, mut said: Frames) {
        let end = match self.greet(&mut said).await {
            Some(end) => end,
            None => match self.tell_kept(&mut said).await {
                Ok(()) => self.follow(&mut said).await,
                Err(end) => end,
            },
        };
        if let End::Told(code, reason) = end {
            self.sink.close(close(code, reason)).await;
        }
    }

    /// Waits until the subscriber has said what it wants, if it asked to be heard first.
    async fn greet(&mut self, said: &mut Frames) -> Option<End> {
        let until = Instant::now() + WRITE_TIME;
        while self.wishes.awaits_hello {
            match timeout_at(until, said.recv()).await {
                Ok(Some(heard)) => {
                    if let Err(end) = self.hear(&heard).await {
                        return Some(end);
                    }
                }
                Ok(None) => return Some(End::Quiet),
                Err(_) => return Some(End::Told(CLOSE_POLICY, "no options_update came")),
            }
        }
        None
    }

    /// Writes what was written behind the cursor and is not in the log any more.
    async fn tell_kept(&mut self, said: &mut Frames) -> Result<(), End> {
        let unreadable = |_| End::Told(CLOSE_STOPPING, "the records cannot be read");
        let kept = Kept::behind(&self.visitor, self.wishes.cursor, &mut self.after).await;
        let Some(mut kept) = kept.map_err(unreadable)? else { return Ok(()) };
        while let Some(texts) = kept.next(&self.visitor, &self.wishes).await.map_err(unreadable)? {
            self.write(&texts).await?;
            while let Some(heard) = said.recv().now_or_never() {
                match heard {
                    Some(heard) => self.hear(&heard).await?,
                    None => return Err(End::Quiet),
                }
            }
            if *self.visitor.hub.stopping().borrow() || !self.is_welcome() {
                return Err(End::Told(CLOSE_POLICY, "stopping, or the token is good no more"));
            }
        }
        Ok(())
    }

    async fn follow(&mut self, said: &mut Frames) -> End {
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
                heard = said.recv() => match heard {
                    Some(heard) => if let Err(end) = self.hear(&heard).await { return end; },
                    None => return End::Quiet,
                },
                () = stops(&mut stopping) => return End::Told(CLOSE_STOPPING, "stopping"),
                changed = changes.changed() => if changed.is_err() || !self.is_welcome() {
                    return End::Told(CLOSE_POLICY, "the token is good no more");
                },
                _ = pings.tick() => {
                    if self.heard.elapsed() > SILENCE_TIME || !self.is_welcome() {
                        return End::Told(CLOSE_POLICY, "silent, or the token is good no more");
                    }
                    self.sink.ping(&[]);
                    self.sink.shrink();
                    if self.sink.flush().await.is_none() { return End::Quiet; }
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
        let mut events = &piece.events[..];
        while !events.is_empty() {
            let (texts, count) = frames::write(&self.visitor, &self.wishes, events).await;
            self.write(&texts).await?;
            events = &events[count..];
        }
        Ok(piece.is_behind)
    }

    /// Notes what the subscriber said.
    async fn hear(&mut self, heard: &Heard) -> Result<(), End> {
        self.heard = Instant::now();
        match heard {
            Heard::Text(text) => match self.wishes.update(text) {
                Ok(()) => Ok(()),
                Err(()) => Err(End::Told(CLOSE_UNREADABLE, "not an options_update")),
            },
            Heard::Binary => Err(End::Told(CLOSE_UNREADABLE, "not text")),
            Heard::Ping(_) if self.pings.is_one_too_many() => Err(End::Told(CLOSE_POLICY, "too many pings")),
            Heard::Ping(payload) => {
                self.sink.pong(payload);
                self.sink.flush().await.ok_or(End::Quiet)
            }
            Heard::Pong => Ok(()),
            Heard::Close => Err(End::Told(CLOSE_NORMAL, "")),
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

    async fn write(&mut self, texts: &[String]) -> Result<(), End> {
        for text in texts {
            self.sink.text(text);
            self.sink.flush_much().await.ok_or(End::Quiet)?;
        }
        self.sink.flush().await.ok_or(End::Quiet)
    }
}
