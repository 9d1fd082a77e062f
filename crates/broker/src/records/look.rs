//! Looking at repositories without changing them.

use std::ops::{Bound, Range};

use message::{MessageId, Seq};

use super::{Record, Records};
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

/// A record by when it was written last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenRecord {
    /// Which it is.
    pub name: RecordName,
    /// When it was written.
    pub tick: u64,
    /// What it is known by.
    pub cid: Digest,
    /// Where its document lies.
    pub body: Seq,
}

/// Which record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordName {
    /// Whose it is.
    pub repo: AgentKey,
    /// Its collection.
    pub collection: Box<str>,
    /// Its key.
    pub key: Box<str>,
}

impl Broker {
    /// Returns a repository, if anything was ever written to it.
    pub fn repo(&self, repo: AgentKey) -> Option<RepoView> {
        let found = self.records.repos.get(&repo)?;
        Some(RepoView { rev: found.rev, commit: found.commit })
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

    /// Returns records that were written last at these ticks. One look passes at most so many records, behind one of
    /// them; it returns behind which to go on, or nothing when all have been seen.
    pub fn records_written(
        &self,
        ticks: Range<u64>,
        after: Option<&RecordName>,
        records_max: u32,
    ) -> (Vec<WrittenRecord>, Option<RecordName>) {
        let mut found = Vec::new();
        let next = self.records.look(after, records_max, |name, record| {
            if ticks.contains(&record.tick) {
                let Record { tick, cid, body, .. } = *record;
                found.push(WrittenRecord { name: name(), tick, cid, body });
            }
        });
        (found, next)
    }

    /// Returns the tick of the last write; 0 if there was none.
    pub fn last_tick(&self) -> u64 {
        self.records.tick
    }

    /// Returns the names of the collections in which somebody has records.
    pub fn collections(&self, repo: AgentKey) -> impl Iterator<Item = &str> {
        let repo = self.records.repos.get(&repo);
        repo.into_iter().flat_map(|repo| repo.collections.keys()).map(|name| &**name)
    }

    /// Returns the records that refer to a blob, by collection and key.
    pub fn referring(&self, repo: AgentKey, blob: Digest) -> impl Iterator<Item = (&str, &str)> {
        self.referring_behind(repo, blob, None)
    }

    /// Returns the records that refer to a blob, behind one of them.
    pub(crate) fn referring_behind(
        &self,
        repo: AgentKey,
        blob: Digest,
        after: Option<(Box<str>, Box<str>)>,
    ) -> impl Iterator<Item = (&str, &str)> {
        let found = self.records.repos.get(&repo).and_then(|repo| repo.blobs.get(&blob));
        let range = (after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded);
        let names = found.map(|names| names.range(range));
        names.into_iter().flatten().map(|(collection, key)| (&**collection, &**key))
    }
}

impl Records {
    /// Looks at so many records, behind one of them; returns behind which to go on, unless there are no more.
    pub(crate) fn look(
        &self,
        after: Option<&RecordName>,
        records_max: u32,
        mut visit: impl FnMut(&dyn Fn() -> RecordName, &Record),
    ) -> Option<RecordName> {
        let mut left = records_max.max(1);
        for (repo, collection, key, record) in self.behind(after) {
            let name = || RecordName { repo, collection: collection.into(), key: key.into() };
            visit(&name, record);
            left -= 1;
            if left == 0 {
                return Some(name());
            }
        }
        None
    }

    /// Returns all records behind one of them, or all there are, by repository, collection and key.
    fn behind(&self, after: Option<&RecordName>) -> impl Iterator<Item = (AgentKey, &str, &str, &Record)> {
        self.repos.range(after.map_or(AgentKey(0), |name| name.repo)..).flat_map(move |(repo, contents)| {
            let after = after.filter(|name| name.repo == *repo);
            let from = after.map_or(Bound::Unbounded, |name| Bound::Included(&*name.collection));
            let collections = contents.collections.range::<str, _>((from, Bound::Unbounded));
            collections.flat_map(move |(collection, records)| {
                let after = after.filter(|name| name.collection == *collection);
                let from = after.map_or(Bound::Unbounded, |name| Bound::Excluded(&*name.key));
                let records = records.range::<str, _>((from, Bound::Unbounded));
                records.map(move |(key, record)| (*repo, &**collection, &**key, record))
            })
        })
    }
}

fn view<'b>(key: &'b str, record: &'b Record) -> RecordView<'b> {
    let Record { cid, tick, body, message, ref blobs, .. } = *record;
    RecordView { key, cid, tick, body, message, blobs }
}
