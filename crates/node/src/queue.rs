//! The writer's queue: jobs that wait for it, and how it waits for jobs.

use std::collections::VecDeque;
use std::time::Duration;

use super::sync::{AtomicBool, Condvar, Mutex, MutexGuard, Ordering, PoisonError, SPINS, yield_now};
use crate::driver::{Job, Returns, Work};
use crate::failure::CallError;

/// Jobs that wait for the writer.
pub(crate) struct JobQueue {
    state: Mutex<State>,
    pushed: Condvar,
    /// Whether there may be something to do, to look at without the lock.
    has_work: AtomicBool,
    /// How many signs of life may wait; more are dropped.
    notes_max: usize,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    notes: usize,
    returns: Returns,
    closed: bool,
    /// Whether the writer sleeps and is to be woken.
    sleeps: bool,
}

/// What the writer finds.
pub(crate) struct Found {
    pub(crate) work: Work,
    /// Whether nothing more comes.
    pub(crate) closed: bool,
}

impl JobQueue {
    pub(crate) fn new(notes_max: usize) -> Self {
        JobQueue {
            state: Mutex::default(),
            pushed: Condvar::new(),
            has_work: AtomicBool::new(false),
            notes_max,
        }
    }

    /// Adds a job. After the end it is dropped where no lock is held.
    pub(crate) fn push(&self, job: Job) -> Result<(), CallError> {
        let mut state = self.lock();
        if state.closed {
            drop(state);
            drop(job);
            return Err(CallError::Stopped);
        }
        if matches!(job, Job::Note(_)) {
            if state.notes >= self.notes_max {
                // Nobody relies on it, and the next one is soon there.
                return Ok(());
            }
            state.notes += 1;
        }
        state.jobs.push_back(job);
        self.wake(state);
        Ok(())
    }

    /// Adds deliveries that reached nobody.
    pub(crate) fn push_returns(&self, mut returns: Returns) {
        if returns.is_empty() {
            return;
        }
        let mut state = self.lock();
        state.returns.append(&mut returns);
        self.wake(state);
    }

    fn wake(&self, state: MutexGuard<'_, State>) {
        self.has_work.store(true, Ordering::Release);
        if state.sleeps {
            self.pushed.notify_one();
        }
    }

    /// Lets nothing more in.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        self.wake(state);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Takes everything that waits; if nothing does, waits for it so long.
    pub(crate) fn take(&self, wait: Duration) -> Found {
        for _ in 0..SPINS {
            if wait.is_zero() || self.has_work.load(Ordering::Acquire) {
                break;
            }
            yield_now();
        }
        let mut state = self.lock();
        if state.is_empty() && !wait.is_zero() {
            state.sleeps = true;
            let waited = self.pushed.wait_timeout_while(state, wait, |state| state.is_empty());
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.sleeps = false;
        }
        self.has_work.store(false, Ordering::Relaxed);
        state.notes = 0;
        let work = Work {
            jobs: std::mem::take(&mut state.jobs),
            returns: std::mem::take(&mut state.returns),
            slept: false,
        };
        Found { work, closed: state.closed }
    }

    /// Puts back what did not fit into a batch, before what came after it.
    pub(crate) fn put_back(&self, work: Work) {
        let Work { mut jobs, mut returns, .. } = work;
        if jobs.is_empty() && returns.is_empty() {
            return;
        }
        let mut state = self.lock();
        jobs.append(&mut state.jobs);
        state.jobs = jobs;
        state.returns.append(&mut returns);
        self.wake(state);
    }

    /// Removes jobs that will never run; dropping them tells their callers.
    pub(crate) fn drain(&self) -> VecDeque<Job> {
        std::mem::take(&mut self.lock().jobs)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.returns.is_empty() && !self.closed
    }
}
