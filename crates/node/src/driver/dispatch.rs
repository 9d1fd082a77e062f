//! The dispatcher: who waits for messages or for a reply, and gets them as soon as they may leave.
//!
//! None of this is state of the bus: who waits is gone when the process is. What is handed out here leaves with the
//! batch in which it was handed out, when that is durable.

use std::collections::{BTreeMap, HashMap};

use broker::{AgentKey, Broker, Delivery, Mailbox, SessionKey};
use message::{DeliveryId, MessageId, Stage};
use tokio::sync::{mpsc, oneshot};

use super::Completion;
use crate::subscription::Wishes;

/// A message that is handed out.
#[derive(Clone, Debug, PartialEq)]
pub struct Letter {
    /// To whom.
    pub agent: AgentKey,
    /// What the bus knows of it, and under which id it is to be settled.
    pub delivery: Delivery,
}

/// A subscriber, by the order in which they asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriberId(u64);

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
#[derive(Debug)]
pub struct Awaited {
    outcome: oneshot::Receiver<Outcome>,
}

impl Awaited {
    /// Waits for the end; nothing if the node stops before.
    pub async fn outcome(self) -> Option<Outcome> {
        self.outcome.await.ok()
    }

    /// Returns the end of the wait, if it has come; an error if none will come.
    #[cfg(feature = "simulation")]
    pub fn try_outcome(&mut self) -> Result<Option<Outcome>, oneshot::error::TryRecvError> {
        match self.outcome.try_recv() {
            Ok(outcome) => Ok(Some(outcome)),
            Err(oneshot::error::TryRecvError::Empty) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

struct Subscriber {
    wishes: Wishes,
    sink: Sink,
}

/// How letters reach a subscriber.
enum Sink {
    /// All at once, and that is the end of it.
    Once(oneshot::Sender<Vec<Letter>>),
    /// One after the other, as many as there is credit for.
    Stream { letters: mpsc::Sender<Letter>, credit: u32 },
}

/// Subscribers, and who waits for the reply to what.
#[derive(Default)]
pub struct Dispatcher {
    subscribers: BTreeMap<SubscriberId, Subscriber>,
    by_agent: HashMap<AgentKey, Vec<SubscriberId>>,
    by_session: HashMap<SessionKey, Vec<SubscriberId>>,
    replies: HashMap<MessageId, Vec<oneshot::Sender<Outcome>>>,
    last: u64,
    /// What leaves when the batch of this step is durable.
    pub(super) completions: Vec<Completion>,
}

impl Letter {
    pub(super) fn new(agent: AgentKey, delivery: Delivery) -> Self {
        Letter { agent, delivery }
    }
}

impl Dispatcher {
    /// Lets somebody wait for whatever comes first.
    pub(super) fn wait_once(
        &mut self,
        wishes: Wishes,
        letters: oneshot::Sender<Vec<Letter>>,
    ) -> SubscriberId {
        self.add(wishes, Sink::Once(letters))
    }

    /// Lets somebody wait for everything that comes.
    pub(super) fn wait_on(&mut self, wishes: Wishes, letters: mpsc::Sender<Letter>) -> SubscriberId {
        self.add(wishes, Sink::Stream { letters, credit: 0 })
    }

    fn add(&mut self, wishes: Wishes, sink: Sink) -> SubscriberId {
        self.last += 1;
        let subscriber = SubscriberId(self.last);
        self.by_agent.entry(wishes.agent).or_default().push(subscriber);
        if let Some(session) = wishes.session {
            self.by_session.entry(session).or_default().push(subscriber);
        }
        self.subscribers.insert(subscriber, Subscriber { wishes, sink });
        subscriber
    }

    /// Lets a stream have more.
    pub(super) fn add_credit(&mut self, subscriber: SubscriberId, more: u32) {
        if let Some(Subscriber { sink: Sink::Stream { credit, .. }, .. }) =
            self.subscribers.get_mut(&subscriber)
        {
            *credit = credit.saturating_add(more);
        }
    }

    /// Forgets a subscriber.
    pub(super) fn leave(&mut self, subscriber: SubscriberId) {
        if let Some(left) = self.subscribers.remove(&subscriber) {
            self.forget(&left.wishes, subscriber);
        }
    }

    /// Ends a stream, whose owner learns that by its closed channel. A caller that waits for the first letters waits on.
    pub(super) fn end_stream(&mut self, subscriber: SubscriberId) {
        let sink = self.subscribers.get(&subscriber).map(|subscriber| &subscriber.sink);
        if matches!(sink, Some(Sink::Stream { .. })) {
            self.leave(subscriber);
        }
    }

    /// Returns who may take from a mailbox now, the first who asked first. For a group it looks at its members or at
    /// the agents that wait, whichever are fewer.
    pub(super) fn waiting_at(&self, mailbox: Mailbox, broker: &Broker) -> Vec<SubscriberId> {
        let of_agent = |agent: AgentKey| self.by_agent.get(&agent).into_iter().flatten().copied();
        let mut waiting: Vec<SubscriberId> = match mailbox {
            Mailbox::Agent(agent) => of_agent(agent).collect(),
            Mailbox::Session(session) => self.by_session.get(&session).cloned().unwrap_or_default(),
            Mailbox::Group(group) => {
                let members = broker.members(group);
                if members.len() < self.by_agent.len() {
                    members.flat_map(of_agent).collect()
                } else {
                    let waiting = self.by_agent.keys().copied();
                    waiting.filter(|agent| broker.is_member(*agent, group)).flat_map(of_agent).collect()
                }
            }
            Mailbox::Nobody => Vec::new(),
        };
        waiting.sort_unstable();
        waiting
    }

    /// Returns what a subscriber wants, unless it has no credit.
    pub(super) fn wishes_of(&self, subscriber: SubscriberId) -> Option<Wishes> {
        let Subscriber { wishes, sink } = self.subscribers.get(&subscriber)?;
        match sink {
            Sink::Once(_) => Some(wishes.clone()),
            Sink::Stream { credit: 0, .. } => None,
            Sink::Stream { credit, .. } => Some(Wishes { max: wishes.max.min(*credit), ..wishes.clone() }),
        }
    }

    /// Returns the subscribers that have credit, with what they want.
    #[cfg(feature = "simulation")]
    pub fn waiting(&self) -> Vec<(SubscriberId, Wishes)> {
        let ids = self.subscribers.keys().copied();
        ids.filter_map(|id| self.wishes_of(id).map(|wishes| (id, wishes))).collect()
    }

    /// Gives letters to a subscriber, when they are durable.
    pub(super) fn deliver(&mut self, id: SubscriberId, letters: Vec<Letter>) {
        let Some(subscriber) = self.subscribers.get_mut(&id).filter(|_| !letters.is_empty()) else { return };
        let agent = subscriber.wishes.agent;
        if let Sink::Stream { letters: channel, credit } = &mut subscriber.sink {
            *credit = credit.saturating_sub(u32::try_from(letters.len()).unwrap_or(u32::MAX));
            self.completions.push(Completion::Stream { agent, letters, to: channel.clone() });
            return;
        }
        if let Some(Subscriber { wishes, sink: Sink::Once(to) }) = self.subscribers.remove(&id) {
            self.forget(&wishes, id);
            self.completions.push(Completion::Once { agent, letters, to });
        }
    }

    fn forget(&mut self, wishes: &Wishes, subscriber: SubscriberId) {
        remove(&mut self.by_agent, wishes.agent, subscriber);
        if let Some(session) = wishes.session {
            remove(&mut self.by_session, session, subscriber);
        }
    }

    /// Lets somebody wait for the reply to a message.
    pub(super) fn wait_for_reply(&mut self, message: MessageId) -> Awaited {
        let (end, outcome) = oneshot::channel();
        self.replies.entry(message).or_default().push(end);
        Awaited { outcome }
    }

    /// Gives a reply to those who wait for it; if nobody does any more, it was never handed out.
    pub(super) fn answer(&mut self, message: MessageId, reply: MessageId, held: (AgentKey, DeliveryId)) {
        let (agent, delivery) = held;
        let to = self.replies.remove(&message).unwrap_or_default();
        self.completions.push(Completion::Replied { agent, reply, delivery, to });
    }

    /// Ends the wait for a reply that will not come.
    pub(super) fn give_up(&mut self, message: MessageId, stage: Stage) {
        if let Some(to) = self.replies.remove(&message) {
            self.completions.push(Completion::Unanswered { stage, to });
        }
    }
}

/// Takes a subscriber out of an index.
fn remove<K: std::hash::Hash + Eq>(
    index: &mut HashMap<K, Vec<SubscriberId>>,
    key: K,
    subscriber: SubscriberId,
) {
    if let Some(ids) = index.get_mut(&key) {
        ids.retain(|id| *id != subscriber);
        if ids.is_empty() {
            index.remove(&key);
        }
    }
}
