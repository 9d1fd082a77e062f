//! Letting answers out: the thread that makes batches durable, and what waits for it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use log::Syncer;
use message::Seq;

use crate::failure::Fatal;

/// Something that leaves when a batch is durable.
pub(crate) type Release = Box<dyn FnOnce() + Send>;
pub(crate) type Releases = Vec<Release>;

/// What the writer hands to the syncing thread.
#[derive(Default)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    releases: Releases,
    /// Up to where everything must be durable before they leave.
    upto: Seq,
    closed: bool,
    durable: Seq,
    fatal: Option<Fatal>,
}

impl Outbox {
    /// Adds what leaves when everything up to a place is durable.
    pub(crate) fn push(&self, upto: Seq, mut releases: Releases) {
        let mut state = self.lock();
        state.releases.append(&mut releases);
        state.upto = state.upto.max(upto);
        self.changed.notify_all();
    }

    /// Waits until the syncing thread has taken what was handed to it, so that at most one batch waits while another
    /// is synced; everything that is asked meanwhile goes into the next one.
    pub(crate) fn wait_until_taken(&self) {
        let mut state = self.lock();
        while !state.releases.is_empty() && state.fatal.is_none() && !state.closed {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends the syncing thread, after what it has.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    pub(crate) fn fatal(&self) -> Option<Fatal> {
        self.lock().fatal.clone()
    }

    pub(crate) fn durable(&self) -> Seq {
        self.lock().durable
    }

    /// Makes batches durable and lets go what waited for them, until the outbox is closed or the disk fails.
    pub(crate) fn run(self: &Arc<Self>, mut syncer: impl Syncer) -> Result<(), Fatal> {
        self.lock().durable = syncer.durable();
        loop {
            let Some((upto, releases)) = self.next() else { return Ok(()) };
            let mut durable = syncer.durable();
            if durable < upto {
                durable = match syncer.sync() {
                    Ok(durable) => durable,
                    Err(error) => return Err(self.fail(error.into())),
                };
            }
            debug_assert!(durable >= upto, "everything was appended before it was handed over");
            self.lock().durable = durable;
            for release in releases {
                release();
            }
        }
    }

    fn next(&self) -> Option<(Seq, Releases)> {
        let mut state = self.lock();
        loop {
            if !state.releases.is_empty() {
                let releases = std::mem::take(&mut state.releases);
                self.changed.notify_all();
                return Some((state.upto, releases));
            }
            if state.closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn fail(&self, fatal: Fatal) -> Fatal {
        let mut state = self.lock();
        state.fatal = Some(fatal.clone());
        // Nobody is told anything any more.
        state.releases.clear();
        self.changed.notify_all();
        fatal
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
