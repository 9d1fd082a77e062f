//! Repositories: the records that agents keep under names of their own, and in which order they were written.
//!
//! The state holds what a record is called, what it is known by and where its document lies in the log; a record
//! that is a message lies where the message does. Writes that belong together are one commit. Each write has a tick:
//! microseconds that only ever grow, whoever writes, so that a reader can go on behind any of them.

mod carry;
mod check;
mod commit;
mod fold;
mod head;
mod look;
mod messages;

use std::collections::{BTreeMap, BTreeSet};

use message::{MessageId, Seq};

use crate::broker::Broker;
use crate::{AgentKey, Digest, Time};

pub use head::tid_of;
pub use look::{RecordName, RecordView, RepoView, WrittenRecord};

/// Bytes of the name of a collection.
pub(crate) const COLLECTION_BYTES_MAX: usize = 317;
/// Bytes of the key of a record.
pub(crate) const KEY_BYTES_MAX: usize = 512;
/// Microseconds of a tick at most; what names a tick in a text has no room for more.
const TICK_MAX: u64 = (1 << 53) - 1;

/// All repositories.
#[derive(Default)]
pub(crate) struct Records {
    /// The last tick that was given to a write.
    pub(crate) tick: u64,
    /// How many records there are.
    pub(crate) count: u64,
    pub(crate) repos: BTreeMap<AgentKey, Repo>,
}

/// Records of one repository, by collection and key.
type Names = BTreeSet<(Box<str>, Box<str>)>;

/// What one agent keeps.
#[derive(Default)]
pub(crate) struct Repo {
    /// The tick of its last write.
    pub(crate) rev: u64,
    /// What its last commit is known by.
    pub(crate) commit: Digest,
    /// Records by collection and key; no collection is empty.
    pub(crate) collections: BTreeMap<Box<str>, BTreeMap<Box<str>, Record>>,
    /// Which records refer to a blob.
    pub(crate) blobs: BTreeMap<Digest, Names>,
}

/// A record. Its document is in the log.
pub(crate) struct Record {
    pub(crate) cid: Digest,
    /// When it was written last.
    pub(crate) tick: u64,
    /// Where its document lies.
    pub(crate) body: Seq,
    pub(crate) bytes: u32,
    /// The message that was sent by writing it.
    pub(crate) message: Option<MessageId>,
    /// The blobs to which it refers.
    pub(crate) blobs: Box<[Digest]>,
}

impl Repo {
    pub(crate) fn get(&self, collection: &str, key: &str) -> Option<&Record> {
        self.collections.get(collection)?.get(key)
    }

    /// Stores a record, and notes the blobs to which it refers.
    pub(crate) fn put(&mut self, collection: &str, key: &str, record: Record) {
        self.take(collection, key);
        for blob in &record.blobs {
            self.blobs.entry(*blob).or_default().insert((collection.into(), key.into()));
        }
        if !self.collections.contains_key(collection) {
            self.collections.insert(collection.into(), BTreeMap::new());
        }
        if let Some(records) = self.collections.get_mut(collection) {
            records.insert(key.into(), record);
        }
    }

    /// Takes a record away, and with it that blobs are referred to by it.
    pub(crate) fn take(&mut self, collection: &str, key: &str) -> Option<Record> {
        let records = self.collections.get_mut(collection)?;
        let record = records.remove(key)?;
        if records.is_empty() {
            self.collections.remove(collection);
        }
        for blob in &record.blobs {
            if let Some(referring) = self.blobs.get_mut(blob) {
                referring.remove(&(collection.into(), key.into()));
                if referring.is_empty() {
                    self.blobs.remove(blob);
                }
            }
        }
        Some(record)
    }
}

impl Broker {
    /// Returns the tick that the next write may have.
    pub(crate) fn next_tick(&self, now: Time) -> u64 {
        now.0.saturating_mul(1_000).min(TICK_MAX).max(self.records.tick.saturating_add(1))
    }
}
