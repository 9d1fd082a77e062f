//! The mailman: who waits for messages or for a reply, and gets them as soon as they may leave.
//!
//! None of this is state of the bus: who waits is gone when the process is. What is handed out here leaves with the
//! batch in which it was handed out, when that is durable.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use broker::{AgentKey, Broker, Delivery, Mailbox};
use message::{DeliveryId, MessageId, Stage};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use crate::release::{Release, Releases};
use crate::subscription::Wishes;
use crate::writer::Queue;

/// A message that is handed out.
#[derive(Clone, Debug, PartialEq)]
pub struct Letter {
    /// To whom.
    pub agent: AgentKey,
    /// What the bus knows of it, and under which id it is to be settled.
    pub delivery: Delivery,
}

/// Somebody who waits, by the order in which they asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Waiting(u64);

/// How a wait for a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A reply has come; it is to be settled, or returned if it cannot be written.
    Reply {
        /// The reply.
        reply: MessageId,
        /// Under which it is handed out.
        delivery: DeliveryId,
    },
    /// None will come.
    Nothing {
        /// How far the message has come.
        stage: Stage,
    },
}

/// A wait for a reply.
pub struct Awaited {
    outcome: oneshot::Receiver<Outcome>,
}

impl Awaited {
    /// Waits for the end; nothing if the node stops before.
    pub async fn outcome(self) -> Option<Outcome> {
        self.outcome.await.ok()
    }
}

struct Waiter {
    wishes: Wishes,
    way: Way,
}

/// How letters get to somebody who waits.
enum Way {
    /// All at once, and that is the end of it.
    Once(oneshot::Sender<Vec<Letter>>),
    /// One after the other, as many as there is credit for.
    Stream { letters: mpsc::Sender<Letter>, credit: u32 },
}

pub(crate) struct Mailman {
    queue: Arc<Queue>,
    waiters: BTreeMap<Waiting, Waiter>,
    by_agent: HashMap<AgentKey, Vec<Waiting>>,
    replies: HashMap<MessageId, Vec<oneshot::Sender<Outcome>>>,
    last: u64,
    /// What leaves when the batch of this turn is durable.
    pub(crate) releases: Releases,
}

impl Letter {
    pub(crate) fn new(agent: AgentKey, delivery: Delivery) -> Self {
        Letter { agent, delivery }
    }
}

impl Mailman {
    pub(crate) fn new(queue: Arc<Queue>) -> Self {
        Mailman {
            queue,
            waiters: BTreeMap::new(),
            by_agent: HashMap::new(),
            replies: HashMap::new(),
            last: 0,
            releases: Vec::new(),
        }
    }

    /// Lets somebody wait for whatever comes first.
    pub(crate) fn wait_once(&mut self, wishes: Wishes, letters: oneshot::Sender<Vec<Letter>>) -> Waiting {
        self.add(wishes, Way::Once(letters))
    }

    /// Lets somebody wait for everything that comes.
    pub(crate) fn wait_on(&mut self, wishes: Wishes, letters: mpsc::Sender<Letter>) -> Waiting {
        self.add(wishes, Way::Stream { letters, credit: 0 })
    }

    fn add(&mut self, wishes: Wishes, way: Way) -> Waiting {
        self.last += 1;
        let waiting = Waiting(self.last);
        self.by_agent.entry(wishes.agent).or_default().push(waiting);
        self.waiters.insert(waiting, Waiter { wishes, way });
        waiting
    }

    /// Lets a stream have more.
    pub(crate) fn add_credit(&mut self, waiting: Waiting, more: u32) {
        if let Some(Waiter { way: Way::Stream { credit, .. }, .. }) = self.waiters.get_mut(&waiting) {
            *credit = credit.saturating_add(more);
        }
    }

    /// Forgets somebody who waits.
    pub(crate) fn leave(&mut self, waiting: Waiting) {
        if let Some(waiter) = self.waiters.remove(&waiting) {
            self.forget(waiter.wishes.agent, waiting);
        }
    }

    /// Returns who may take from a mailbox now, the first who asked first.
    pub(crate) fn waiting_at(&self, mailbox: Mailbox, broker: &Broker) -> Vec<Waiting> {
        let of_agent = |agent: &AgentKey| self.by_agent.get(agent).cloned().unwrap_or_default();
        let mut waiting = match mailbox {
            Mailbox::Agent(agent) => of_agent(&agent),
            Mailbox::Session(session) => {
                let is_it = |waiter: &Waiter| waiter.wishes.session == Some(session);
                self.waiters.iter().filter(|(_, waiter)| is_it(waiter)).map(|(key, _)| *key).collect()
            }
            Mailbox::Group(group) => {
                let members = self.by_agent.keys().filter(|agent| broker.is_member(**agent, group));
                members.flat_map(of_agent).collect()
            }
            Mailbox::Nobody => Vec::new(),
        };
        waiting.sort_unstable();
        waiting
    }

    /// Returns what somebody who waits wants, unless it has no credit.
    pub(crate) fn wishes_of(&self, waiting: Waiting) -> Option<Wishes> {
        let waiter = self.waiters.get(&waiting)?;
        match waiter.way {
            Way::Once(_) => Some(waiter.wishes.clone()),
            Way::Stream { credit: 0, .. } => None,
            Way::Stream { credit, .. } => {
                Some(Wishes { max: waiter.wishes.max.min(credit), ..waiter.wishes.clone() })
            }
        }
    }

    /// Gives letters to somebody who waits, when they are durable.
    pub(crate) fn deliver(&mut self, waiting: Waiting, letters: Vec<Letter>) {
        if letters.is_empty() {
            return;
        }
        let Some(waiter) = self.waiters.get_mut(&waiting) else { return };
        let (agent, queue) = (waiter.wishes.agent, Arc::clone(&self.queue));
        // What nobody takes was never handed out.
        let give_back = move |letter: &Letter| queue.push_return(agent, letter.delivery.delivery);
        if let Way::Stream { letters: channel, credit } = &mut waiter.way {
            *credit = credit.saturating_sub(u32::try_from(letters.len()).unwrap_or(u32::MAX));
            let channel = channel.clone();
            self.releases.push(Box::new(move || {
                for letter in letters {
                    if let Err(TrySendError::Full(letter) | TrySendError::Closed(letter)) =
                        channel.try_send(letter)
                    {
                        give_back(&letter);
                    }
                }
            }));
            return;
        }
        let waiter = self.waiters.remove(&waiting);
        if let Some(Waiter { wishes, way: Way::Once(channel) }) = waiter {
            self.forget(wishes.agent, waiting);
            self.releases.push(Box::new(move || {
                if let Err(letters) = channel.send(letters) {
                    letters.iter().for_each(give_back);
                }
            }));
        }
    }

    fn forget(&mut self, agent: AgentKey, waiting: Waiting) {
        if let Some(of_agent) = self.by_agent.get_mut(&agent) {
            of_agent.retain(|other| *other != waiting);
            if of_agent.is_empty() {
                self.by_agent.remove(&agent);
            }
        }
    }

    /// Lets somebody wait for the reply to a message.
    pub(crate) fn wait_for_reply(&mut self, message: MessageId) -> Awaited {
        let (end, outcome) = oneshot::channel();
        self.replies.entry(message).or_default().push(end);
        Awaited { outcome }
    }

    /// Gives a reply to those who wait for it; if nobody does any more, it was never handed out.
    pub(crate) fn answer(&mut self, message: MessageId, reply: MessageId, to: (AgentKey, DeliveryId)) {
        let (agent, delivery) = to;
        let waiting = self.replies.remove(&message).unwrap_or_default();
        let queue = Arc::clone(&self.queue);
        self.releases.push(Box::new(move || {
            let outcome = Outcome::Reply { reply, delivery };
            let heard = waiting.into_iter().filter_map(|waiting| waiting.send(outcome).ok()).count();
            if heard == 0 {
                queue.push_return(agent, delivery);
            }
        }));
    }

    pub(crate) fn give_up(&mut self, message: MessageId, stage: Stage) {
        for waiting in self.replies.remove(&message).unwrap_or_default() {
            let release: Release = Box::new(move || {
                // Who waited may be gone.
                let _gone = waiting.send(Outcome::Nothing { stage });
            });
            self.releases.push(release);
        }
    }
}
