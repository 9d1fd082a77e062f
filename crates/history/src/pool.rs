//! Connections for questions: a few are kept, more are made when more ask at once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::HistoryError;
use crate::settings::Settings;
use crate::store::Store;

#[derive(Default)]
pub(crate) struct Pool {
    idle: Mutex<Vec<(u64, Store)>>,
    /// Counts the files that there were; a connection to one that was set aside is of no use.
    file: AtomicU64,
}

impl Pool {
    /// Answers a question on one state of the tables.
    pub(crate) fn ask<T>(
        &self,
        settings: &Settings,
        question: impl FnOnce(&Store) -> Result<T, HistoryError>,
    ) -> Result<T, HistoryError> {
        let file = self.file.load(Ordering::Acquire);
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let store = match idle {
            Some((of, store)) if of == file => store,
            Some(_) | None => Store::open_to_read(&settings.file)?,
        };
        store.connection.execute_batch("BEGIN")?;
        let answer = question(&store);
        store.roll_back();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if answer.is_ok() && idle.len() < settings.readers {
            idle.push((file, store));
        }
        answer
    }

    /// Lets go of connections to a file that was set aside.
    pub(crate) fn renew(&self) {
        self.file.fetch_add(1, Ordering::AcqRel);
        self.clear();
    }

    pub(crate) fn clear(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
