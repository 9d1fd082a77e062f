//! The half of a plain socket that writes.

use std::sync::{Arc, Mutex, PoisonError};

use broker::{Command, Delay, Nack};
use message::{AgentName, Seq};
use node::{Letter, Subscription};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::ledger::{Ledger, Written};
use super::reader::{Pending, Refusal, refusals};
use super::{Manner, Refused};
use crate::socket::{
    CLOSE_POLICY, CLOSE_STOPPING, CloseFrame, LETTERS_MAX, Login, PING_TIME, SILENCE_TIME, WORK_MAX, close,
    give_back, stops,
};
use crate::websocket::Sink;
use crate::{Code, Hub, OutcomeReceiver, OutgoingError, letters};

/// What is to be written.
pub(super) enum Out {
    /// The answer to a ping.
    Pong(Vec<u8>),
    /// The peer says nothing any more, and may be told why.
    Bye(Option<CloseFrame>),
}

/// Why writing ends: the peer is gone or has everything, or it is told.
type End = Option<CloseFrame>;

/// The writer's own.
pub(super) struct Writer {
    hub: Hub,
    manner: Manner,
    login: Login,
    /// Who is at the other end, as the bus and as its dialect call it.
    names: Option<(AgentName, String)>,
    subscription: Subscription,
    ledger: Arc<Mutex<Ledger>>,
    outcome_receiver: OutcomeReceiver<Vec<Pending>>,
    sink: Sink,
}

impl Writer {
    pub(super) fn new(
        hub: Hub,
        manner: Manner,
        login: Login,
        subscription: Subscription,
        ledger: Arc<Mutex<Ledger>>,
        outcome_receiver: OutcomeReceiver<Vec<Pending>>,
        sink: Sink,
    ) -> Self {
        let name = hub.name_of(login.agent.key);
        let names = name.map(|name| {
            let uri = hub.reading(|reading| reading.names.uri(name.as_str()));
            (name, uri)
        });
        Writer { hub, manner, login, names, subscription, ledger, outcome_receiver, sink }
    }

    /// Writes until the peer is gone or must go.
    pub(super) async fn run(mut self, mut outs: mpsc::Receiver<Out>) {
        if let Some(frame) = self.write_all(&mut outs).await {
            self.sink.close(frame).await;
        }
    }

    async fn write_all(&mut self, outs: &mut mpsc::Receiver<Out>) -> End {
        let (mut stopping, mut changes) = (self.hub.stopping(), self.hub.registry_changes());
        let mut pings = interval_at(Instant::now() + PING_TIME, PING_TIME);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut batch, mut come) = (Vec::new(), Vec::new());
        loop {
            let written = tokio::select! {
                count = outs.recv_many(&mut batch, WORK_MAX) => {
                    if count == 0 { return None; }
                    self.write(&mut batch).await
                }
                Some((pending, executed)) = self.outcome_receiver.next() => {
                    self.tell(refusals(pending, executed)).await
                }
                count = self.subscription.next_many(&mut come, LETTERS_MAX as usize) => {
                    if count == 0 {
                        let is_shut_out = self.login.is_shut_out(&self.hub, &mut changes).await;
                        let stopped = || close(CLOSE_STOPPING, Code::Stopped.name());
                        return Some(if is_shut_out { self.shown_out() } else { stopped() });
                    }
                    self.deliver(&mut come).await
                }
                _ = pings.tick() => {
                    if self.is_deaf() { return Some(close(CLOSE_POLICY, "no pong")); }
                    self.sink.ping(&[]);
                    self.sink.shrink();
                    Ok(())
                }
                () = stops(&mut stopping) => return Some(close(CLOSE_STOPPING, "stopping")),
                changed = changes.changed() => {
                    if changed.is_err() || !self.login.is_good(&self.hub) { return Some(self.shown_out()); }
                    Ok(())
                }
            };
            if let Err(end) = written {
                return end;
            }
            self.sink.flush().await?;
        }
    }

    /// Tells whether the peer has left a ping unanswered for as long as one may be silent, whatever else it says.
    fn is_deaf(&self) -> bool {
        let oldest = self.ledger.lock().unwrap_or_else(PoisonError::into_inner).oldest();
        oldest.is_some_and(|at| self.hub.node().steady().saturating_sub(at) > SILENCE_TIME)
    }

    /// Says why somebody who was let in may not stay.
    fn shown_out(&self) -> CloseFrame {
        let is_there = self.hub.is_there(self.login.agent.key);
        close(CLOSE_POLICY, if is_there { Code::NoToken.name() } else { self.manner.nobody })
    }

    /// Puts what was refused into the sink.
    async fn tell(&mut self, refusals: Vec<Refusal>) -> Result<(), End> {
        for (about, problem) in refusals {
            let Some((agent, uri)) = &self.names else { continue };
            let (about, at) = (about.as_deref(), self.hub.node().wall().timestamp());
            let text = (self.manner.refuse)(&Refused { agent, uri, about, problem: &problem, at });
            self.sink.text(&text);
            self.sink.flush_much().await.ok_or(None)?;
        }
        Ok(())
    }

    /// Puts what is to be written into the sink.
    async fn write(&mut self, batch: &mut Vec<Out>) -> Result<(), End> {
        for item in batch.drain(..) {
            match item {
                Out::Pong(payload) => self.sink.pong(&payload),
                Out::Bye(end) => {
                    self.sink.flush().await.ok_or(None)?;
                    return Err(end);
                }
            }
        }
        Ok(())
    }

    /// Puts letters into the sink, and a ping behind them. What was not put there when the sink fails was never
    /// handed out.
    async fn deliver(&mut self, come: &mut Vec<Letter>) -> Result<(), End> {
        let mut written: Vec<Written> = Vec::with_capacity(come.len());
        let places: Vec<Seq> = come.iter().map(|letter| letter.delivery.body).collect();
        let mut bodies = self.hub.node().body_reader(places);
        for nth in 0..come.len() {
            let (letter, rest) = (&come[nth], &come[nth + 1..]);
            let Some(Ok(body)) = bodies.next().await else {
                give_back(&self.hub, come[nth..].iter().map(of).collect());
                return Err(None);
            };
            let text = match letters::document(&self.hub, letter, &body, self.manner.dialect).await {
                Ok(text) => text,
                Err(error) => {
                    self.refuse(letter, &error);
                    continue;
                }
            };
            self.sink.text(&text);
            written.push(of(letter));
            if self.sink.flush_much().await.is_none() {
                give_back(&self.hub, rest.iter().map(of).collect());
                return Err(None);
            }
        }
        come.clear();
        if written.is_empty() {
            return Ok(());
        }
        let now = self.hub.node().steady();
        let ping = self.ledger.lock().unwrap_or_else(PoisonError::into_inner).note(written, now);
        self.sink.ping(&ping);
        Ok(())
    }

    /// Ends a letter that cannot be said in the door's language; its sender is told.
    fn refuse(&self, letter: &Letter, error: &OutgoingError) {
        let ((agent, delivery), reason) = (of(letter), error.to_string());
        self.subscription.add_credit(1);
        // It may have ended meanwhile; then there is nothing to refuse.
        let nack = Nack { agent, delivery, reason: reason.into(), delay: Delay::Never };
        self.hub.node().note(Command::Nack(nack));
    }
}

fn of(letter: &Letter) -> Written {
    (letter.agent, letter.delivery.delivery)
}
