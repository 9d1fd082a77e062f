//! The log as the history reads it, whoever keeps it.

use std::ops::ControlFlow;

use log::{Entry, ReadError, Reader};
use message::Seq;

type Read = dyn Fn(Seq) -> Result<Vec<u8>, ReadError> + Send + Sync;
type Visit<'v> = &'v mut dyn FnMut(Entry<'_>) -> ControlFlow<()>;
type Scan = dyn Fn(Seq, Seq, Visit<'_>) -> Result<(), ReadError> + Send + Sync;

/// Reads the log.
pub(crate) struct Records {
    read: Box<Read>,
    scan: Box<Scan>,
}

impl Records {
    pub(crate) fn new<R: Reader + 'static>(reader: R) -> Self {
        let scanner = reader.clone();
        Records {
            read: Box::new(move |seq| reader.read(seq)),
            scan: Box::new(move |from, to, visit| scanner.scan(from, to, visit)),
        }
    }

    /// Reads one record.
    pub(crate) fn read(&self, seq: Seq) -> Result<Vec<u8>, ReadError> {
        (self.read)(seq)
    }

    /// Returns the oldest record that the log still holds, if it has given any up.
    pub(crate) fn trimmed_to(&self) -> Option<Seq> {
        match self.read(Seq(1)) {
            Err(ReadError::Trimmed { first, .. }) => Some(first),
            Ok(_) | Err(_) => None,
        }
    }

    /// Visits `from..=to` in order until the visitor breaks.
    pub(crate) fn scan(&self, from: Seq, to: Seq, visit: Visit<'_>) -> Result<(), ReadError> {
        (self.scan)(from, to, visit)
    }
}
