//! Looking at repositories without changing them.

use std::ops::Bound;

use message::{MessageId, Seq};

use super::Record;
use crate::broker::Broker;
use crate::{AgentKey, Digest};

/// A record as it can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordView<'b> {
    /// Its key.
    pub key: &'b str,
    /// What it is known by.
    pub cid: Digest,
    /// When it was written last.
    pub tick: u64,
    /// Where its document lies.
    pub body: Seq,
    /// The message that was sent by writing it.
    pub message: Option<MessageId>,
    /// The blobs to which it refers.
    pub blobs: &'b [Digest],
}

/// A repository as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepoView {
    /// The tick of its last write.
    pub rev: u64,
    /// What its last commit is known by.
    pub commit: Digest,
}

/// Which record, and where its document lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// Whose it is.
    pub repo: AgentKey,
    /// Its collection.
    pub collection: Box<str>,
    /// Its key.
    pub key: Box<str>,
    /// Where its document lies.
    pub body: Seq,
}

impl Broker {
    /// Returns a repository, if anything was ever written to it.
    pub fn repo(&self, repo: AgentKey) -> Option<RepoView> {
        let found = self.records.repos.get(&repo)?;
        Some(RepoView { rev: found.rev, commit: found.commit })
    }

    /// Tells whether a record may lie where a message does: as long as that is not over.
    pub fn can_share(&self, message: MessageId) -> bool {
        self.find(message).and_then(|key| self.message(key)).is_some_and(|message| message.open > 0)
    }

    /// Returns how many records there are.
    pub fn record_count(&self) -> u64 {
        self.records.count
    }

    /// Returns a record.
    pub fn record<'b>(&'b self, repo: AgentKey, collection: &str, key: &'b str) -> Option<RecordView<'b>> {
        let record = self.records.repos.get(&repo)?.get(collection, key)?;
        Some(view(key, record))
    }

    /// Returns the records of a collection in the order of their keys, between two of them, which are left out.
    pub fn records<'b>(
        &'b self,
        repo: AgentKey,
        collection: &str,
        after: Option<&str>,
        before: Option<&str>,
    ) -> impl DoubleEndedIterator<Item = RecordView<'b>> + use<'b> {
        let records = self.records.repos.get(&repo).and_then(|repo| repo.collections.get(collection));
        let bound = |key: Option<&str>| key.map_or(Bound::Unbounded, |key| Bound::Excluded(Box::from(key)));
        // A map does not take bounds that are the wrong way round.
        let is_empty = matches!((after, before), (Some(after), Some(before)) if after >= before);
        let range: (Bound<Box<str>>, Bound<Box<str>>) = (bound(after), bound(before));
        let found = records.filter(|_| !is_empty).map(|records| records.range(range));
        found.into_iter().flatten().map(|(key, record)| view(key, record))
    }

    /// Returns the names of the collections in which somebody has records.
    pub fn collections(&self, repo: AgentKey) -> impl Iterator<Item = &str> {
        let repo = self.records.repos.get(&repo);
        repo.into_iter().flat_map(|repo| repo.collections.keys()).map(|name| &**name)
    }

    /// Returns the records that refer to a blob, by collection and key.
    pub fn referring(&self, repo: AgentKey, blob: Digest) -> impl Iterator<Item = (&str, &str)> {
        let found = self.records.repos.get(&repo).and_then(|repo| repo.blobs.get(&blob));
        found.into_iter().flatten().map(|(collection, key)| (&**collection, &**key))
    }

    /// Returns records whose documents lie before a place of the log, from behind one of them on, at most so many.
    /// What such a place is trimmed with must be carried first; see [`crate::Command::CarryRecord`].
    pub fn records_before(&self, seq: Seq, after: Option<&RecordPlace>, limit: usize) -> Vec<RecordPlace> {
        let from = after.map_or(AgentKey(0), |place| place.repo);
        let is_behind = |repo: AgentKey, collection: &str, key: &str| {
            after.is_none_or(|place| (repo, collection, key) > (place.repo, &*place.collection, &*place.key))
        };
        let mut found = Vec::new();
        for (repo, contents) in self.records.repos.range(from..) {
            let first = after.filter(|place| place.repo == *repo).map(|place| &place.collection);
            let start = first.map_or(Bound::Unbounded, Bound::Included);
            for (collection, records) in contents.collections.range::<Box<str>, _>((start, Bound::Unbounded))
            {
                for (key, record) in records {
                    if record.body < seq && is_behind(*repo, collection, key) {
                        let (collection, key) = (collection.clone(), key.clone());
                        found.push(RecordPlace { repo: *repo, collection, key, body: record.body });
                        if found.len() >= limit {
                            return found;
                        }
                    }
                }
            }
        }
        found
    }
}

fn view<'b>(key: &'b str, record: &'b Record) -> RecordView<'b> {
    let Record { cid, tick, body, message, ref blobs, .. } = *record;
    RecordView { key, cid, tick, body, message, blobs }
}
