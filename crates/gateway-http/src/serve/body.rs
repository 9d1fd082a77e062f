//! Bodies on their way: those of requests must make progress, and the end of an answer is noticed.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use tokio::time::Instant;

use crate::serve::ServeLimits;
use crate::serve::table::Phase;
use crate::serve::timer::Timer;

/// Bytes that are passed over where no body is wanted.
const PASSED_OVER_MAX: usize = 1 << 20;

/// The body of a request, which must not come too slowly. Time counts only while we wait for the peer.
pub(super) struct Paced {
    body: Incoming,
    phase: Phase,
    /// How long we are ready to wait; used up by waiting, earned again by bytes.
    patience: Duration,
    patience_max: Duration,
    bytes_per_s: u64,
    waiting_since: Option<Instant>,
    timer: Timer,
}

/// Why a body ended early.
#[derive(Debug, thiserror::Error)]
pub(super) enum BodyError {
    #[error("the body came too slowly")]
    Slow,
    #[error("the body could not be read")]
    Connection(#[source] hyper::Error),
}

/// The body of an answer. When it is gone the connection is idle.
pub(super) struct Answer {
    body: Body,
    phase: Phase,
}

impl Paced {
    pub(super) fn new(body: Incoming, phase: Phase, limits: &ServeLimits) -> Self {
        Paced {
            body,
            phase,
            patience: limits.body_grace,
            patience_max: limits.body_grace,
            bytes_per_s: limits.body_rate_min.max(1),
            waiting_since: None,
            timer: Timer::default(),
        }
    }

    /// Passes over a body that nobody asked for: one that is left unread when the connection ends takes the answer with
    /// it. What is longer than anybody sends by mistake is left.
    pub(super) async fn pass_over(&mut self) {
        let mut bytes = 0;
        while bytes < PASSED_OVER_MAX
            && let Some(Ok(frame)) = poll_fn(|cx| Pin::new(&mut *self).poll_frame(cx)).await
        {
            bytes += frame.data_ref().map_or(0, Bytes::len);
        }
    }

    /// Uses up what was waited and adds what bytes earned.
    fn got(&mut self, bytes: usize) {
        if let Some(since) = self.waiting_since.take() {
            self.patience = self.patience.saturating_sub(since.elapsed());
            self.phase.works();
        }
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let earned = Duration::from_micros(bytes.saturating_mul(1_000_000) / self.bytes_per_s);
        self.patience = (self.patience + earned).min(self.patience_max);
    }
}

impl hyper::body::Body for Paced {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let paced = &mut *self;
        match Pin::new(&mut paced.body).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                paced.got(frame.data_ref().map_or(0, Bytes::len));
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(BodyError::Connection(error)))),
            Poll::Ready(None) => {
                paced.got(0);
                Poll::Ready(None)
            }
            Poll::Pending => {
                let since = *paced.waiting_since.get_or_insert_with(Instant::now);
                paced.phase.waits_for_body();
                if paced.timer.is_over(cx, since + paced.patience) {
                    return Poll::Ready(Some(Err(BodyError::Slow)));
                }
                Poll::Pending
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Paced {
    fn drop(&mut self) {
        if self.waiting_since.is_some() {
            self.phase.works();
        }
    }
}

impl Answer {
    pub(super) fn new(body: Body, phase: Phase) -> Self {
        Answer { body, phase }
    }
}

impl hyper::body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.phase.rests();
    }
}
