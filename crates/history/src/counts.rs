//! Counts of what there was, kept while it is written.

use message::{Kind, Stage, Timestamp};

use crate::error::HistoryError;
use crate::store::{Store, number, word};

/// What there was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages.
    pub messages: u64,
    /// Messages of each kind of which there was one.
    pub kinds: Vec<(Kind, u64)>,
    /// Recipients with whom messages have come so far; what moved to somebody else counts there.
    pub stages: Vec<(Stage, u64)>,
    /// When the first message was accepted.
    pub first: Option<Timestamp>,
    /// When the last one was.
    pub last: Option<Timestamp>,
}

impl Counts {
    pub(crate) fn read(store: &Store) -> Result<Self, HistoryError> {
        let mut counts = Counts::default();
        store.each("SELECT code, n FROM counts WHERE what = 'kind' AND n > 0 ORDER BY code", |row| {
            counts.kinds.push((word(row, 0, Kind::ALL)?, number(row.get(1)?)));
            Ok(())
        })?;
        store.each("SELECT code, n FROM counts WHERE what = 'stage' AND n > 0 ORDER BY code", |row| {
            counts.stages.push((word(row, 0, Stage::ALL)?, number(row.get(1)?)));
            Ok(())
        })?;
        counts.messages = counts.kinds.iter().map(|(_, count)| count).sum();
        let time = |text| -> Result<Option<Timestamp>, HistoryError> {
            let ms: Option<i64> = store.one(text, [])?;
            Ok(ms.map(|ms| broker::Time(number(ms)).timestamp()))
        };
        counts.first = time("SELECT at FROM messages ORDER BY seq LIMIT 1")?;
        counts.last = time("SELECT at FROM messages ORDER BY seq DESC LIMIT 1")?;
        Ok(counts)
    }
}
