//! The tail: what is durable and not in the tables yet, folded in memory for one question, so that a writer finds what
//! it wrote.

use std::ops::ControlFlow;

use broker::Event;
use log::Entry;
use message::Seq;

use crate::error::HistoryError;
use crate::fold::Fold;
use crate::letter::{Change, Letter};
use crate::records::Records;
use crate::store::{Marks, Store};

/// Events behind the tables.
pub(super) struct Tail {
    pub(super) fold: Fold,
    /// The last of them.
    pub(super) upto: Seq,
}

impl Tail {
    /// Reads the events between the tables and a place, as many as the limit lets; nothing if there are none.
    pub(super) fn read(
        store: &Store,
        records: &Records,
        marks: &Marks,
        fresh: Seq,
        events_max: u64,
    ) -> Result<Option<Self>, HistoryError> {
        let to = fresh.min(Seq(marks.applied.0.saturating_add(events_max)));
        if to <= marks.applied {
            return Ok(None);
        }
        let mut fold = Fold::load(store, marks)?;
        let mut upto = marks.applied;
        let mut outcome = Ok(());
        let scanned = records.scan(Seq(marks.applied.0 + 1), to, &mut |entry| {
            if let Entry::Record { seq, bytes, .. } = entry {
                upto = seq;
                if let Ok((at, event)) = Event::decode(bytes) {
                    outcome = fold.apply(store, seq, at, &event);
                }
            }
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        outcome?;
        // What cannot be read stands in the way of the thread too; the answer says how far it reaches.
        drop(scanned);
        Ok(Some(Tail { fold, upto }))
    }

    /// Returns the messages about which the tables may be wrong: those that they do not have, those that somebody else
    /// has to do with since, those that say something else since.
    pub(super) fn news(&self, applied: Seq) -> Vec<Seq> {
        let is_news = |letter: &&Letter| {
            letter.change == Change::New
                || !letter.participants.is_empty()
                || letter.amended.is_some_and(|amended| amended > applied)
        };
        self.fold.letters.values().filter(is_news).map(|letter| letter.seq).collect()
    }
}
