//! A timer for something that is polled often and hardly ever late: moving its deadline costs nothing.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::time::{Instant, Sleep, sleep_until};

/// Wakes whoever polls at a deadline that may move. The clock behind it is only set again when it would ring too
/// late, or rang too early.
#[derive(Default)]
pub(super) struct Timer(Option<Pin<Box<Sleep>>>);

impl Timer {
    /// Tells whether a deadline is over; if not, the task is woken when it is.
    pub(super) fn is_over(&mut self, cx: &mut Context<'_>, deadline: Instant) -> bool {
        let sleep = self.0.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if sleep.deadline() > deadline {
            sleep.as_mut().reset(deadline);
        }
        loop {
            match sleep.as_mut().poll(cx) {
                Poll::Pending => return false,
                Poll::Ready(()) if sleep.deadline() >= deadline => return true,
                Poll::Ready(()) => sleep.as_mut().reset(deadline),
            }
        }
    }
}
