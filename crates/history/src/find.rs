//! Finding messages: candidates in order, from whatever index fits best, each checked, until the page is full.
//!
//! A question looks at a limited number of candidates and reads a limited number of texts; a page that was cut short by
//! that says where to go on. What the asker may see is part of the statement that fetches a row: nothing else of a
//! message is looked at before.

mod candidates;
mod check;
mod tail;

use message::Seq;

use crate::error::HistoryError;
use crate::letter::Letter;
use crate::query::{Page, Query};
use crate::records::Records;
use crate::registry::Registry;
use crate::row::Row;
use crate::search::{Plan, Search};
use crate::settings::Settings;
use crate::store::{Marks, Store};
use candidates::{Candidates, Driver};
pub(crate) use check::{Check, body_at};
use tail::Tail;

/// Everything that looking for one page needs.
pub(crate) struct Finder<'q> {
    store: &'q Store,
    records: &'q Records,
    marks: Marks,
    tail: Option<Tail>,
    check: Check,
    search: Option<(Search, Plan)>,
    /// Names that were looked up.
    registry: Registry,
    /// Texts that may still be read.
    verify_left: usize,
}

/// Why looking ended.
enum End {
    /// There are no more candidates.
    Exhausted,
    /// The page is full and there is at least one more.
    Full,
    /// Enough was looked at; the last one was this.
    Cut(Seq),
}

/// Answers a question.
pub(crate) fn page(
    store: &Store,
    records: &Records,
    settings: &Settings,
    query: &Query,
) -> Result<Page, HistoryError> {
    let marks = store.marks()?;
    let tail = Tail::read(store, records, &marks, query.fresh, settings.tail_events_max)?;
    let upto = tail.as_ref().map_or(marks.applied, |tail| tail.upto);
    let empty = Page { rows: Vec::new(), next: None, earlier: None, upto };
    let search = query.text.as_deref().map(|text| {
        let search = Search::parse(text);
        let plan = search.plan();
        (search, plan)
    });
    if search.as_ref().is_some_and(|(search, _)| search.is_empty()) {
        return Ok(empty);
    }
    let registry = tail.as_ref().map(|tail| &tail.fold.registry);
    let Some(check) = Check::new(store, registry, query)? else { return Ok(empty) };
    let registry = registry.cloned().unwrap_or_default();
    let verify_left = settings.verify_max;
    let mut finder = Finder { store, records, marks, tail, check, search, registry, verify_left };
    let (mut rows, end) = finder.look(query, settings.examine_max)?;
    let mut page = empty;
    if query.after.is_some() {
        page.next = match end {
            End::Exhausted => None,
            End::Full => rows.last().map(|row| row.seq),
            End::Cut(seq) => Some(seq),
        };
    } else {
        page.earlier = match end {
            End::Exhausted => None,
            End::Full => rows.last().map(|row| row.seq),
            End::Cut(seq) => Some(seq),
        };
        rows.reverse();
    }
    page.rows = rows;
    Ok(page)
}

impl Finder<'_> {
    fn look(&mut self, query: &Query, examine_max: usize) -> Result<(Vec<Row>, End), HistoryError> {
        let limit = query.limit.max(1);
        let driver = Driver::choose(&self.check, self.search.as_ref().map(|(_, plan)| plan));
        let news = self.tail.as_ref().map(|tail| tail.news(self.marks.applied)).unwrap_or_default();
        let mut candidates = Candidates::new(driver, self.marks.indexed, query, news);
        let mut rows = Vec::new();
        let mut last = None;
        for _ in 0..examine_max {
            let Some(seq) = candidates.next(self.store)? else { return Ok((rows, End::Exhausted)) };
            // Texts that would have to be read and may not end the looking before this candidate.
            if let (0, Some(last)) = (self.verify_left, last) {
                return Ok((rows, End::Cut(last)));
            }
            last = Some(seq);
            let Some(letter) = self.fetch(seq)? else { continue };
            if !self.says_it(&letter)? {
                continue;
            }
            if rows.len() == limit {
                return Ok((rows, End::Full));
            }
            rows.push(self.row(letter)?);
        }
        Ok((rows, last.map_or(End::Exhausted, End::Cut)))
    }

    /// Fetches a message, if it is one that the asker may see and wants.
    fn fetch(&self, seq: Seq) -> Result<Option<Letter>, HistoryError> {
        // What happened to it behind the tables.
        let newer = self.tail.as_ref().and_then(|tail| tail.fold.letters.get(&seq));
        if let Some(letter) = self.check.fetch(self.store, seq)? {
            return Ok(Some(newer.cloned().unwrap_or(letter)));
        }
        Ok(newer.filter(|letter| self.check.allows(letter)).cloned())
    }

    /// Tells whether a message has the words that are wanted.
    fn says_it(&mut self, letter: &Letter) -> Result<bool, HistoryError> {
        let Some((search, plan)) = &self.search else { return Ok(true) };
        let indexed = self.marks.indexed;
        let is_indexed = letter.seq <= indexed && letter.amended.is_none_or(|amended| amended <= indexed);
        if is_indexed && !plan.must_verify {
            // Candidates of the tail are there for other reasons than their words.
            let is_of_tail =
                self.tail.as_ref().is_some_and(|tail| tail.fold.letters.contains_key(&letter.seq));
            return match (&plan.find, &plan.exclude) {
                (Some(find), _) if is_of_tail => self.store.has_words(letter.seq, find),
                (None, Some(exclude)) => Ok(!self.store.has_words(letter.seq, exclude)?),
                (Some(_), _) | (None, None) => Ok(true),
            };
        }
        self.verify_left = self.verify_left.saturating_sub(1);
        let body = body_at(self.records, letter.body)?;
        Ok(body.is_some_and(|body| search.matches(&crate::text::lines_of(&body))))
    }

    fn row(&mut self, mut letter: Letter) -> Result<Row, HistoryError> {
        if letter.deliveries.is_empty() {
            letter.deliveries = self.store.deliveries(letter.seq)?;
        }
        if self.tail.is_none() {
            self.store.know_row(&letter, &mut self.registry)?;
        }
        Ok(Row::new(&letter, &self.registry))
    }
}
