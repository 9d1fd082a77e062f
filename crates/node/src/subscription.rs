//! Subscriptions: letters as they come, as many as the subscriber has given credit for.

use std::sync::{Arc, Mutex, PoisonError};

use broker::{AgentKey, SessionKey, Take};
use message::DeliveryId;
use smol_str::SmolStr;
use tokio::sync::mpsc;

use crate::driver::{Letter, SubscriberId};
use crate::handle::{Node, STREAM_LETTERS_MAX};

/// What somebody who waits for messages wants.
#[derive(Clone, Debug)]
pub struct Wishes {
    /// For whom.
    pub agent: AgentKey,
    /// Over which connection, if the leases are to end with one.
    pub session: Option<SessionKey>,
    /// At most how many at a time.
    pub max: u32,
    /// At most how many bytes of bodies at a time; one message is given in any case.
    pub bytes_max: u64,
    /// For how long each is leased, in milliseconds.
    pub lease_ms: u64,
    /// By which gateway, for the receipt.
    pub by: SmolStr,
}

/// A stream of letters. What was not read when it is dropped was never handed out.
pub struct Subscription {
    node: Node,
    agent: AgentKey,
    credit: Credit,
    letters: mpsc::Receiver<Letter>,
}

/// What lets more letters come.
#[derive(Clone)]
pub struct Credit {
    node: Node,
    subscriber: SubscriberId,
    purse: Arc<Mutex<Purse>>,
}

/// Credit is given to the node as far as letters that nobody has read yet have a place; the rest waits here.
#[derive(Default)]
struct Purse {
    /// For how many letters the node has credit or has sent them, and they were not read.
    given: u32,
    owed: u32,
}

impl Credit {
    /// Lets so many more come.
    pub fn add(&self, more: u32) {
        self.change(|purse| purse.owed = purse.owed.saturating_add(more));
    }

    /// Notes that letters were read.
    fn read(&self, letters: usize) {
        let letters = u32::try_from(letters).unwrap_or(u32::MAX);
        self.change(|purse| purse.given = purse.given.saturating_sub(letters));
    }

    fn change(&self, change: impl FnOnce(&mut Purse)) {
        let mut purse = self.purse.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut purse);
        let more = purse.owed.min(STREAM_LETTERS_MAX - purse.given.min(STREAM_LETTERS_MAX));
        if more > 0 {
            purse.owed -= more;
            purse.given += more;
            self.node.add_credit(self.subscriber, more);
        }
    }
}

impl Wishes {
    pub(crate) fn take(&self) -> Take {
        Take {
            agent: self.agent,
            session: self.session,
            max: self.max,
            bytes_max: self.bytes_max,
            lease_ms: self.lease_ms,
            by: self.by.clone(),
        }
    }
}

impl Subscription {
    pub(crate) fn new(
        node: Node,
        agent: AgentKey,
        subscriber: SubscriberId,
        letters: mpsc::Receiver<Letter>,
    ) -> Self {
        let credit = Credit { node: node.clone(), subscriber, purse: Arc::default() };
        Subscription { node, agent, credit, letters }
    }

    /// Lets so many more come.
    pub fn add_credit(&self, more: u32) {
        self.credit.add(more);
    }

    /// Returns what lets more come from elsewhere than where letters are read.
    pub fn credit(&self) -> Credit {
        self.credit.clone()
    }

    /// Waits for the next letter; there is none when the node has stopped.
    pub async fn next(&mut self) -> Option<Letter> {
        let letter = self.letters.recv().await;
        self.credit.read(usize::from(letter.is_some()));
        letter
    }

    /// Waits for letters and takes as many as have come; none when the node has stopped.
    pub async fn next_many(&mut self, letters: &mut Vec<Letter>, max: usize) -> usize {
        let count = self.letters.recv_many(letters, max).await;
        self.credit.read(count);
        count
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.letters.close();
        let mut unread: Vec<DeliveryId> = Vec::new();
        while let Ok(letter) = self.letters.try_recv() {
            unread.push(letter.delivery.delivery);
        }
        self.node.unsubscribe(self.credit.subscriber, self.agent, unread);
    }
}
