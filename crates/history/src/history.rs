//! The handle: where others ask. Every question blocks; whoever is asynchronous asks from a thread that may block.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use log::Reader;
use message::{MessageId, Seq};
use tokio::sync::watch;

use crate::counts::Counts;
use crate::error::HistoryError;
use crate::find;
use crate::happening::{self, Happenings, Watch};
use crate::pool::Pool;
use crate::query::{Page, Query, Scope};
use crate::receipt::Receipted;
use crate::records::Records;
use crate::registry::Registry;
use crate::row::Row;
use crate::sequence::{Post, Topic};
use crate::settings::Settings;
use crate::store::{Store, number};
use crate::worker;

/// The history of a bus. Clones are the same history.
#[derive(Clone)]
pub struct History {
    pub(crate) shared: Arc<Shared>,
    thread: Arc<Mutex<Option<JoinHandle<()>>>>,
}

/// How far the history has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The last event in the tables.
    pub applied: Seq,
    /// The last event whose text is in the index.
    pub indexed: Seq,
    /// The first event from which on the log told everything, but for what a salvage had to leave out.
    pub since: Seq,
}

/// What the thread and the handles share.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) records: Records,
    pub(crate) pool: Pool,
    position: Mutex<Position>,
    moved: Condvar,
    applied: watch::Sender<Seq>,
    /// Questions that wait until the tables have come somewhere.
    questions: AtomicUsize,
    trouble: Mutex<Option<String>>,
    /// Whether the log may forget what the tables know, and whether they are written accordingly.
    pub(crate) outlives: AtomicBool,
    pub(crate) is_careful: AtomicBool,
    /// Whether the log waits for texts to be indexed.
    pub(crate) is_awaited: AtomicBool,
}

impl History {
    /// Opens or makes the file and starts the thread that follows the log.
    ///
    /// `wait` blocks until the log is durable beyond the place that it is given and returns the last durable record; it
    /// is also called with places that were passed long ago, and then answers at once. When it returns nothing, the
    /// thread finishes, closes the file and ends.
    pub fn start<R: Reader + 'static>(
        settings: Settings,
        reader: R,
        wait: impl FnMut(Seq) -> Option<Seq> + Send + 'static,
    ) -> Result<History, HistoryError> {
        let shared = Arc::new(Shared {
            outlives: AtomicBool::new(settings.outlives_log),
            is_careful: AtomicBool::new(settings.outlives_log),
            is_awaited: AtomicBool::new(false),
            settings,
            records: Records::new(reader),
            pool: Pool::default(),
            position: Mutex::default(),
            moved: Condvar::new(),
            applied: watch::channel(Seq(0)).0,
            questions: AtomicUsize::new(0),
            trouble: Mutex::default(),
        });
        let (ready, started) = sync_channel(1);
        let worker = Arc::clone(&shared);
        let run = move || worker::run(&worker, wait, &ready);
        let thread = std::thread::Builder::new().name("history".to_owned()).spawn(run);
        let thread = thread.map_err(HistoryError::Thread)?;
        started.recv().unwrap_or(Err(HistoryError::Stopped))?;
        Ok(History { shared, thread: Arc::new(Mutex::new(Some(thread))) })
    }

    /// Tells how far the history has come.
    pub fn position(&self) -> Position {
        self.shared.position()
    }

    /// Follows how far the tables have come.
    pub fn watch(&self) -> watch::Receiver<Seq> {
        self.shared.applied.subscribe()
    }

    /// Tells what keeps the history from going on, if anything does. It tries again with every new event.
    pub fn trouble(&self) -> Option<String> {
        self.shared.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes what the history has read of the log safe from a power loss, and returns up to where that is: the log
    /// may be trimmed up to there. Nothing when it cannot be said.
    ///
    /// From the first time on the file is written so that it stays safe; until it is, nothing is returned.
    pub fn secure(&self) -> Option<Seq> {
        let shared = &self.shared;
        shared.outlives.store(true, Ordering::Release);
        if !shared.is_careful.load(Ordering::Acquire) {
            return None;
        }
        let Position { applied, indexed, .. } = self.position();
        let read = if shared.settings.text_chunk > 0 { applied.min(indexed) } else { applied };
        shared.is_awaited.store(read < applied, Ordering::Release);
        // A failure here is one of reading or writing too, and then there is trouble.
        Store::secure(&shared.settings.file).is_ok_and(|is_safe| is_safe).then_some(read)
    }

    /// Finds messages.
    pub fn find(&self, query: &Query) -> Result<Page, HistoryError> {
        let shared = &self.shared;
        // If it takes longer, the rest is read from the log.
        let _is_there =
            shared.wait_until(shared.settings.patience, |position| position.applied >= query.fresh);
        self.ask(|store| find::page(store, &shared.records, &shared.settings, query))
    }

    /// Finds a message by its id.
    pub fn message(&self, id: MessageId) -> Result<Option<Row>, HistoryError> {
        self.letter(id, |store, letter, registry| {
            store.know_row(letter, registry)?;
            Ok(Row::new(letter, registry))
        })
    }

    /// Tells what became of a message with each recipient.
    pub fn receipt(&self, id: MessageId) -> Result<Option<Receipted>, HistoryError> {
        self.letter(id, |store, letter, registry| {
            store.know_receipt(letter, registry)?;
            Ok(Receipted::new(letter, registry))
        })
    }

    /// Returns the messages of a topic with their numbers, the oldest first. What is durable and not in the tables yet
    /// is not among them: whoever must see it waits for [`History::watch`].
    pub fn topic(&self, topic: &Topic) -> Result<Vec<Post>, HistoryError> {
        self.ask(|store| store.posts(topic))
    }

    /// Returns what happened after a place, as far as somebody may see it, at most so much; see [`Happenings`].
    pub fn happenings(
        &self,
        after: Seq,
        limit: usize,
        scope: &Scope,
        filter: &Watch,
    ) -> Result<Happenings, HistoryError> {
        let shared = &self.shared;
        self.ask(|store| {
            let upto = store.marks()?.applied;
            let asked = happening::Asked { after, upto, limit, scope: *scope, filter };
            happening::list(store, &shared.records, shared.settings.examine_max, &asked)
        })
    }

    /// Counts what there was.
    pub fn counts(&self) -> Result<Counts, HistoryError> {
        self.ask(Counts::read)
    }

    /// Waits for the thread to end, after whoever gave it `wait` has told it to.
    pub fn join(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // Whether it panicked has been said by whoever reports panics.
            drop(thread.join());
        }
        self.shared.pool.clear();
    }

    fn letter<T>(
        &self,
        id: MessageId,
        show: impl FnOnce(&Store, &crate::letter::Letter, &mut Registry) -> Result<T, HistoryError>,
    ) -> Result<Option<T>, HistoryError> {
        self.ask(|store| {
            let text = "SELECT seq FROM messages WHERE id = ?1";
            let Some(seq) = store.one::<i64>(text, [id.to_bytes()])? else { return Ok(None) };
            let Some(letter) = store.letter(Seq(number(seq)))? else { return Ok(None) };
            show(store, &letter, &mut Registry::default()).map(Some)
        })
    }

    fn ask<T>(&self, question: impl FnOnce(&Store) -> Result<T, HistoryError>) -> Result<T, HistoryError> {
        self.shared.pool.ask(&self.shared.settings, question)
    }
}

impl Shared {
    pub(crate) fn position(&self) -> Position {
        *self.lock()
    }

    /// Tells everybody how far the tables have come.
    pub(crate) fn set_position(&self, position: Position) {
        *self.lock() = position;
        self.moved.notify_all();
        self.applied.send_replace(position.applied);
    }

    /// Notes what is in the way, or that nothing is.
    pub(crate) fn set_trouble(&self, trouble: Option<String>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    /// Waits until the tables have come somewhere; tells whether they have.
    pub(crate) fn wait_until(&self, patience: Duration, is_there: impl Fn(&Position) -> bool) -> bool {
        self.questions.fetch_add(1, Ordering::Relaxed);
        let waited = self.moved.wait_timeout_while(self.lock(), patience, |position| !is_there(position));
        self.questions.fetch_sub(1, Ordering::Relaxed);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Tells whether somebody waits for the tables, or follows them.
    pub(crate) fn is_watched(&self) -> bool {
        self.questions.load(Ordering::Relaxed) > 0 || self.applied.receiver_count() > 0
    }

    fn lock(&self) -> MutexGuard<'_, Position> {
        self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
