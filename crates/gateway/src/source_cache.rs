//! Documents that were decoded when they came in, kept for their first translation.
//!
//! Most messages are read right after they came. A reader of another dialect then needs neither parse nor decode the
//! document again. An entry is found by the memory of the body, which the node hands on without copying it: the entry
//! holds that memory, so nothing else can lie there.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use translate::Source;

/// What a decoded document takes, as a multiple of its text.
const GROWTH: usize = 8;
/// What it takes in any case.
const ENTRY_BYTES: usize = 1 << 10;

/// The documents that were decoded last, bounded in bytes.
pub(crate) struct SourceCache {
    bytes_max: usize,
    state: Mutex<State>,
}

/// What a document said when it came in.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) source: Source,
    /// With which names it was decoded.
    pub(crate) names: u64,
}

#[derive(Default)]
struct State {
    entries: HashMap<Key, Entry>,
    /// The keys of the table, the oldest first.
    order: VecDeque<Key>,
    bytes: usize,
}

/// Where a body lies in memory, and how long it is.
type Key = (usize, usize);

struct Entry {
    /// Keeps the memory from being used for another body.
    body: Bytes,
    decoded: Arc<Decoded>,
}

impl SourceCache {
    /// Makes an empty cache for so many bytes.
    pub(crate) fn new(bytes_max: usize) -> Self {
        SourceCache { bytes_max, state: Mutex::default() }
    }

    /// Keeps what a body says. The oldest go when there are too many bytes.
    pub(crate) fn add(&self, body: &Bytes, decoded: Arc<Decoded>) {
        let bytes = entry_bytes(body.len());
        if bytes > self.bytes_max {
            return;
        }
        let (key, mut gone) = (key(body), Vec::new());
        let entry = Entry { body: body.clone(), decoded };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = state.entries.insert(key, entry) {
            gone.push(before);
        } else {
            state.order.push_back(key);
            state.bytes += bytes;
        }
        while state.bytes > self.bytes_max {
            let Some(oldest) = state.order.pop_front() else { break };
            if let Some(entry) = state.entries.remove(&oldest) {
                state.bytes -= entry_bytes(entry.body.len());
                gone.push(entry);
            }
        }
        // The trees are freed after the lock is released.
        drop(state);
    }

    /// Returns what a body says, if it was decoded with these names.
    pub(crate) fn get(&self, body: &[u8], names: u64) -> Option<Arc<Decoded>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = state.entries.get(&key(body)).filter(|entry| entry.decoded.names == names)?;
        Some(Arc::clone(&entry.decoded))
    }

    /// Returns how many bytes are kept, as they are counted.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }
}

fn key(body: &[u8]) -> Key {
    (body.as_ptr().addr(), body.len())
}

fn entry_bytes(body: usize) -> usize {
    body.saturating_mul(GROWTH).saturating_add(ENTRY_BYTES)
}
