//! Deciding commits: is everything as whoever writes believes, and is there room.

use std::collections::BTreeSet;

use message::{MessageId, Seq};

use super::{COLLECTION_BYTES_MAX, KEY_BYTES_MAX, Record, RecordName};
use crate::broker::{Broker, Decided, Decision};
use crate::{Commit, Digest, Document, Event, RecordChange, RecordSet, RecordWrite, Refusal, Swap};

impl Broker {
    /// Tells why a commit would be refused, if it would.
    pub fn check_commit(&self, commit: &Commit) -> Result<(), Refusal> {
        self.agent_at(commit.repo)?;
        let repo = self.records.repos.get(&commit.repo);
        let last = repo.map(|repo| repo.commit);
        if commit.swap.is_some_and(|swap| Some(swap) != last) || commit.tick <= self.records.tick {
            return Err(Refusal::Swapped { found: last });
        }
        let mut names = BTreeSet::new();
        let mut added = 0_u64;
        for write in &commit.writes {
            if !names.insert((&write.collection, &write.key)) {
                return Err(Refusal::RecordTwice { name: format!("{}/{}", write.collection, write.key) });
            }
            let found =
                repo.and_then(|repo| repo.get(&write.collection, &write.key)).map(|record| record.cid);
            self.check_write(write, found)?;
            added += u64::from(found.is_none() && matches!(write.change, RecordChange::Set { .. }));
        }
        let (count, count_max) = (self.records.count, self.settings.limits.records_max);
        if added > 0 && count + added > count_max {
            return Err(Refusal::TooMany { what: "records", count, count_max });
        }
        Ok(())
    }

    fn check_write(&self, write: &RecordWrite, found: Option<Digest>) -> Result<(), Refusal> {
        for (what, text, bytes_max) in
            [("collection", &write.collection, COLLECTION_BYTES_MAX), ("rkey", &write.key, KEY_BYTES_MAX)]
        {
            let bytes = text.len();
            if bytes > bytes_max {
                return Err(Refusal::TooLong { what, bytes, bytes_max });
            }
        }
        match (write.swap, found) {
            (Swap::Anything, _) | (Swap::Nothing, None) | (Swap::Something, Some(_)) => {}
            (Swap::Nothing, Some(_)) => return Err(Refusal::RecordExists),
            (Swap::Something, None) => return Err(Refusal::UnknownRecord),
            (Swap::Is(cid), found) if found == cid => {}
            (Swap::Is(_), found) => return Err(Refusal::Swapped { found }),
        }
        if let RecordChange::Set { document: Document::Here(body), .. } = &write.change {
            let (bytes, bytes_max) = (body.len() as u64, self.settings.limits.body_bytes_max);
            if bytes > bytes_max.min(u32::MAX.into()) {
                return Err(Refusal::TooLarge { bytes, bytes_max });
            }
        }
        Ok(())
    }

    pub(crate) fn commit_records<'a>(&self, commit: &'a Commit) -> Decided<'a> {
        self.check_commit(commit)?;
        let rev = commit.tick.saturating_add((commit.writes.len() as u64).saturating_sub(1));
        let mut events = Vec::with_capacity(commit.writes.len());
        for (tick, write) in (commit.tick..).zip(&commit.writes) {
            events.extend(self.written(commit, write, (tick, rev))?);
        }
        Ok(Decision::done(events))
    }

    /// Returns the event of one write; none where there is nothing to be removed.
    fn written<'a>(
        &self,
        commit: &'a Commit,
        write: &'a RecordWrite,
        (tick, rev): (u64, u64),
    ) -> Result<Option<Event<'a>>, Refusal> {
        let (repo, digest) = (commit.repo, commit.commit);
        let (collection, key) = (&*write.collection, &*write.key);
        let found = self.records.repos.get(&repo).and_then(|repo| repo.get(collection, key));
        match &write.change {
            RecordChange::Remove => Ok(found.map(|record| Event::RecordRemoved {
                repo,
                collection,
                key,
                tick,
                rev,
                commit: digest,
                body: record.body,
            })),
            RecordChange::Set { cid, document, message, blobs } => {
                let (place, bytes, body) = match document {
                    Document::Here(body) => (None, body.len(), &**body),
                    Document::OfMessage(id) => {
                        let (place, bytes) = self.body_of(*id)?;
                        (Some(place), bytes as usize, &b""[..])
                    }
                };
                Ok(Some(Event::RecordSet(Box::new(RecordSet {
                    repo,
                    collection,
                    key,
                    cid: *cid,
                    tick,
                    rev,
                    commit: digest,
                    is_new: found.is_none(),
                    message: *message,
                    blobs: blobs.clone(),
                    place,
                    bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
                    body,
                }))))
            }
        }
    }

    /// Returns where the document of an open message lies; that of another may be given up already.
    fn body_of(&self, id: MessageId) -> Result<(Seq, u32), Refusal> {
        let message = self.find(id).and_then(|key| self.message(key)).ok_or(Refusal::UnknownMessage)?;
        if message.open == 0 {
            return Err(Refusal::Settled);
        }
        Ok((message.body, message.bytes))
    }

    pub(crate) fn carry_record<'a>(&self, name: &'a RecordName, place: Seq, body: &'a [u8]) -> Decided<'a> {
        let RecordName { repo, collection, key } = name;
        let record = self.records.repos.get(repo).and_then(|repo| repo.get(collection, key));
        let is_it = |record: &&Record| record.body == place && record.bytes as usize == body.len();
        let tick = record.filter(is_it).ok_or(Refusal::UnknownRecord)?.tick;
        let repo = *repo;
        Ok(Decision::done(vec![Event::RecordCarried { repo, collection, key, tick, body }]))
    }
}
