//! What `crate::sync` has, from the checker.

use std::time::Duration;

use shuttle::rand::Rng;
use shuttle::sync::LockResult;
pub(crate) use shuttle::sync::atomic::{AtomicBool, Ordering};
pub(crate) use shuttle::sync::{Mutex, MutexGuard, PoisonError};
pub(crate) use shuttle::thread::{Builder, JoinHandle, yield_now};
use tokio::sync::oneshot;

/// Looking more than once before sleeping would only lengthen the schedules.
pub(crate) const SPINS: usize = 1;

/// One in so many waits with a timeout ends by it. The others never do: a wake-up that is lost shows as a deadlock.
const TIMEOUTS_ONE_IN: u32 = 8;

/// A condition variable whose timeouts are drawn.
pub(crate) struct Condvar(shuttle::sync::Condvar);

impl Condvar {
    pub(crate) const fn new() -> Self {
        Condvar(shuttle::sync::Condvar::new())
    }

    pub(crate) fn wait<'m, T>(&self, guard: MutexGuard<'m, T>) -> LockResult<MutexGuard<'m, T>> {
        self.0.wait(guard)
    }

    pub(crate) fn wait_while<'m, T>(
        &self,
        guard: MutexGuard<'m, T>,
        condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'m, T>> {
        self.0.wait_while(guard, condition)
    }

    /// Waits as [`Condvar::wait_while`] does, or not at all: then the time was over at once.
    pub(crate) fn wait_timeout_while<'m, T>(
        &self,
        guard: MutexGuard<'m, T>,
        _timeout: Duration,
        condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'m, T>, ())> {
        if shuttle::rand::thread_rng().gen_ratio(1, TIMEOUTS_ONE_IN) {
            return Ok((guard, ()));
        }
        let waited = self.0.wait_while(guard, condition);
        waited.map(|guard| (guard, ())).map_err(|poisoned| PoisonError::new((poisoned.into_inner(), ())))
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// Blocks until an answer comes; nothing when none will.
pub(crate) fn wait_for<T>(answer: oneshot::Receiver<T>) -> Option<T> {
    shuttle::future::block_on(answer).ok()
}

/// Lets other threads run here.
pub(crate) fn pause() {
    shuttle::thread::sleep(Duration::ZERO);
}
