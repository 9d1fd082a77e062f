//! A line to a peer: bytes in and out, and an end for whoever keeps us waiting.

use std::future::Future;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::futures::OwnedNotified;
use tokio::time::Instant;

use crate::serve::ServeLimits;
use crate::serve::table::{Phase, Slot};
use crate::serve::timer::Timer;

/// A connection with its place. It fails when its peer is silent for too long, takes nothing for too long, or when
/// its place is given away.
pub(super) struct Line<S> {
    stream: S,
    phase: Phase,
    cut: Pin<Box<OwnedNotified>>,
    is_cut: bool,
    read_timer: Timer,
    write_timer: Timer,
    /// Since when the peer takes nothing.
    stalled_since: Option<Instant>,
    head_timeout: Duration,
    idle_timeout: Duration,
    write_timeout: Duration,
    /// Given back after the stream is closed.
    _slot: Slot,
}

impl<S> Line<S> {
    pub(super) fn new(stream: S, slot: Slot, limits: &ServeLimits) -> Self {
        Line {
            stream,
            phase: slot.phase(),
            cut: Box::pin(slot.cut().notified_owned()),
            is_cut: false,
            read_timer: Timer::default(),
            write_timer: Timer::default(),
            stalled_since: None,
            head_timeout: limits.head_timeout,
            idle_timeout: limits.idle_timeout,
            write_timeout: limits.write_timeout,
            _slot: slot,
        }
    }

    /// Passes on how far writing got, unless it gets no further for too long.
    fn unless_stalled<T>(
        &mut self,
        cx: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.stalled_since = None;
            return polled;
        }
        let since = *self.stalled_since.get_or_insert_with(Instant::now);
        if self.write_timer.is_over(cx, since + self.write_timeout) {
            return Poll::Ready(Err(ErrorKind::TimedOut.into()));
        }
        Poll::Pending
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Line<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let line = &mut *self;
        if let Poll::Ready(read) = Pin::new(&mut line.stream).poll_read(cx, buf) {
            line.phase.hears();
            return Poll::Ready(read);
        }
        // A notification is heard once, and this may be polled again.
        if line.is_cut || line.cut.as_mut().poll(cx).is_ready() {
            line.is_cut = true;
            return Poll::Ready(Err(ErrorKind::ConnectionAborted.into()));
        }
        match line.phase.read_by(line.head_timeout, line.idle_timeout) {
            Some(deadline) if line.read_timer.is_over(cx, deadline) => {
                Poll::Ready(Err(ErrorKind::TimedOut.into()))
            }
            Some(_) | None => Poll::Pending,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Line<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.unless_stalled(cx, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.unless_stalled(cx, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(cx);
        self.unless_stalled(cx, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.unless_stalled(cx, polled)
    }
}
