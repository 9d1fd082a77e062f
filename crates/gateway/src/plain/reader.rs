//! The half of a plain socket that reads.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use axum::extract::ws::{Message, WebSocket};
use broker::Command;
use dialect::Name;
use futures_util::StreamExt;
use futures_util::stream::SplitStream;
use json::{Limits, Shallow};
use node::{Credit, Turn};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::ledger::{Ledger, Written};
use super::writer::Out;
use super::{Manner, shown_in};
use crate::socket::{CLOSE_POLICY, CLOSE_TOO_LARGE, FRAMES_MAX, Login, Pings, SILENCE_TIME, close};
use crate::{Asking, Code, Hub, Principal, Problem, Sending};

/// What a frame asks for.
enum Op {
    Send { sending: Box<Sending> },
    Note { sending: Box<Sending> },
    Settle { written: Vec<Written> },
    Refused(Refusal),
}

/// A document that was refused: its id, where it has one, and why.
pub(super) type Refusal = (Option<Box<str>>, Box<Problem>);

/// The reader's own.
pub(super) struct Reader {
    hub: Hub,
    manner: Manner,
    principal: Principal,
    credit: Credit,
    ledger: Arc<Mutex<Ledger>>,
    out: mpsc::Sender<Out>,
    pings: Pings,
}

/// How a connection goes on.
enum Next {
    More,
    Over,
    TooLarge,
    TooManyPings,
}

impl Reader {
    pub(super) fn new(
        hub: Hub,
        manner: Manner,
        login: &Login,
        credit: Credit,
        ledger: Arc<Mutex<Ledger>>,
        out: mpsc::Sender<Out>,
    ) -> Self {
        let (principal, pings) = (login.principal.clone(), Pings::new());
        Reader { hub, manner, principal, credit, ledger, out, pings }
    }

    /// Reads until the peer or the writer is gone.
    pub(super) async fn run(&mut self, frames: SplitStream<WebSocket>) {
        let mut chunks = frames.ready_chunks(FRAMES_MAX);
        let mut bye = None;
        loop {
            let next = tokio::select! {
                next = timeout(SILENCE_TIME, chunks.next()) => next,
                // Who cannot be written to is not listened to: what it holds goes back at once.
                () = self.out.closed() => break,
            };
            let Ok(Some(chunk)) = next else { break };
            match self.take(chunk).await {
                Some(Next::More) => {}
                Some(Next::Over) | None => break,
                Some(Next::TooLarge) => {
                    bye = Some(close(CLOSE_TOO_LARGE, Code::TooLarge.name()));
                    break;
                }
                Some(Next::TooManyPings) => {
                    bye = Some(close(CLOSE_POLICY, "too many pings"));
                    break;
                }
            }
        }
        // The writer may be gone already.
        drop(self.out.send(Out::Bye(bye)).await);
    }

    /// Hands a chunk of frames to the node. Nothing when nobody writes any more.
    async fn take(&mut self, chunk: Vec<Result<Message, axum::Error>>) -> Option<Next> {
        let mut next = Next::More;
        let mut cost = chunk.len();
        let mut ops = Vec::with_capacity(chunk.len());
        for message in chunk {
            match message {
                Ok(Message::Text(text)) => ops.extend(self.read(&text)),
                Ok(Message::Binary(bytes)) => match std::str::from_utf8(&bytes) {
                    Ok(text) => ops.extend(self.read(text)),
                    Err(_) => ops.push(refused(None, Problem::new(Code::NotJson, "a frame is UTF-8"))),
                },
                Ok(Message::Pong(payload)) => {
                    if let Some(op) = self.settle(&payload) {
                        ops.push(op);
                        // We asked for it.
                        cost -= 1;
                    }
                }
                Ok(Message::Ping(_)) => {
                    if self.pings.is_one_too_many() {
                        next = Next::TooManyPings;
                        break;
                    }
                }
                Ok(Message::Close(_)) => next = Next::Over,
                Err(error) => next = if is_too_large(&error) { Next::TooLarge } else { Next::Over },
            }
        }
        if cost > 0 {
            self.hub.count_frames(&self.principal, cost).await;
        }
        if ops.is_empty() {
            return Some(next);
        }
        let place = self.out.clone().reserve_owned().await.ok()?;
        let by = self.manner.by;
        let work = move |turn: &mut Turn<'_>| {
            ops.into_iter().filter_map(|op| op.carry_out(turn, by)).collect::<Vec<Refusal>>()
        };
        let started = self.hub.node().start_call(work, move |refusals| {
            if !refusals.is_empty() {
                place.send(Out::Refused(refusals));
            }
        });
        started.await.ok()?;
        Some(next)
    }

    /// Reads a frame. A second login changes nothing.
    fn read(&self, text: &str) -> Option<Op> {
        let dialect: Name = self.manner.dialect;
        let read =
            Sending::read(&self.hub, &self.principal, text.as_bytes(), Some(dialect), Asking::default());
        match read {
            Ok(sending) if sending.is_for_the_bus() => Some(Op::Note { sending: Box::new(sending) }),
            // A reply comes like every other document, so nobody waits for it.
            Ok(sending) => Some(Op::Send { sending: Box::new(sending.without_waiting()) }),
            Err(_) if shown_in(text).is_some() => None,
            Err(problem) => Some(refused(id_in(text, self.manner.id_key), problem)),
        }
    }

    fn settle(&self, pong: &Bytes) -> Option<Op> {
        let written = self.ledger.lock().unwrap_or_else(PoisonError::into_inner).settle(pong)?;
        self.credit.add(u32::try_from(written.len()).unwrap_or(u32::MAX));
        Some(Op::Settle { written })
    }
}

impl Op {
    /// Carries it out, and says what was refused.
    fn carry_out(self, turn: &mut Turn<'_>, by: &str) -> Option<Refusal> {
        let (sending, done) = match self {
            Op::Send { sending } => {
                let done = sending.accept(turn).map(drop);
                (sending, done)
            }
            Op::Note { sending } => {
                let done = sending.note(turn);
                (sending, done)
            }
            Op::Settle { written } => {
                for (agent, delivery) in written {
                    // It may have ended meanwhile; then there is nothing to settle.
                    drop(turn.execute(&Command::Ack { agent, delivery, by }));
                }
                return None;
            }
            Op::Refused(refusal) => return Some(refusal),
        };
        let id = sending.incoming.message.native_id.as_ref();
        done.err().map(|problem| (id.map(|id| Box::from(id.as_str())), Box::new(problem)))
    }
}

fn refused(id: Option<Box<str>>, problem: Problem) -> Op {
    Op::Refused((id, Box::new(problem)))
}

/// Returns the id of a document that could not be read, if it has one.
fn id_in(text: &str, key: &str) -> Option<Box<str>> {
    let mut members = Shallow::of(text).ok()?;
    while let Some((name, value)) = members.next_member().ok()? {
        if name == key {
            let value = json::parse_str(value, Limits::DOCUMENT).ok()?;
            let id = value.as_str()?.parse::<message::NativeId>().ok()?;
            return Some(Box::from(id.as_str()));
        }
    }
    None
}

/// Tells whether a frame was larger than one may be. The library says so in words only.
fn is_too_large(error: &axum::Error) -> bool {
    error.to_string().contains("too long")
}
