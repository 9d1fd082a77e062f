//! Checking the records of a commit: is everything as whoever writes believes, and is there room.

use std::collections::BTreeSet;

use super::commit::{Plan, Planned};
use super::{COLLECTION_BYTES_MAX, KEY_BYTES_MAX};
use crate::broker::Broker;
use crate::{Digest, RecordChange, Refusal, Swap};

impl Broker {
    /// Refuses a commit whose records cannot be written.
    pub(super) fn check_records(&self, plan: &Plan<'_>) -> Result<(), Refusal> {
        let repo = self.records.repos.get(&plan.commit.repo);
        let last = repo.map(|repo| repo.commit);
        if plan.commit.swap.is_some_and(|swap| Some(swap) != last) {
            return Err(Refusal::Swapped { found: last });
        }
        let mut names = BTreeSet::new();
        let mut added = 0_u64;
        for planned in &plan.writes {
            let (collection, key) = (&*planned.write.collection, &*planned.key);
            if !names.insert((collection, key)) {
                return Err(Refusal::RecordTwice { name: format!("{collection}/{key}") });
            }
            let found = repo.and_then(|repo| repo.get(collection, key)).map(|record| record.cid);
            self.check_write(planned, found)?;
            let is_set = matches!(planned.write.change, RecordChange::Set { .. });
            added += u64::from(found.is_none() && is_set);
        }
        let (count, count_max) = (self.records.count, self.settings.limits.records_max);
        if added > 0 && count + added > count_max {
            return Err(Refusal::TooMany { what: "records", count, count_max });
        }
        Ok(())
    }

    fn check_write(&self, planned: &Planned<'_>, found: Option<Digest>) -> Result<(), Refusal> {
        let (collection, key) = (&*planned.write.collection, &*planned.key);
        let texts = [("collection", collection, COLLECTION_BYTES_MAX), ("rkey", key, KEY_BYTES_MAX)];
        for (what, text, bytes_max) in texts {
            let bytes = text.len();
            if bytes == 0 {
                return Err(Refusal::BadEntity { what: "a record needs a collection and a key" });
            }
            if bytes > bytes_max {
                return Err(Refusal::TooLong { what, bytes, bytes_max });
            }
        }
        match (planned.write.swap, found) {
            (Swap::Anything, _) | (Swap::Nothing, None) | (Swap::Something, Some(_)) => {}
            (Swap::Nothing, Some(_)) => return Err(Refusal::RecordExists),
            (Swap::Something, None) => return Err(Refusal::UnknownRecord),
            (Swap::Is(cid), found) if found == cid => {}
            (Swap::Is(_), found) => return Err(Refusal::Swapped { found }),
        }
        if let RecordChange::Set { document, .. } = &planned.write.change {
            let (bytes, bytes_max) = (document.len() as u64, self.settings.limits.body_bytes_max);
            if bytes > bytes_max.min(u32::MAX.into()) {
                return Err(Refusal::TooLarge { bytes, bytes_max });
            }
        }
        Ok(())
    }
}
