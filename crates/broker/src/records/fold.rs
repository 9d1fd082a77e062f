//! What a write changes in the state.

use message::Seq;

use super::{COLLECTION_BYTES_MAX, KEY_BYTES_MAX, Record, Repo};
use crate::broker::{Applied, Broker};
use crate::{AgentKey, Digest, Misfit, RecordSet};

impl Broker {
    pub(crate) fn record_set(&mut self, set: &RecordSet<'_>) -> Applied {
        let seq = self.last;
        let misfit = Misfit::State { seq, what: "a record" };
        let is_named = !set.collection.is_empty() && !set.key.is_empty();
        let is_short = set.collection.len() <= COLLECTION_BYTES_MAX && set.key.len() <= KEY_BYTES_MAX;
        let is_before = set.place.is_none_or(|place| place < seq && set.body.is_empty());
        let fits_here = set.place.is_some() || set.body.len() == set.bytes as usize;
        if !is_named || !is_short || !is_before || !fits_here || self.agents.get(set.repo).is_none() {
            return Err(misfit);
        }
        let found = self.records.repos.get(&set.repo).and_then(|repo| repo.get(set.collection, set.key));
        if found.is_none() != set.is_new {
            return Err(misfit);
        }
        self.note_tick(set.tick, set.rev)?;
        self.records.count += u64::from(set.is_new);
        let repo = self.records.repos.entry(set.repo).or_default();
        (repo.rev, repo.commit) = (set.rev, set.commit);
        let mut blobs = set.blobs.clone();
        blobs.sort_unstable();
        blobs.dedup();
        let record = Record {
            cid: set.cid,
            tick: set.tick,
            body: set.place.unwrap_or(seq),
            bytes: set.bytes,
            message: set.message,
            blobs: blobs.into(),
        };
        repo.put(set.collection, set.key, record);
        Ok(())
    }

    pub(crate) fn record_removed(
        &mut self,
        repo: AgentKey,
        (collection, key): (&str, &str),
        (tick, rev): (u64, u64),
        commit: Digest,
        body: Seq,
    ) -> Applied {
        let seq = self.last;
        let found = self.repo_mut(repo).and_then(|repo| repo.get(collection, key));
        if found.is_none_or(|record| record.body != body) {
            return Err(Misfit::Missing { seq, what: "a record" });
        }
        self.note_tick(tick, rev)?;
        self.records.count = self.records.count.saturating_sub(1);
        if let Some(repo) = self.repo_mut(repo) {
            repo.take(collection, key);
            (repo.rev, repo.commit) = (rev, commit);
        }
        Ok(())
    }

    pub(crate) fn record_carried(
        &mut self,
        repo: AgentKey,
        (collection, key): (&str, &str),
        tick: u64,
        body: &[u8],
    ) -> Applied {
        let seq = self.last;
        let records = self.repo_mut(repo).and_then(|repo| repo.collections.get_mut(collection));
        match records.and_then(|records| records.get_mut(key)) {
            Some(record) if record.tick == tick && record.bytes as usize == body.len() => {
                record.body = seq;
                Ok(())
            }
            Some(_) | None => Err(Misfit::State { seq, what: "a record" }),
        }
    }

    /// Notes that a write had a tick, which no other has from then on.
    fn note_tick(&mut self, tick: u64, rev: u64) -> Applied {
        if tick <= self.records.tick || rev < tick {
            return Err(Misfit::State { seq: self.last, what: "a tick" });
        }
        self.records.tick = tick;
        Ok(())
    }

    fn repo_mut(&mut self, repo: AgentKey) -> Option<&mut Repo> {
        self.records.repos.get_mut(&repo)
    }
}
