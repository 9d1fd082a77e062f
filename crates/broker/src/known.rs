//! Known ids: which messages came before, so that a repeat is one message.
//!
//! Exact within the horizon: a time, a number for each sender and a number for all together, whichever is reached
//! first. What is kept of an id is its fingerprint, that of the document, and the message that it became.

use std::collections::BTreeMap;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use message::MessageId;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::codec::{DecodeError, Reader, Writer};
use crate::ring::Ring;
use crate::{AgentKey, Fingerprint, Retention, Time};

/// What keys are made of, so that an id is never taken for a document.
const OF_AN_ID: u64 = 1;
const OF_A_DOCUMENT: u64 = 2;

#[derive(Default)]
pub(crate) struct Known {
    ids: Ring<Option<Id>>,
    /// By the low half of the number in `ids`; there are never that many.
    by_key: HashTable<u32>,
    senders: BTreeMap<AgentKey, Sender>,
    count: u64,
}

/// An id that is known.
pub(crate) struct Id {
    key: Fingerprint,
    pub(crate) document: Fingerprint,
    pub(crate) message: MessageId,
    sender: AgentKey,
    /// How much later the same sender's next id came.
    after: u32,
}

/// A sender's ids: the oldest and the newest number, and how many.
struct Sender {
    oldest: u64,
    newest: u64,
    count: u64,
}

impl Known {
    /// Makes the key of a sender's own id.
    pub(crate) fn native_key(sender: AgentKey, native_id: &str) -> Fingerprint {
        key(sender, xxh3_128_with_seed(native_id.as_bytes(), OF_AN_ID))
    }

    /// Makes the key of a document without an id.
    pub(crate) fn content_key(sender: AgentKey, document: Fingerprint) -> Fingerprint {
        key(sender, xxh3_128_with_seed(&document.0, OF_A_DOCUMENT))
    }

    pub(crate) fn len(&self) -> u64 {
        self.count
    }

    pub(crate) fn find(&self, key: Fingerprint) -> Option<&Id> {
        let number = self.by_key.find(key.hash(), |number| self.is_key(*number, key))?;
        self.at(*number)
    }

    /// Remembers an id, and forgets what the horizon has passed.
    pub(crate) fn note(
        &mut self,
        sender: AgentKey,
        key: Fingerprint,
        document: Fingerprint,
        message: MessageId,
        retention: &Retention,
    ) {
        let now = accepted(message);
        while self.ids.front().is_some_and(|id| match id {
            Some(id) => now.ms_since(accepted(id.message)) > retention.known_ms,
            None => true,
        }) {
            self.forget_first();
        }
        while self.count >= retention.known_max.max(1) {
            self.forget_first();
        }
        let limit = retention.known_per_sender_max.max(1);
        while self.senders.get(&sender).is_some_and(|sender| sender.count >= limit) {
            self.forget_oldest_of(sender);
        }
        self.push(Id { key, document, message, sender, after: 0 });
    }

    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.number(self.count);
        for id in self.ids.iter().filter_map(|(_, id)| id.as_ref()) {
            writer.fingerprint(id.key);
            writer.fingerprint(id.document);
            writer.message_id(id.message);
            writer.number(id.sender.0.into());
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut known = Known::default();
        let count = reader.count()?;
        known.by_key.reserve(count, |_| 0);
        for _ in 0..count {
            let key = reader.fingerprint()?;
            let document = reader.fingerprint()?;
            let message = reader.message_id()?;
            let sender = AgentKey(reader.short()?);
            known.push(Id { key, document, message, sender, after: 0 });
        }
        Ok(known)
    }

    fn push(&mut self, id: Id) {
        let (key, sender) = (id.key, id.sender);
        self.index(key, self.ids.end());
        let number = self.ids.push(Some(id));
        self.count += 1;
        let of_sender =
            self.senders.entry(sender).or_insert(Sender { oldest: number, newest: number, count: 0 });
        let newest = std::mem::replace(&mut of_sender.newest, number);
        of_sender.count += 1;
        if newest != number
            && let Some(Some(before)) = self.ids.get_mut(newest)
        {
            before.after = (number - newest) as u32;
        }
    }

    fn index(&mut self, key: Fingerprint, number: u64) {
        let ids = &self.ids;
        let key_at = |number: u32| ids.get(whole(ids, number)).and_then(Option::as_ref).map(|id| id.key);
        let is_known = |known: &u32| key_at(*known) == Some(key);
        let hash = |known: &u32| key_at(*known).map_or(0, Fingerprint::hash);
        match self.by_key.entry(key.hash(), is_known, hash) {
            // A document without an id that came again after its window: the newer one counts, the older one goes
            // in its turn.
            Entry::Occupied(mut known) => *known.get_mut() = number as u32,
            Entry::Vacant(vacant) => {
                vacant.insert(number as u32);
            }
        }
    }

    fn forget_first(&mut self) {
        let number = self.ids.start();
        match self.ids.front() {
            Some(Some(id)) => {
                let sender = id.sender;
                debug_assert_eq!(self.senders.get(&sender).map(|sender| sender.oldest), Some(number));
                self.forget_oldest_of(sender);
            }
            Some(None) => {}
            None => return,
        }
        if self.ids.start() == number {
            self.ids.pop();
        }
    }

    fn forget_oldest_of(&mut self, sender: AgentKey) {
        let Some(of_sender) = self.senders.get(&sender) else { return };
        self.forget(of_sender.oldest);
    }

    /// Forgets the oldest id of its sender; a hole is left if other senders have older ones.
    fn forget(&mut self, number: u64) {
        let Some(Some(id)) = self.ids.get(number) else { return };
        let (key, sender, after) = (id.key, id.sender, u64::from(id.after));
        if let Ok(found) = self.by_key.find_entry(key.hash(), |found| *found == number as u32) {
            found.remove();
        }
        let Some(of_sender) = self.senders.get_mut(&sender) else { return };
        of_sender.count -= 1;
        if of_sender.count == 0 {
            self.senders.remove(&sender);
        } else {
            of_sender.oldest = number + after;
        }
        if let Some(id) = self.ids.get_mut(number) {
            *id = None;
            self.count -= 1;
        }
        while self.ids.front().is_some_and(Option::is_none) {
            self.ids.pop();
        }
    }

    fn is_key(&self, number: u32, key: Fingerprint) -> bool {
        self.at(number).is_some_and(|id| id.key == key)
    }

    fn at(&self, number: u32) -> Option<&Id> {
        self.ids.get(whole(&self.ids, number)).and_then(Option::as_ref)
    }
}

/// Puts a key together. The sender stands in it as it is, so whoever finds two ids that hash alike deceives nobody but
/// itself, and the hash need not withstand that.
fn key(sender: AgentKey, hash: u128) -> Fingerprint {
    let mut bytes = hash.to_le_bytes();
    bytes[12..].copy_from_slice(&sender.0.to_le_bytes());
    Fingerprint(bytes)
}

/// Returns when a message was accepted: its id says so.
pub(crate) fn accepted(message: MessageId) -> Time {
    Time(message.unix_millis().unwrap_or(0))
}

/// Returns the whole number of which the low half is known.
fn whole<T>(ids: &Ring<T>, number: u32) -> u64 {
    ids.start() + u64::from(number.wrapping_sub(ids.start() as u32))
}
