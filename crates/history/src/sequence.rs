//! Sequences: the place of each message in its topics, and a running hash over all that came before.
//!
//! A role, a topic, a channel and everyone are topics, and so is a task: all messages that name it. Numbers begin at 1,
//! have no gaps and follow the log, so they are the same however often the tables are made. What is hashed is the
//! document as it was accepted; that it was amended or taken back since changes nothing.

use std::collections::HashMap;

use broker::{Accepted, Event, Target};
use message::{Envelope, Seq, Sha256};

use crate::error::HistoryError;
use crate::query::Scope;
use crate::registry::{Registry, UNKNOWN};
use crate::row::Row;
use crate::store::Store;

/// Topics whose ends are kept in memory.
const ENDS_MAX: usize = 65_536;
/// The hash before the first message.
const BEGINNING: [u8; 32] = [0; 32];

/// A message in one of its topics.
#[derive(Clone, Debug, PartialEq)]
pub struct Post {
    /// Its number in the topic; the first is 1.
    pub number: u64,
    /// The digest of its document as it was accepted.
    pub digest: Sha256,
    /// The digest of the hash of the post before it, 32 zero bytes for the first, and of `digest` behind that.
    pub hash: Sha256,
    /// The message.
    pub row: Row,
    /// Whether the asker may see more of it than that it is there.
    pub is_visible: bool,
}

/// What is asked of a topic.
#[derive(Clone, Debug)]
pub struct Topic {
    /// Its name: an address, or [`of_task`].
    pub name: String,
    /// What the asker may see.
    pub scope: Scope,
    /// Only behind this number.
    pub after: u64,
    /// How many at most.
    pub limit: usize,
}

/// Returns the name of the topic of a task.
pub fn of_task(task: &str) -> String {
    format!("task:{task}")
}

/// A row that is to be written.
pub(crate) struct Place {
    pub(crate) topic: String,
    pub(crate) message: Seq,
    pub(crate) digest: Sha256,
    pub(crate) end: End,
}

/// The last message of a topic.
#[derive(Clone, Copy)]
pub(crate) struct End {
    pub(crate) number: u64,
    pub(crate) hash: Sha256,
}

impl End {
    /// Returns what follows when a document is added.
    pub(crate) fn then(self, digest: Sha256) -> End {
        let both = [self.hash.to_bytes(), digest.to_bytes()].concat();
        End { number: self.number + 1, hash: Sha256::of(&both) }
    }
}

impl Default for End {
    fn default() -> Self {
        End { number: 0, hash: Sha256::from_bytes(BEGINNING) }
    }
}

/// The ends of topics between the tables and the last event.
#[derive(Default)]
pub(crate) struct Sequences {
    ends: HashMap<String, End>,
    places: Vec<Place>,
}

impl Sequences {
    /// Gives a message its places, when the registry knows of everything that it names.
    pub(crate) fn add(
        &mut self,
        store: &Store,
        registry: &Registry,
        seq: Seq,
        event: &Event<'_>,
    ) -> Result<(), HistoryError> {
        let Event::Accepted(accepted) = event else { return Ok(()) };
        let topics = topics(accepted, registry);
        if topics.is_empty() {
            return Ok(());
        }
        let envelope = Envelope::open(&accepted.body);
        let digest = Sha256::of(envelope.map_or(&accepted.body, |envelope| envelope.document));
        for topic in topics {
            let end = match self.ends.get(&topic) {
                Some(end) => *end,
                None => store.end_of(&topic)?,
            };
            let end = end.then(digest);
            self.ends.insert(topic.clone(), end);
            self.places.push(Place { topic, message: seq, digest, end });
        }
        Ok(())
    }

    /// Writes the places that were given.
    pub(crate) fn save(&mut self, store: &Store) -> Result<(), HistoryError> {
        store.save_places(&self.places)?;
        self.places.clear();
        if self.ends.len() > ENDS_MAX {
            self.ends.clear();
        }
        Ok(())
    }
}

fn topics(accepted: &Accepted<'_>, registry: &Registry) -> Vec<String> {
    let groups = accepted.targets.iter().filter_map(|target| match target {
        Target::Group { group, .. } => Some(registry.address(*group)),
        Target::Agent { .. } | Target::Held { .. } | Target::Instead { .. } | Target::Waiter { .. } => None,
    });
    let groups = groups.filter(|address| *address != UNKNOWN).map(str::to_owned);
    groups.chain(accepted.task.map(of_task)).collect()
}
