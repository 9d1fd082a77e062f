//! The signal by which the maintenance thread learns that something was appended, is asked for, or is over.

use std::time::Duration;

use super::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use crate::driver::{Followed, Keep, Trim};

/// A wish to have the log trimmed now.
pub(crate) struct TrimRequest {
    pub(crate) keep: Keep,
    /// Whether only to say what would be given up.
    pub(crate) is_trial: bool,
    pub(crate) answer: Box<dyn FnOnce(Trim) + Send>,
}

/// Wakes the maintenance thread.
pub(crate) struct MaintenanceSignal {
    state: Mutex<State>,
    notified: Condvar,
    /// Bytes below which an append wakes nobody.
    bytes_min: u64,
}

#[derive(Default)]
struct State {
    appended: u64,
    requests: Vec<TrimRequest>,
    followed: Option<Followed>,
    closed: bool,
}

/// Why the maintenance thread was woken.
pub(crate) struct Wakeup {
    /// Bytes that were appended.
    pub(crate) appended: u64,
    pub(crate) requests: Vec<TrimRequest>,
    /// The read position of the history, when it was just set.
    pub(crate) followed: Option<Followed>,
    pub(crate) closed: bool,
}

impl MaintenanceSignal {
    /// Makes a signal that wakes when so many bytes were appended.
    pub(crate) fn new(bytes_min: u64) -> Self {
        MaintenanceSignal { state: Mutex::default(), notified: Condvar::new(), bytes_min: bytes_min.max(1) }
    }

    /// Says that bytes were appended.
    pub(crate) fn appended(&self, bytes: u64) {
        let mut state = self.lock();
        state.appended += bytes;
        if state.appended >= self.bytes_min {
            self.notified.notify_one();
        }
    }

    /// Asks for the log to be trimmed; gives the request back when nobody will do it.
    pub(crate) fn trim(&self, request: TrimRequest) -> Result<(), TrimRequest> {
        let mut state = self.lock();
        if state.closed {
            return Err(request);
        }
        state.requests.push(request);
        self.notified.notify_one();
        Ok(())
    }

    /// Sets the read position of the history.
    pub(crate) fn follow(&self, followed: Followed) {
        self.lock().followed = Some(followed);
        self.notified.notify_one();
    }

    /// Ends the thread. Requests that still wait are dropped, and their callers learn that the node has stopped.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let requests = std::mem::take(&mut state.requests);
        self.notified.notify_all();
        drop(state);
        drop(requests);
    }

    /// Waits until there is something to do, or for so long.
    pub(crate) fn wait(&self, patience: Option<Duration>) -> Wakeup {
        let is_quiet = |state: &mut State| {
            state.appended < self.bytes_min
                && state.requests.is_empty()
                && state.followed.is_none()
                && !state.closed
        };
        let state = self.lock();
        let mut state = match patience {
            None => self.notified.wait_while(state, is_quiet).unwrap_or_else(PoisonError::into_inner),
            Some(patience) => {
                let waited = self.notified.wait_timeout_while(state, patience, is_quiet);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        Wakeup {
            appended: std::mem::take(&mut state.appended),
            requests: std::mem::take(&mut state.requests),
            followed: state.followed.take(),
            closed: state.closed,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
