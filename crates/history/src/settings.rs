//! How the history is kept: where, in what pieces, and how much work one question may cause.

use std::path::PathBuf;
use std::time::Duration;

/// How the history is kept.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The database file.
    pub file: PathBuf,
    /// Whether the log may forget what the tables know. They are then written so that a power loss cannot damage them.
    pub outlives_log: bool,
    /// Whether a file that cannot be used is set aside although it knows what the log has forgotten.
    pub is_lossy: bool,
    /// Events that are applied in one transaction.
    pub chunk_events: usize,
    /// Messages whose text is indexed in one transaction while nothing else is to be done; 0 for no index.
    pub text_chunk: usize,
    /// Messages whose text is indexed between two chunks while events are still behind.
    pub text_slice: usize,
    /// Messages that are under way and kept in memory, so that they need not be read again.
    pub cache_messages: usize,
    /// Memory for pages of the database while it is written, in bytes.
    pub page_cache_bytes: u64,
    /// Connections that are kept for questions.
    pub readers: usize,
    /// Messages that one question looks at before it gives what it has found.
    pub examine_max: usize,
    /// Texts that one question reads from the log before it gives what it has found.
    pub verify_max: usize,
    /// Events behind the tables that one question reads from the log.
    pub tail_events_max: u64,
    /// How long a question waits for the tables to reach what its asker has written.
    pub patience: Duration,
}

impl Settings {
    /// Returns what suits a bus on an ordinary machine.
    pub fn usual(file: PathBuf) -> Self {
        Settings {
            file,
            outlives_log: false,
            is_lossy: false,
            chunk_events: 32_768,
            text_chunk: 1_024,
            text_slice: 16,
            cache_messages: 131_072,
            page_cache_bytes: 64 << 20,
            readers: 4,
            examine_max: 200_000,
            verify_max: 20_000,
            tail_events_max: 20_000,
            patience: Duration::from_millis(250),
        }
    }
}
