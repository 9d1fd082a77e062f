//! One message of the bus, from its delivery to its answer.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use client::{Client, ClientError, Delivery, HistoryQuery, Nack, SendOptions};
use dialect::cut_to_bytes;
use dialect_channel::addressing::is_from_us_strict;
use dialect_channel::presence::Phase;
use json::Value;
use message::{Address, AgentRef, DeliveryId, Dialect, Message, MessageId, Stage, Timestamp};

use super::{Held, PAUSE_MAX, PAUSE_MIN, Speaker, is_passing};
use crate::judgement::{Judgement, judge};
use crate::watching::{Stop, Watching};
use crate::{InvocationError, Post};

/// How the watcher is named in receipts.
const BY: &str = "watch";
/// Bytes of a reason that the bus is told.
const REASON_BYTES_MAX: usize = 400;
/// How often the bus is asked to take an answer before that is given up.
const TRIES_MAX: u32 = 20;
const INTERRUPTED: &str =
    "interrupted: it was handed out before and not answered; a command is not started twice";

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Answered,
    Failed,
    Passed,
}

/// A message that was taken.
pub(crate) struct Job {
    pub(crate) client: Client,
    pub(crate) watching: Arc<Watching>,
    pub(crate) held: Held,
    pub(crate) delivery: Delivery,
    pub(crate) stop: Stop,
}

impl Job {
    /// Does what is to be done with it. What cannot be told to the bus comes again when the lease ends.
    pub(crate) async fn run(&self, speaker: &Speaker) -> Outcome {
        let outcome = self.work(speaker).await;
        self.held.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.delivery.id);
        outcome.unwrap_or_else(|error| {
            tracing::warn!("{}: the bus says: {error}", self.delivery.id);
            Outcome::Failed
        })
    }

    async fn work(&self, speaker: &Speaker) -> Result<Outcome, ClientError> {
        let decoded = message::from_value(self.delivery.document.clone());
        let Ok(message) = decoded.map(|decoded| decoded.message) else {
            return self.fail("unreadable: the document is no message").await;
        };
        // What the bus itself tells is for whoever runs the agent.
        if message.from.as_str() == "system" {
            tracing::warn!("{}: a notice of the bus: {}", self.delivery.id, message.text.unwrap_or_default());
            return self.ack().await.map(|()| Outcome::Passed);
        }
        let id = self.delivery.id.to_string();
        let post = Post::from_message(&id, &self.watching.agent, &message);
        let own_age = self.own_age(&post).await;
        let judgement = judge(&post, &self.watching.agent, self.watching.reading, own_age);
        if judgement != Judgement::Answer {
            if matches!(judgement, Judgement::TooManyHops | Judgement::Echo) {
                tracing::warn!("{id}: passed over, {}", judgement.reason());
            }
            return self.ack().await.map(|()| Outcome::Passed);
        }
        if self.delivery.attempt > 1 {
            let receipt = self.client.receipt(self.delivery.id).await?;
            let agent = &self.watching.agent;
            let mut mine = receipt.recipients.iter().filter(|it| it.agent.to_string() == *agent);
            if mine.any(|it| it.stages.iter().any(|step| step.stage == Stage::Answered)) {
                return self.ack().await.map(|()| Outcome::Answered);
            }
            return self.fail(INTERRUPTED).await;
        }
        if let Err(error) = speaker.say(Phase::Working).await {
            tracing::warn!("presence cannot be told: {error}");
        }
        match self.answer(&message, &post).await {
            Some(Ok(text)) => self.reply(&message, &post, text).await,
            Some(Err(error)) => {
                self.fail(&format!("{}: {}; {}", error.code(), error.detail(), error.hint())).await
            }
            None => self.fail("stopped: the watcher was stopped before there was an answer").await,
        }
    }

    /// Runs the command and holds the message meanwhile; nothing if the watcher was stopped.
    async fn answer(&self, message: &Message, post: &Post) -> Option<Result<String, InvocationError>> {
        let earlier = self.earlier(message).await;
        let place = room(message).map_or_else(|| "your inbox".to_owned(), ToString::to_string);
        let handed_over = async {
            if let Err(error) = self.client.surfaced(self.held(), Some(BY)).await {
                tracing::warn!("{}: it cannot be told that it was shown: {error}", post.id);
            }
        };
        let mut stop = self.stop.clone();
        tokio::select! {
            answer = self.watching.answer(&place, post, &earlier, handed_over) => Some(answer),
            never = self.hold() => never,
            () = stop.asked() => None,
        }
    }

    /// Prolongs the lease until nobody waits for it any more.
    async fn hold<T>(&self) -> T {
        loop {
            tokio::time::sleep(self.watching.lease / 3).await;
            if let Err(error) = self.client.extend(self.held(), Some(self.watching.lease)).await {
                tracing::warn!("{}: the lease cannot be prolonged: {error}", self.delivery.id);
            }
        }
    }

    async fn reply(&self, message: &Message, post: &Post, text: String) -> Result<Outcome, ClientError> {
        let Some(reply) = write(message, &self.watching.agent, self.delivery.id, post, text) else {
            return self.fail("unanswerable: its sender has no name that can be answered").await;
        };
        let (document, how) = (reply.encode(), SendOptions::new(Dialect::Convoke));
        let mut pause = PAUSE_MIN;
        for tries in 1.. {
            let sent = tokio::select! {
                sent = self.client.send(&document, &how) => sent,
                never = self.hold() => never,
            };
            match sent {
                Ok(_) => break,
                Err(error) if is_passing(&error) && tries < TRIES_MAX && !self.stop.is_asked() => {
                    tracing::warn!("{}: the answer waits for the bus: {error}", post.id);
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
                // Somebody has answered it for this agent before.
                Err(error) if error.problem().is_some_and(|problem| problem.status == 409) => break,
                Err(error) => return self.fail(&format!("not_posted: {error}")).await,
            }
        }
        self.ack().await.map(|()| Outcome::Answered)
    }

    async fn ack(&self) -> Result<(), ClientError> {
        self.settle(None).await
    }

    /// Makes it a dead letter, which is tried again by hand only.
    async fn fail(&self, reason: &str) -> Result<Outcome, ClientError> {
        let reason = self.watching.invocation.secrets.hide(reason);
        tracing::warn!("{}: {reason}", self.delivery.id);
        let mut nack = Nack::default();
        (nack.reason, nack.last) = (Some(cut_to_bytes(&reason, REASON_BYTES_MAX).into_owned()), true);
        self.settle(Some(&nack)).await?;
        Ok(Outcome::Failed)
    }

    /// Acknowledges it or gives it back, some times if the bus cannot be reached.
    async fn settle(&self, nack: Option<&Nack>) -> Result<(), ClientError> {
        let mut pause = PAUSE_MIN;
        for tries in 1.. {
            let settled = match nack {
                Some(nack) => self.client.nack(self.held(), nack).await,
                None => self.client.ack(self.held(), Some(BY)).await,
            };
            match settled {
                Err(error) if is_passing(&error) && tries < TRIES_MAX && !self.stop.is_asked() => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
                settled => return settled.map(|_| ()),
            }
        }
        Ok(())
    }

    /// Returns the delivery by which the message is held now.
    fn held(&self) -> DeliveryId {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.get(&self.delivery.id).copied().unwrap_or(self.delivery.delivery)
    }

    /// Returns how long ago the message was sent that this one answers, if this agent sent it.
    async fn own_age(&self, post: &Post) -> Option<Duration> {
        let asked: MessageId = post.reply_to.as_deref().filter(|_| post.hops > 0)?.parse().ok()?;
        let document = self.client.document(asked, Some(Dialect::Convoke)).await.ok()?;
        let asked = json::parse_str(&document.text, json::Limits::DOCUMENT).ok()?;
        let text = |key: &str| asked.get(key).and_then(Value::as_str);
        let at: Timestamp = text("created")?.parse().ok()?;
        let is_own = is_from_us_strict(&self.watching.agent, text("from"));
        is_own.then(|| (self.watching.now)().duration_since(at))?
    }

    /// Returns what was said before in the same conversation or room, the oldest first.
    async fn earlier(&self, message: &Message) -> Vec<Post> {
        let mut query = HistoryQuery::default();
        match (&message.thread, room(message)) {
            (_, Some(Address::Channel(channel))) => query.channel = Some(channel.to_string()),
            (Some(thread), _) => query.thread = Some(thread.to_string()),
            (None, _) => query.agent = Some(self.watching.agent.clone()),
        }
        query.limit = Some(self.watching.earlier_count as u64 + 1);
        let Ok(page) = self.client.history(&query).await else { return Vec::new() };
        let before = page.messages.into_iter().filter(|entry| entry.id != self.delivery.id);
        let mut earlier: Vec<Post> = before
            .filter(|entry| entry.text.is_some())
            .map(|entry| Post {
                id: entry.id.to_string(),
                from: entry.from.unwrap_or_default(),
                to: entry.to.first().cloned(),
                at: entry.at,
                kind: entry.kind.unwrap_or_default(),
                said: entry.text.unwrap_or_default(),
                ..Post::default()
            })
            .collect();
        let over = earlier.len().saturating_sub(self.watching.earlier_count);
        earlier.drain(..over);
        earlier
    }
}

/// Returns the channel or topic in which a message was said.
fn room(message: &Message) -> Option<&Address> {
    message.to.iter().find(|address| matches!(address, Address::Channel(_) | Address::Topic(_)))
}

/// Writes the answer: to the room in which the message was said, else to its sender.
fn write(message: &Message, agent: &str, id: MessageId, post: &Post, text: String) -> Option<Message> {
    let from: AgentRef = agent.parse().ok()?;
    let to = room(message).cloned().unwrap_or_else(|| message.from.clone().into());
    let mut reply = Message::new(message.kind.answered_by(), from, vec![to]);
    // The same for every attempt, so that one message never has two answers.
    reply.native_id = Some(format!("watch-{id}").parse().ok()?);
    reply.reply_to = Some(id.to_string().parse().ok()?);
    (reply.thread, reply.task) = (message.thread.clone(), message.task.clone());
    reply.text = Some(text);
    reply.extra.insert("hops", Value::from(post.hops.saturating_add(1)));
    Some(reply)
}
