//! Candidates: the places of messages that may be wanted, in order, a batch at a time.

use std::collections::VecDeque;

use message::Seq;
use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::Check;
use crate::error::HistoryError;
use crate::letter::Who;
use crate::query::{Query, Scope};
use crate::search::Plan;
use crate::store::{Store, number, sql};

/// How many places are fetched at a time; the first batch is small, because most pages are.
const BATCH_MIN: usize = 64;
const BATCH_MAX: usize = 4_096;

/// Where the candidates come from. Each has them in order without sorting.
pub(super) enum Driver {
    /// The index of words, and what is not in it yet.
    Words(String),
    Thread(String),
    Task(String),
    /// What one of these has to do with.
    Participants(Vec<i64>),
    /// All messages, or all of a kind.
    All(Option<i64>),
}

/// The places, in the order of the page.
pub(super) struct Candidates {
    driver: Driver,
    indexed: Seq,
    /// Between these, both excluded.
    low: i64,
    high: i64,
    is_forward: bool,
    batch: VecDeque<Seq>,
    batch_size: usize,
    is_end: bool,
    /// Messages that are behind the tables.
    news: Vec<Seq>,
}

impl Driver {
    /// Chooses what finds the fewest.
    pub(super) fn choose(check: &Check, plan: Option<&Plan>) -> Self {
        if let Some(find) = plan.and_then(|plan| plan.find.as_ref()) {
            return Driver::Words(find.clone());
        }
        match (&check.thread, &check.task, check.channel.or(check.agent), check.scope) {
            (Some(thread), ..) => Driver::Thread(thread.clone()),
            (None, Some(task), ..) => Driver::Task(task.clone()),
            (None, None, Some(who), _) => Driver::Participants(vec![who.code()]),
            (None, None, None, Scope::Agent(agent)) => {
                Driver::Participants(vec![Who::Agent(agent).code(), Who::Everybody.code()])
            }
            (None, None, None, Scope::Everything) => Driver::All(check.kind.map(|kind| kind as i64)),
        }
    }
}

impl Candidates {
    pub(super) fn new(driver: Driver, indexed: Seq, query: &Query, news: Vec<Seq>) -> Self {
        Candidates {
            driver,
            indexed,
            low: query.after.map_or(0, |after| sql(after.0)),
            high: query.before.map_or(i64::MAX, |before| sql(before.0)),
            is_forward: query.after.is_some(),
            batch: VecDeque::new(),
            batch_size: BATCH_MIN.max(query.limit.saturating_add(1)).min(BATCH_MAX),
            is_end: false,
            news,
        }
    }

    /// Returns the next place.
    pub(super) fn next(&mut self, store: &Store) -> Result<Option<Seq>, HistoryError> {
        if self.batch.is_empty() && !self.is_end {
            self.fill(store)?;
        }
        let next = self.batch.pop_front();
        if let Some(seq) = next {
            *(if self.is_forward { &mut self.low } else { &mut self.high }) = sql(seq.0);
        }
        Ok(next)
    }

    fn fill(&mut self, store: &Store) -> Result<(), HistoryError> {
        let mut found: Vec<Seq> = Vec::new();
        let mut is_more = false;
        for (text, values) in self.statements() {
            let before = found.len();
            let mut statement = store.connection.prepare_cached(&text)?;
            let mut rows = statement.query(params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                found.push(Seq(number(row.get(0)?)));
            }
            is_more |= found.len() - before == self.batch_size;
        }
        let within = |seq: &&Seq| sql(seq.0) > self.low && sql(seq.0) < self.high;
        found.extend(self.news.iter().filter(within));
        found.sort_unstable();
        found.dedup();
        if !self.is_forward {
            found.reverse();
        }
        // Each source gave its first ones; only the first of all of them are surely in order.
        if is_more {
            found.truncate(self.batch_size);
        }
        self.is_end = !is_more;
        self.batch = found.into();
        self.batch_size = (self.batch_size * 4).min(BATCH_MAX);
        Ok(())
    }

    /// Returns the statements that find places, each with its values.
    fn statements(&self) -> Vec<(String, Vec<Value>)> {
        let order = if self.is_forward { "ASC" } else { "DESC" };
        let bounds =
            |column: &str| format!("{column} > ?1 AND {column} < ?2 ORDER BY {column} {order} LIMIT ?3");
        let limit = i64::try_from(self.batch_size).unwrap_or(i64::MAX);
        let values = |low: i64, more: Option<Value>| {
            let mut values = vec![Value::from(low), Value::from(self.high), Value::from(limit)];
            values.extend(more);
            values
        };
        let messages =
            |condition: &str| format!("SELECT seq FROM messages WHERE {condition}{}", bounds("seq"));
        match &self.driver {
            Driver::Words(words) => {
                let indexed = sql(self.indexed.0);
                let in_index =
                    format!("SELECT rowid FROM texts WHERE texts MATCH ?4 AND {}", bounds("rowid"));
                // Few are; without being told so, the database would look through all messages.
                let amended = format!(
                    "SELECT seq FROM messages INDEXED BY message_amended WHERE amended > ?4 AND {}",
                    bounds("seq")
                );
                vec![
                    (in_index, values(self.low, Some(words.clone().into()))),
                    (messages(""), values(self.low.max(indexed), None)),
                    (amended, values(self.low, Some(indexed.into()))),
                ]
            }
            Driver::Thread(thread) => {
                vec![(messages("thread = ?4 AND "), values(self.low, Some(thread.clone().into())))]
            }
            Driver::Task(task) => {
                vec![(messages("task = ?4 AND "), values(self.low, Some(task.clone().into())))]
            }
            Driver::Participants(all) => {
                let text =
                    format!("SELECT message FROM participants WHERE who = ?4 AND {}", bounds("message"));
                all.iter().map(|who| (text.clone(), values(self.low, Some((*who).into())))).collect()
            }
            Driver::All(None) => vec![(messages(""), values(self.low, None))],
            Driver::All(Some(kind)) => {
                vec![(messages("kind = ?4 AND "), values(self.low, Some((*kind).into())))]
            }
        }
    }
}

impl Store {
    /// Tells whether the index has words for a message.
    pub(super) fn has_words(&self, seq: Seq, words: &str) -> Result<bool, HistoryError> {
        let text = "SELECT 1 FROM texts WHERE texts MATCH ?1 AND rowid = ?2";
        Ok(self.one::<i64>(text, (words, sql(seq.0)))?.is_some())
    }
}
