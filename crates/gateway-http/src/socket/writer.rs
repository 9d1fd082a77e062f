//! The half of a socket that writes.

use std::sync::Arc;

use dialect::Name;
use gateway::letters;
use gateway::socket::{
    CLOSE_POLICY, CLOSE_STOPPING, CloseFrame, LETTERS_MAX, Login, PING_TIME, WORK_MAX, close, give_back,
    stops,
};
use gateway::waiting::{self, Settle};
use gateway::websocket::Sink;
use gateway::{Code, Hub, OutcomeReceiver, Problem};
use message::{DeliveryId, Receipt, Seq};
use node::{Awaited, Letter, Outcome, Subscription};
use smol_str::SmolStr;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::outcome::{Accepted, Outcome as Told, Pending, Together, outcomes};
use super::{Receipts, frame};

/// Replies for which one socket waits at a time.
const WAITS_MAX: usize = 256;

/// What is to be written.
pub(super) enum Out {
    /// A frame.
    Text(String),
    /// A reply for which the peer waited.
    Reply { text: String, settle: Settle },
    /// The answer to a ping.
    Pong(Vec<u8>),
    /// The peer says nothing any more, and may be told why.
    Bye(Option<CloseFrame>),
}

/// Why writing ends: the peer has what was for it or is gone, or it is told.
type End = Option<CloseFrame>;

/// The writer's own.
pub(super) struct Writer {
    hub: Hub,
    dialect: Name,
    receipts: Receipts,
    subscription: Subscription,
    outcome_receiver: OutcomeReceiver<Vec<Pending>>,
    waits: Arc<Semaphore>,
    sink: Sink,
}

impl Writer {
    pub(super) fn new(
        hub: Hub,
        dialect: Name,
        receipts: Receipts,
        subscription: Subscription,
        outcome_receiver: OutcomeReceiver<Vec<Pending>>,
        sink: Sink,
    ) -> Self {
        let waits = Arc::new(Semaphore::new(WAITS_MAX));
        Writer { hub, dialect, receipts, subscription, outcome_receiver, waits, sink }
    }

    /// Writes until the peer is gone or must go.
    pub(super) async fn run(
        mut self,
        mut outs: mpsc::Receiver<Out>,
        out: mpsc::WeakSender<Out>,
        login: Login,
    ) {
        if let Some(frame) = self.write_all(&mut outs, &out, &login).await {
            self.sink.close(frame).await;
        }
    }

    async fn write_all(
        &mut self,
        outs: &mut mpsc::Receiver<Out>,
        out: &mpsc::WeakSender<Out>,
        login: &Login,
    ) -> End {
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
                    self.tell(outcomes(pending, executed, self.receipts), out).await
                }
                count = self.subscription.next_many(&mut come, LETTERS_MAX as usize) => {
                    if count == 0 {
                        let is_shut_out = login.is_shut_out(&self.hub, &mut changes).await;
                        let (code, reason) =
                            if is_shut_out { (CLOSE_POLICY, Code::NoToken.name()) } else { (CLOSE_STOPPING, "stopped") };
                        return Some(close(code, reason));
                    }
                    self.deliver(&mut come).await
                }
                _ = pings.tick() => {
                    self.sink.ping(&[]);
                    self.sink.shrink();
                    Ok(())
                }
                () = stops(&mut stopping) => return Some(close(CLOSE_STOPPING, "stopping")),
                changed = changes.changed() => {
                    if changed.is_err() || !login.is_good(&self.hub) { return Some(close(CLOSE_POLICY, Code::NoToken.name())); }
                    Ok(())
                }
            };
            if let Err(end) = written {
                return end;
            }
            self.sink.flush().await?;
        }
    }

    /// Puts what came of the peer's frames into the sink, and what else came of frames meanwhile.
    async fn tell(&mut self, mut told: Vec<Told>, out: &mpsc::WeakSender<Out>) -> Result<(), End> {
        for _ in 0..WORK_MAX {
            for told in told {
                if let Some(text) = self.told(told, out) {
                    self.sink.text(&text);
                    self.sink.flush_much().await.ok_or(None)?;
                }
            }
            let Some((pending, executed)) = self.outcome_receiver.try_next() else { break };
            told = outcomes(pending, executed, self.receipts);
        }
        Ok(())
    }

    /// Puts what is to be written into the sink.
    async fn write(&mut self, batch: &mut Vec<Out>) -> Result<(), End> {
        for item in batch.drain(..) {
            match item {
                Out::Text(text) => self.sink.text(&text),
                Out::Reply { text, settle } => {
                    self.sink.text(&text);
                    self.sink.flush_much().await.ok_or(None)?;
                    settle.given();
                }
                Out::Pong(payload) => self.sink.pong(&payload),
                Out::Bye(end) => {
                    self.sink.flush().await.ok_or(None)?;
                    return Err(end);
                }
            }
        }
        Ok(())
    }

    /// Returns what the peer is told of its frame, if anything.
    fn told(&self, told: Told, out: &mpsc::WeakSender<Out>) -> Option<String> {
        match told {
            Told::Brief { reference, receipted, stage } => {
                Some(frame::brief(reference.as_deref(), receipted.id, stage, receipted.duplicate))
            }
            Told::Together(Together { upto, id, count }) => Some(frame::together(upto.as_deref(), count, id)),
            Told::Accepted(accepted) => Some(self.accepted(*accepted, out)),
            Told::Settled { reference } => {
                reference.map(|reference| frame::begin("done", Some(&reference)).end())
            }
            Told::Refused { reference, delivery, problem } => {
                let delivery = delivery.map(|delivery| delivery.to_string());
                Some(frame::error(reference.as_deref(), delivery.as_deref(), &problem))
            }
        }
    }

    fn accepted(&self, accepted: Accepted, out: &mpsc::WeakSender<Out>) -> String {
        let Accepted { reference, head, receipted, awaited, waits: is_waiting } = accepted;
        let (id, duplicate, answer) = (receipted.id, receipted.duplicate, receipted.answer);
        let receipt = head.receipt(receipted);
        let text = match self.receipts {
            Receipts::Full => frame::receipt(reference.as_deref(), &receipt),
            Receipts::Brief | Receipts::Together => {
                frame::brief(reference.as_deref(), id, receipt.stage().name(), duplicate)
            }
        };
        if !is_waiting && answer.is_none() {
            return text;
        }
        let waiter = Waiter { hub: self.hub.clone(), reference, receipt };
        if let Some(out) = out.upgrade() {
            if let Some(awaited) = awaited {
                match Arc::clone(&self.waits).try_acquire_owned() {
                    Ok(permit) => drop(tokio::spawn(async move {
                        waiter.wait(awaited, out).await;
                        drop(permit);
                    })),
                    Err(_) => drop(tokio::spawn(waiter.refuse(out))),
                }
            } else if let Some(reply) = answer {
                drop(tokio::spawn(waiter.answer_again(reply, out)));
            } else {
                drop(tokio::spawn(waiter.tell_nothing(out)));
            }
        }
        text
    }

    /// Puts letters into the sink. What was not put there when the sink fails was never handed out.
    async fn deliver(&mut self, come: &mut Vec<Letter>) -> Result<(), End> {
        let places: Vec<Seq> = come.iter().map(|letter| letter.delivery.body).collect();
        let of = |letter: &Letter| (letter.agent, letter.delivery.delivery);
        let mut bodies = self.hub.node().body_reader(places);
        for nth in 0..come.len() {
            let (letter, rest) = (&come[nth], &come[nth + 1..]);
            let Some(Ok(body)) = bodies.next().await else {
                give_back(&self.hub, come[nth..].iter().map(of).collect());
                return Err(None);
            };
            let written = letters::delivery(&self.hub, letter, &body, self.dialect, Some("deliver")).await;
            let text = written.unwrap_or_else(|problem| {
                let delivery = letter.delivery.delivery.to_string();
                frame::error(None, Some(&delivery), &problem)
            });
            self.sink.text(&text);
            if self.sink.flush_much().await.is_none() {
                give_back(&self.hub, rest.iter().map(of).collect());
                return Err(None);
            }
        }
        come.clear();
        Ok(())
    }
}

/// Somebody who waits for the reply to a message that it sent over a socket.
struct Waiter {
    hub: Hub,
    reference: Option<SmolStr>,
    receipt: Receipt,
}

impl Waiter {
    /// Waits for the one outcome, or until the socket is gone.
    async fn wait(self, awaited: Awaited, out: mpsc::Sender<Out>) {
        let outcome = tokio::select! {
            outcome = awaited.outcome() => outcome,
            () = out.closed() => return,
        };
        let told = match outcome {
            Some(Outcome::Reply { reply, delivery }) => {
                let settle = Settle::new(&self.hub, delivery);
                match waiting::read(&self.hub, reply, self.receipt.dialect).await {
                    Ok(reply) => Out::Reply { text: self.text(&reply, Some(delivery)), settle },
                    Err(problem) => self.error(&problem),
                }
            }
            Some(Outcome::Nothing { stage }) => {
                let problem = waiting::nothing(&self.hub, self.receipt.clone(), stage).await;
                self.error(&problem)
            }
            None => self.error(&Problem::new(Code::Stopped, "the bus stops")),
        };
        // A socket that is gone is told nothing; the reply then goes to the inbox.
        drop(out.send(told).await);
    }

    /// Tells a repeat the reply that came before.
    async fn answer_again(self, reply: message::MessageId, out: mpsc::Sender<Out>) {
        let told = match waiting::read(&self.hub, reply, self.receipt.dialect).await {
            Ok(reply) => Out::Text(self.text(&reply, None)),
            Err(problem) => self.error(&problem),
        };
        drop(out.send(told).await);
    }

    /// Says that nobody can answer, or that the time in which an answer counted is over.
    async fn tell_nothing(self, out: mpsc::Sender<Out>) {
        let problem = waiting::nothing(&self.hub, self.receipt.clone(), self.receipt.stage()).await;
        drop(out.send(self.error(&problem)).await);
    }

    /// Says that this socket waits for too many replies; this one goes to the inbox.
    async fn refuse(self, out: mpsc::Sender<Out>) {
        let problem =
            Problem::new(Code::TooMany, "this socket waits for too many replies: it comes to the inbox");
        drop(out.send(self.error(&problem)).await);
    }

    fn error(&self, problem: &Problem) -> Out {
        Out::Text(frame::error(self.reference.as_deref(), None, problem))
    }

    fn text(&self, reply: &waiting::Reply, delivery: Option<DeliveryId>) -> String {
        frame::begin("reply", self.reference.as_deref())
            .text("id", &reply.id.to_string())
            .maybe("delivery", delivery.map(|delivery| delivery.to_string()).as_deref())
            .text("dialect", reply.outgoing.dialect.name())
            .raw("document", &reply.outgoing.text)
            .end()
    }
}
