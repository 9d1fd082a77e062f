//! What was written before the log begins: the records that are still there, from the state.
//!
//! A subscriber whose cursor is older than a trimmed log gets them as they are now, in the order in which they were
//! written last, and then the log. Of a record that was removed there is nothing left to tell.

use std::collections::BTreeMap;

use broker::query::records::{LastTick, WrittenRecords};
use broker::{RecordName, WrittenRecord};
use gateway::Problem;
use message::Seq;

use super::frames::{self, tick_of};
use super::places;
use super::wishes::Wishes;
use crate::visitor::Visitor;

/// Records that are written out at a time, in order; for each time all are looked at.
const RECORDS_MAX: usize = 16_384;
/// Records whose documents are read at a time.
const READ_MAX: usize = 256;
/// Records that are looked at in one turn.
const LOOKED_MAX: u32 = 16_384;

/// Records that are to be written out, by the ticks of their writes.
pub(super) struct Kept {
    /// Behind which tick to go on.
    after: u64,
    /// The tick of the first write that the log has.
    before: u64,
    found: BTreeMap<u64, WrittenRecord>,
    /// Whether all were found.
    is_whole: bool,
}

impl Kept {
    /// Finds out what a subscriber misses that begins behind a place of the log; moves the place to where the log has
    /// the first write. There is nothing to miss if the log is whole from the cursor on.
    pub(super) async fn behind(
        visitor: &Visitor,
        cursor: Option<u64>,
        place: &mut Seq,
    ) -> Result<Option<Kept>, Problem> {
        let first = visitor.hub.node().log_first();
        let Some(after) = cursor.filter(|_| first > Seq(1) && place.0 < first.0) else { return Ok(None) };
        // What is written from now on is in the log.
        let last = visitor.hub.query(LastTick).await?;
        let mut before = last.saturating_add(1);
        while let Some(piece) = places::read(&visitor.hub, *place).await {
            if let Some(tick) = piece.events.iter().find_map(|event| tick_of(event)) {
                before = tick;
                break;
            }
            *place = piece.upto;
            if !piece.is_behind {
                break;
            }
        }
        Ok(Some(Kept { after, before, found: BTreeMap::new(), is_whole: false }))
    }

    /// Returns the next frames; nothing when there are no more.
    pub(super) async fn next(
        &mut self,
        visitor: &Visitor,
        wishes: &Wishes,
    ) -> Result<Option<Vec<String>>, Problem> {
        if self.found.is_empty() {
            if self.is_whole || self.after >= self.before {
                return Ok(None);
            }
            self.find(visitor).await?;
        }
        let mut records = Vec::new();
        while records.len() < READ_MAX
            && let Some((_, record)) = self.found.pop_first()
        {
            records.push(record);
        }
        let (frames, count) = frames::write_kept(visitor, wishes, &records).await;
        let left = records.split_off(count);
        self.found.extend(left.into_iter().map(|record| (record.tick, record)));
        self.after = records.last().map_or(self.after, |record| record.tick);
        Ok(Some(frames))
    }

    /// Looks through all records for those that were written next, a part in each turn.
    async fn find(&mut self, visitor: &Visitor) -> Result<(), Problem> {
        let mut from: Option<RecordName> = None;
        self.is_whole = true;
        loop {
            let ticks = (self.after + 1)..self.before_found();
            let page = WrittenRecords { ticks, after: from.take(), records_max: LOOKED_MAX };
            let (records, next) = visitor.hub.query(page).await?;
            self.found.extend(records.into_iter().map(|record| (record.tick, record)));
            while self.found.len() > RECORDS_MAX {
                self.found.pop_last();
                self.is_whole = false;
            }
            match next {
                Some(next) => from = Some(next),
                None => return Ok(()),
            }
        }
    }

    /// Returns the tick behind which nothing is wanted this time.
    fn before_found(&self) -> u64 {
        match self.found.last_key_value() {
            Some((tick, _)) if self.found.len() >= RECORDS_MAX => *tick,
            Some(_) | None => self.before,
        }
    }
}
