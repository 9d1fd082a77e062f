//! The thread that follows the log: events into the tables, then texts into the index.
//!
//! While the log moves fast and nobody asks, the thread rests: whoever sends has the processor, and what came is read
//! when it is calmer, or when too much of it waits. While events are behind, texts get a small slice after each chunk;
//! when the tables have caught up, texts get all of the time that is left. Whatever fails is undone, told and tried
//! again when there is something new.

mod open;

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use broker::{Event, Fingerprint};
use log::{Entry, ReadError};
use message::Seq;

use crate::error::HistoryError;
use crate::fold::Fold;
use crate::history::{Position, Shared};
use crate::said::{Said, said};
use crate::sequence::Sequences;
use crate::store::{Marks, Store, sql};
use crate::text;

/// Events that are passed in search of texts in one piece, for each text that is wanted.
const EVENTS_PER_TEXT: u64 = 16;

/// Events in a second from which on the log moves fast: what nobody asks for then waits until it is calmer.
const FAST_EVENTS: u128 = 2_000;
/// How long the log must have been slow to be calm: a disk that hesitates makes nobody wait who was not waiting.
const CALM: Duration = Duration::from_millis(100);
/// How long the thread rests before it looks again how fast the log moves.
const REST: Duration = Duration::from_millis(20);
/// Events that wait at most while the thread rests.
const WAITING_EVENTS_MAX: u64 = 1_000_000;
/// How long more events are let come before the next piece: a commit costs as much as many events.
const PAUSE: Duration = Duration::from_millis(3);
/// How nice the thread is to others: whoever waits for an answer comes first.
const NICENESS: i32 = 10;

/// The thread and what it has open.
struct Worker<'s> {
    shared: &'s Shared,
    store: Store,
    fold: Fold,
    sequences: Sequences,
    marks: Marks,
    /// Words of one message, kept for its memory.
    words: String,
    /// When it was last looked how fast the log moves, and how far it had come.
    looked: (Instant, Seq),
    /// When the log was last seen to move fast.
    fast_at: Option<Instant>,
}

/// Follows the log until `wait` says that it is over.
pub(crate) fn run(
    shared: &Shared,
    mut wait: impl FnMut(Seq) -> Option<Seq>,
    ready: &SyncSender<Result<(), HistoryError>>,
) {
    step_back();
    let mut worker = match Worker::open(shared) {
        Ok(worker) => worker,
        // Whoever waits for it gets the error; if nobody does, nobody misses it.
        Err(error) => return drop(ready.send(Err(error))),
    };
    let was_closed = std::mem::replace(&mut worker.marks.is_closed, false);
    worker.tell();
    drop(ready.send(Ok(())));
    if let Err(error) = worker.begin(was_closed) {
        shared.set_trouble(Some(chain(&error)));
        if matches!(error, HistoryError::Irreplaceable { .. }) {
            return;
        }
    }
    let mut durable = Seq(0);
    let mut is_stuck = false;
    loop {
        let is_idle = worker.marks.applied >= durable && !worker.has_texts();
        let after = match (is_idle, is_stuck) {
            (_, true) => durable,
            (true, false) => worker.marks.applied,
            // Long durable: only asks how far the log has come meanwhile.
            (false, false) => Seq(worker.marks.applied.0.saturating_sub(1)),
        };
        let Some(reached) = wait(after) else { break };
        durable = reached;
        let outcome = worker.step(durable);
        is_stuck = outcome.as_ref().is_err_and(|error| !worker.recover(error));
        shared.set_trouble(outcome.err().filter(|_| is_stuck).map(|error| chain(&error)));
    }
    if let Err(error) = worker.close() {
        shared.set_trouble(Some(chain(&error)));
    }
}

/// Lets every other thread go first. Where that cannot be said, the thread is one like any other.
fn step_back() {
    let thread = rustix::thread::gettid();
    let _is_nicer = rustix::process::setpriority_process(Some(thread), NICENESS).is_ok();
}

#[expect(clippy::disallowed_methods, reason = "how fast the log moves is a matter of real time")]
fn now() -> Instant {
    Instant::now()
}

impl<'s> Worker<'s> {
    fn new(shared: &'s Shared, store: Store, fold: Fold, marks: Marks) -> Self {
        let (sequences, words) = (Sequences::default(), String::new());
        Worker { shared, store, fold, sequences, marks, words, looked: (now(), Seq(0)), fast_at: None }
    }

    /// Checks a file that was not closed, and notes that it is open.
    fn begin(&mut self, was_closed: bool) -> Result<(), HistoryError> {
        let is_sound = was_closed
            || self.store.is_sound().or_else(|error| match error.is_damage() {
                true => Ok(false),
                false => Err(error),
            })?;
        if !is_sound {
            self.replace()?;
        }
        self.store.begin()?;
        self.store.save_marks(&self.marks)?;
        self.store.commit()
    }

    /// Does a piece of what is to be done.
    fn step(&mut self, durable: Seq) -> Result<(), HistoryError> {
        if self.shared.outlives.load(Ordering::Acquire) && !self.shared.is_careful.load(Ordering::Acquire) {
            self.store.be_careful()?;
            self.shared.is_careful.store(true, Ordering::Release);
        }
        let is_fast = self.is_fast(durable);
        let waiting = durable.0.saturating_sub(self.marks.applied.0);
        let is_awaited = self.shared.is_awaited.load(Ordering::Acquire);
        if is_fast && waiting < WAITING_EVENTS_MAX && !is_awaited && !self.shared.is_watched() {
            std::thread::sleep(REST);
            return Ok(());
        }
        if waiting > 0 {
            self.apply(durable)?;
            std::thread::sleep(PAUSE);
        }
        let is_behind = self.marks.applied < durable;
        if self.has_texts() {
            let settings = &self.shared.settings;
            let is_fast = (is_behind || is_fast) && !is_awaited;
            self.index(if is_fast { settings.text_slice } else { settings.text_chunk })?;
        }
        Ok(())
    }

    /// Tells whether the log moves fast or did so a moment ago, by how much came since it was last looked.
    fn is_fast(&mut self, durable: Seq) -> bool {
        let now = now();
        let (looked, seen) = std::mem::replace(&mut self.looked, (now, durable));
        let came = durable.0.saturating_sub(seen.0);
        let elapsed_us = now.duration_since(looked).as_micros();
        if seen > Seq(0) && u128::from(came) * 1_000_000 > FAST_EVENTS * elapsed_us {
            self.fast_at = Some(now);
        }
        self.fast_at.is_some_and(|fast_at| now.duration_since(fast_at) < CALM)
    }

    /// Tells whether texts wait to be indexed.
    fn has_texts(&self) -> bool {
        self.shared.settings.text_chunk > 0 && self.marks.indexed < self.marks.applied
    }

    /// Folds a chunk of events into the tables.
    fn apply(&mut self, durable: Seq) -> Result<(), HistoryError> {
        let from = Seq(self.marks.applied.0 + 1);
        let to = durable.min(Seq(self.marks.applied.0 + self.shared.settings.chunk_events as u64));
        let mut marks = self.marks.clone();
        let (store, fold, sequences) = (&self.store, &mut self.fold, &mut self.sequences);
        let mut outcome = Ok(());
        store.begin()?;
        let scanned = self.shared.records.scan(from, to, &mut |entry| {
            outcome = fold_entry(store, (fold, sequences), &mut marks, entry, to);
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        outcome?;
        match scanned {
            Ok(()) => {}
            // What was read before counts; the next chunk starts at what could not be read.
            Err(_) if marks.applied > self.marks.applied => {}
            Err(ReadError::Trimmed { first, .. }) => {
                let last = Seq(first.0.saturating_sub(1));
                store.save_gap(from, last, "trimmed")?;
                (marks.applied, marks.since, marks.fingerprint) = (last, first, None);
            }
            Err(error) => return Err(error.into()),
        }
        marks.dead_max = fold.dead_max();
        fold.save(store, self.shared.settings.cache_messages)?;
        sequences.save(store)?;
        store.save_marks(&marks)?;
        store.commit()?;
        self.marks = marks;
        self.tell();
        Ok(())
    }

    /// Puts the texts of some messages into the index.
    fn index(&mut self, texts_max: usize) -> Result<(), HistoryError> {
        let from = Seq(self.marks.indexed.0 + 1);
        let texts_max = texts_max.max(1);
        let events_max = (texts_max as u64).saturating_mul(EVENTS_PER_TEXT);
        let to = self.marks.applied.min(Seq(self.marks.indexed.0.saturating_add(events_max)));
        let mut marks = self.marks.clone();
        let (store, words) = (&self.store, &mut self.words);
        let mut outcome = Ok(0);
        let mut texts = 0;
        store.begin()?;
        let scanned = self.shared.records.scan(from, to, &mut |entry| {
            marks.indexed = last_of(&entry).min(to);
            outcome = index_entry(store, words, entry);
            texts += *outcome.as_ref().unwrap_or(&0);
            if outcome.is_ok() && texts < texts_max {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        outcome?;
        match scanned {
            Ok(()) => {}
            Err(_) if marks.indexed > self.marks.indexed => {}
            Err(ReadError::Trimmed { first, .. }) => {
                marks.indexed = Seq(first.0.saturating_sub(1)).min(marks.applied);
            }
            Err(error) => return Err(error.into()),
        }
        store.save_marks(&marks)?;
        store.commit()?;
        self.marks = marks;
        self.tell();
        Ok(())
    }

    /// Goes back to what the file has, or makes it anew if it is damaged; tells whether that may help.
    fn recover(&mut self, error: &HistoryError) -> bool {
        self.store.roll_back();
        self.sequences = Sequences::default();
        if error.is_damage() {
            return self.replace().is_ok();
        }
        // If this fails, so does the next step, which comes here again.
        if let Ok(fold) = Fold::load(&self.store, &self.marks) {
            self.fold = fold;
        }
        false
    }

    /// Tells how far the tables have come.
    fn tell(&self) {
        let Marks { applied, indexed, since, .. } = self.marks;
        self.shared.set_position(Position { applied, indexed, since });
    }

    fn close(mut self) -> Result<(), HistoryError> {
        self.shared.pool.clear();
        self.marks.is_closed = true;
        self.store.begin()?;
        self.store.save_marks(&self.marks)?;
        self.store.commit()?;
        self.store.close()
    }
}

fn fold_entry(
    store: &Store,
    (fold, sequences): (&mut Fold, &mut Sequences),
    marks: &mut Marks,
    entry: Entry<'_>,
    to: Seq,
) -> Result<(), HistoryError> {
    match entry {
        Entry::Record { seq, bytes, .. } => {
            match Event::decode(bytes) {
                Ok((at, event)) => {
                    fold.apply(store, seq, at, &event)?;
                    sequences.add(store, &fold.registry, seq, &event)?;
                }
                // The broker refuses such a log; whoever set it right knows why it is so.
                Err(_) => store.save_gap(seq, seq, "unreadable")?,
            }
            marks.applied = seq;
            // Only what ends a chunk is ever compared.
            marks.fingerprint = (seq == to).then(|| Fingerprint::of(&[bytes]).0.to_vec());
        }
        Entry::Gap { first, last } => {
            store.save_gap(first, last, "salvaged")?;
            // A gap may end behind what is durable as far as we were told; the rest of it is met again.
            (marks.applied, marks.fingerprint) = (last.min(to), None);
        }
    }
    Ok(())
}

/// Indexes what an event says; returns how many texts that were.
fn index_entry(store: &Store, words: &mut String, entry: Entry<'_>) -> Result<usize, HistoryError> {
    let Entry::Record { seq, bytes, .. } = entry else { return Ok(0) };
    let Some(Said { accepted, body, .. }) = said(seq, bytes).filter(|said| said.is_new) else { return Ok(0) };
    if accepted != seq {
        let known: Option<i64> = store.one("SELECT 1 FROM messages WHERE seq = ?1", [sql(accepted.0)])?;
        if known.is_none() {
            return Ok(0);
        }
        store.unindex(accepted)?;
    }
    text::words_of(&body, words);
    store.index(accepted, words)?;
    Ok(1)
}

fn last_of(entry: &Entry<'_>) -> Seq {
    match entry {
        Entry::Record { seq, .. } => *seq,
        Entry::Gap { last, .. } => *last,
    }
}

/// Says an error with everything behind it.
fn chain(error: &HistoryError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}
