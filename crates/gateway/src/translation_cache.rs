//! Translations that are kept for the next recipients of the same message.
//!
//! A translation is the same for all who read the dialect, so a message to many is translated once for each dialect.
//! The key holds everything else on which the text depends. An event of the log never changes, so the place of a body
//! stands for its bytes: an amended message has another place. Its first translation starts from what was decoded when
//! it came in, if that is still at hand.

use std::collections::{HashMap, VecDeque};
use std::mem::size_of;
use std::sync::{Arc, PoisonError, RwLock};

use dialect::{Name, Names};
use message::{Envelope, Seq, Timestamp};

use crate::outgoing::{self, Change};
use crate::source_cache::SourceCache;
use crate::{Outgoing, OutgoingError, Reading, Stored, Submission};

/// Bytes of a translation that is kept, at most.
const TEXT_BYTES_MAX: usize = 1 << 20;
/// The part of all bytes that is for documents as they were decoded.
const SOURCES_SHARE: usize = 4;
/// What an entry takes beside its text: its key in the table and in the queue, the pointer, the counters.
const ENTRY_BYTES: usize = 2 * size_of::<Key>() + 4 * size_of::<usize>();

/// The translations that were made last, bounded in bytes. It serves one bus: one log, one directory, one seal.
pub struct TranslationCache {
    bytes_max: usize,
    state: RwLock<State>,
    sources: SourceCache,
}

#[derive(Default)]
struct State {
    texts: HashMap<Key, Arc<str>>,
    /// The keys of the table, the oldest first.
    order: VecDeque<Key>,
    bytes: usize,
}

/// What a translation depends on, besides what is the same for the whole bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// Where the body lies.
    place: Seq,
    /// The dialect that was asked for.
    to: Name,
    /// When the message was accepted, which is the time of documents that state none.
    came: Timestamp,
    /// Tries before this one, where the document counts them.
    retries: u32,
    /// Which names the agents had.
    names: u64,
}

impl TranslationCache {
    /// Makes an empty cache for so many bytes.
    pub fn new(bytes_max: usize) -> Self {
        let sources = bytes_max / SOURCES_SHARE;
        TranslationCache {
            bytes_max: bytes_max - sources,
            state: RwLock::default(),
            sources: SourceCache::new(sources),
        }
    }

    /// Writes a stored document in a language as [`crate::write`] does, from what is kept where that fits.
    ///
    /// No lock is held while it is translated: two readers that miss at the same time both translate.
    pub fn write(
        &self,
        stored: Stored<'_>,
        wanted: Option<Name>,
        reading: Reading<'_>,
    ) -> Result<Outgoing, OutgoingError> {
        let key = wanted.and_then(|to| Key::of(stored, to, reading.names));
        if let Some(key) = key
            && let Some(text) = self.get(&key)
        {
            return Ok(Outgoing { dialect: key.to, text: (*text).to_owned() });
        }
        let decoded = || self.sources.get(stored.body, reading.names.revision());
        let outgoing = outgoing::write_from(stored, wanted, reading, decoded)?;
        if let Some(key) = key {
            self.add(key, &outgoing.text);
        }
        Ok(outgoing)
    }

    /// Keeps what a document said when it came in, for its first translation.
    pub fn keep_decoded(&self, submission: &mut Submission) {
        if let Some(decoded) = submission.decoded.take() {
            self.sources.add(&submission.accept.body, decoded);
        }
    }

    /// Returns how many bytes of translations are kept.
    pub fn bytes(&self) -> usize {
        self.state.read().unwrap_or_else(PoisonError::into_inner).bytes
    }

    #[cfg(test)]
    pub(crate) fn sources(&self) -> &SourceCache {
        &self.sources
    }

    fn get(&self, key: &Key) -> Option<Arc<str>> {
        self.state.read().unwrap_or_else(PoisonError::into_inner).texts.get(key).cloned()
    }

    /// Keeps a text. The oldest ones go when there are too many bytes.
    fn add(&self, key: Key, text: &str) {
        let bytes = entry_bytes(text);
        if text.len() > TEXT_BYTES_MAX || bytes > self.bytes_max {
            return;
        }
        let text = Arc::from(text);
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if state.texts.contains_key(&key) {
            return;
        }
        state.texts.insert(key, text);
        state.order.push_back(key);
        state.bytes += bytes;
        while state.bytes > self.bytes_max {
            let Some(oldest) = state.order.pop_front() else { break };
            if let Some(text) = state.texts.remove(&oldest) {
                state.bytes -= entry_bytes(&text);
            }
        }
    }
}

impl Key {
    /// Returns the key of a translation; nothing for what is no translation, lies nowhere, or is for one recipient.
    fn of(stored: Stored<'_>, to: Name, names: &Names) -> Option<Self> {
        let dialect = Envelope::open(stored.body)?.dialect;
        if dialect == to {
            return None;
        }
        let retries = match outgoing::change(dialect, stored) {
            Change::Nothing => 0,
            Change::Retries(count) => count,
            // A fallback recipient gets a copy that names it.
            Change::Fallback(_) => return None,
        };
        Some(Key { place: stored.place?, to, came: stored.came, retries, names: names.revision() })
    }
}

fn entry_bytes(text: &str) -> usize {
    text.len() + ENTRY_BYTES
}
