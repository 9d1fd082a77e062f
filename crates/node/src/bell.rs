//! The bell: by which the upkeep hears that something was appended, is asked for, or is over.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use message::Seq;

use crate::trim::Request;

/// Says up to where somebody who reads behind the log has read it for good.
pub(crate) type Followed = Box<dyn Fn() -> Option<Seq> + Send>;

/// Rings for the thread that keeps house.
#[derive(Default)]
pub(crate) struct Bell {
    state: Mutex<State>,
    rung: Condvar,
}

#[derive(Default)]
struct State {
    appended: u64,
    asked: Vec<Request>,
    followed: Option<Followed>,
    closed: bool,
}

/// What was rung for.
pub(crate) struct Rung {
    /// Bytes that were appended.
    pub(crate) appended: u64,
    pub(crate) asked: Vec<Request>,
    /// Whoever follows the log, when that was first said.
    pub(crate) followed: Option<Followed>,
    pub(crate) is_over: bool,
}

impl Bell {
    /// Says that bytes were appended.
    pub(crate) fn ring(&self, bytes: u64) {
        self.lock().appended += bytes;
        self.rung.notify_one();
    }

    /// Asks for the log to be trimmed; gives the request back when nobody hears it.
    pub(crate) fn ask(&self, request: Request) -> Result<(), Request> {
        let mut state = self.lock();
        if state.closed {
            return Err(request);
        }
        state.asked.push(request);
        self.rung.notify_one();
        Ok(())
    }

    /// Says who follows the log.
    pub(crate) fn follow(&self, followed: Followed) {
        self.lock().followed = Some(followed);
        self.rung.notify_one();
    }

    /// Says that nothing more will come.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.rung.notify_one();
    }

    /// Waits until it rings, or for so long.
    pub(crate) fn wait(&self, patience: Option<Duration>) -> Rung {
        let is_quiet = |state: &mut State| {
            state.appended == 0 && state.asked.is_empty() && state.followed.is_none() && !state.closed
        };
        let state = self.lock();
        let mut state = match patience {
            None => self.rung.wait_while(state, is_quiet).unwrap_or_else(PoisonError::into_inner),
            Some(patience) => {
                let waited = self.rung.wait_timeout_while(state, patience, is_quiet);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        Rung {
            appended: std::mem::take(&mut state.appended),
            asked: std::mem::take(&mut state.asked),
            followed: state.followed.take(),
            is_over: state.closed,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
