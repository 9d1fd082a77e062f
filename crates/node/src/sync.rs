//! Locks, condition variables and threads of the shell, from one place: a test compiles the shell a second time with
//! those of a checker in their stead (`interleavings.rs`).

pub(crate) use std::sync::atomic::{AtomicBool, Ordering};
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
pub(crate) use std::thread::{Builder, JoinHandle, yield_now};

use tokio::sync::oneshot;

/// How often the writer looks for a job before it sleeps. Waking a thread takes longer than most jobs do, and the next
/// job often comes as soon as the answer to the last one has left.
pub(crate) const SPINS: usize = 200;

/// Blocks until an answer comes; nothing when none will.
pub(crate) fn wait_for<T>(answer: oneshot::Receiver<T>) -> Option<T> {
    answer.blocking_recv().ok()
}
