//! Carrying the document of a record to the end of the log.

use message::Seq;

use super::{Record, RecordName};
use crate::broker::{Broker, Decided, Decision};
use crate::{Event, Refusal};

impl Broker {
    pub(crate) fn carry_record<'a>(&self, name: &'a RecordName, place: Seq, body: &'a [u8]) -> Decided<'a> {
        let RecordName { repo, collection, key } = name;
        let record = self.records.repos.get(repo).and_then(|repo| repo.get(collection, key));
        let is_it = |record: &&Record| record.body == place && record.bytes as usize == body.len();
        let tick = record.filter(is_it).ok_or(Refusal::UnknownRecord)?.tick;
        let repo = *repo;
        Ok(Decision::done(vec![Event::RecordCarried { repo, collection, key, tick, body }]))
    }
}
