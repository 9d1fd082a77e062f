//! Watching an inbox of the bus: messages are taken with a lease, and every step shows in their receipts.
//!
//! A lease is short and prolonged while the command runs, so that a watcher that is gone is noticed soon. What was
//! handed out before and is not answered is not run again: it becomes a dead letter, which is tried again by hand.

mod job;

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use client::{Client, ClientError, Delivery, Take, Taken};
use dialect_channel::presence::{Event, Phase, REFRESH_AFTER};
use message::{AgentRef, DeliveryId, Dialect, Kind, Message, MessageId, Presence, PresenceState};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::WatchError;
use crate::pace::Pace;
use crate::watching::{Stop, Tally, Watching};

use job::{Job, Outcome};

/// How long one question for messages waits.
const TAKE_WAIT: Duration = Duration::from_secs(20);
/// How long to wait when the bus cannot be reached, at first and at most.
const PAUSE_MIN: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// The messages that are worked on, each with the delivery by which it is held.
pub(crate) type Held = Arc<Mutex<HashMap<MessageId, DeliveryId>>>;

type Taking = Pin<Box<dyn Future<Output = Result<Taken, ClientError>> + Send>>;

/// Watches the inbox of an agent until it is stopped, or until nothing is left to do. Joins the channels first.
///
/// Whatever ends it, the agent's presence is offline afterwards, if the bus can be told.
pub async fn watch_bus(
    client: Client,
    channels: Vec<String>,
    watching: Arc<Watching>,
    stop: Stop,
) -> Result<Tally, WatchError> {
    for channel in &channels {
        let is_address = channel.starts_with('#') || channel.contains(':') || channel.starts_with("roles.");
        let address = if is_address { channel.clone() } else { format!("channel:{channel}") };
        client.join(&watching.agent, &address).await?;
    }
    let speaker = Speaker { client: client.clone(), agent: watching.agent.clone() };
    let phase = Phase::Offline.after(Event::Started);
    speaker.say(phase).await?;
    let mut watcher = Watcher {
        client,
        watching: Arc::clone(&watching),
        speaker: speaker.clone(),
        held: Held::default(),
        running: JoinSet::new(),
        phase,
        pace: Pace::new(watching.per_minute),
        tally: Tally::default(),
        stop,
        began: Instant::now(),
    };
    let ended = tokio::spawn(async move { watcher.run().await }).await;
    let said = speaker.say(Phase::Offline).await;
    match ended {
        Ok(ended) => {
            if let Err(error) = said {
                tracing::warn!("the bus cannot be told that {} is gone: {error}", watching.agent);
            }
            ended
        }
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Ok(Tally::default()),
        },
    }
}

struct Watcher {
    client: Client,
    watching: Arc<Watching>,
    speaker: Speaker,
    held: Held,
    running: JoinSet<Outcome>,
    phase: Phase,
    pace: Pace,
    tally: Tally,
    stop: Stop,
    began: Instant,
}

impl Watcher {
    async fn run(&mut self) -> Result<Tally, WatchError> {
        let mut beat = tokio::time::interval(REFRESH_AFTER);
        let mut taking: Option<Taking> = None;
        let (mut pause, mut not_before) = (PAUSE_MIN, None);
        let mut is_empty = false;
        loop {
            let wait = self.pace.wait(self.began.elapsed());
            let may_take =
                wait.is_none() && not_before.is_none() && self.running.len() < self.watching.concurrency;
            if taking.is_none() && may_take && !(self.watching.is_once && is_empty) {
                taking = Some(self.take());
            }
            if self.watching.is_once && is_empty && self.running.is_empty() {
                return Ok(self.tally);
            }
            tokio::select! {
                taken = next(&mut taking) => {
                    taking = None;
                    match taken {
                        Ok(taken) => {
                            pause = PAUSE_MIN;
                            is_empty = taken.deliveries.is_empty();
                            for delivery in taken.deliveries {
                                self.start(delivery);
                            }
                        }
                        Err(error) if is_passing(&error) => {
                            tracing::warn!("lost the bus: {error}; trying again");
                            not_before = Some(Instant::now() + pause);
                            pause = (pause * 2).min(PAUSE_MAX);
                        }
                        Err(error) => {
                            self.end().await;
                            return Err(error.into());
                        }
                    }
                }
                Some(done) = self.running.join_next(), if !self.running.is_empty() => match done {
                    Ok(outcome) => self.count(outcome).await,
                    Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                    Err(_) => {}
                },
                _ = beat.tick() => self.say().await,
                () = until(not_before) => not_before = None,
                () = tokio::time::sleep(wait.unwrap_or_default()), if wait.is_some() => {}
                () = self.stop.asked() => {
                    self.end().await;
                    return Ok(self.tally);
                }
            }
        }
    }

    /// Asks for one message. The answer is never thrown away, so that nothing is handed to nobody.
    fn take(&self) -> Taking {
        let mut take = Take::default();
        (take.max, take.lease, take.dialect) = (Some(1), Some(self.watching.lease), Some(Dialect::Convoke));
        take.wait = (!self.watching.is_once).then_some(TAKE_WAIT);
        let (client, agent) = (self.client.clone(), self.watching.agent.clone());
        Box::pin(async move { client.take(&agent, &take).await })
    }

    fn start(&mut self, delivery: Delivery) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        // The lease was lost on the way; whoever works on it holds it by the new delivery.
        if held.insert(delivery.id, delivery.delivery).is_some() {
            return;
        }
        drop(held);
        let job = Job {
            client: self.client.clone(),
            watching: Arc::clone(&self.watching),
            held: Arc::clone(&self.held),
            delivery,
            stop: self.stop.clone(),
        };
        self.pace.note(self.began.elapsed());
        self.phase = self.phase.after(Event::Received);
        let speaker = self.speaker.clone();
        self.running.spawn(async move { job.run(&speaker).await });
    }

    async fn count(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Answered => self.tally.answered += 1,
            Outcome::Failed => self.tally.failed += 1,
            Outcome::Passed => self.tally.passed += 1,
        }
        if self.running.is_empty() {
            self.phase = self.phase.after(Event::Posted);
            if outcome != Outcome::Passed {
                self.say().await;
            }
        }
    }

    /// Waits for those that run; each has heard the same and gives up.
    async fn end(&mut self) {
        while let Some(done) = self.running.join_next().await {
            if let Ok(outcome) = done {
                self.count(outcome).await;
            }
        }
    }

    async fn say(&self) {
        if let Err(error) = self.speaker.say(self.phase).await {
            tracing::warn!("presence cannot be told: {error}");
        }
    }
}

/// Says how the agent is.
#[derive(Clone)]
pub(crate) struct Speaker {
    client: Client,
    agent: String,
}

impl Speaker {
    pub(crate) async fn say(&self, phase: Phase) -> Result<(), ClientError> {
        let Ok(from) = self.agent.parse::<AgentRef>() else { return Ok(()) };
        let Ok(bus) = "system".parse() else { return Ok(()) };
        let state = match phase {
            Phase::Idle => PresenceState::Idle,
            Phase::Working => PresenceState::Busy,
            Phase::Offline => PresenceState::Offline,
        };
        let mut presence = Presence::new(state);
        (presence.sub, presence.pid) = (Some(phase.words().1.to_owned()), Some(std::process::id()));
        let mut sign = Message::new(Kind::AgentHeartbeat, from, vec![bus]);
        sign.presence = Some(Box::new(presence));
        self.client.tell_bus(&sign.encode(), Dialect::Convoke).await
    }
}

/// Tells whether a call may succeed later by itself.
pub(crate) fn is_passing(error: &ClientError) -> bool {
    match error.problem() {
        Some(problem) => problem.status >= 500 || problem.status == 429,
        None => matches!(error.code(), "unreachable" | "broken" | "timed_out"),
    }
}

async fn next(taking: &mut Option<Taking>) -> Result<Taken, ClientError> {
    match taking {
        Some(taking) => taking.await,
        None => std::future::pending().await,
    }
}

async fn until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}
