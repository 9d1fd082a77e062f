//! Reading the log for a subscriber: where to begin, and the writes behind a place.

use std::ops::ControlFlow;

use broker::Event;
use gateway::Hub;
use log::{Entry, ReadError, Reader};
use message::Seq;
use tokio::task::spawn_blocking;

/// Writes that are read at a time, and their bytes.
const EVENTS_MAX: usize = 256;
pub(super) const BYTES_MAX: usize = 1 << 20;
/// Places of the log that are looked at, at a time.
const LOOKED_MAX: u64 = 16_384;
/// By how much the ticks of writes may be ahead of the clock, in milliseconds.
const AHEAD_MS: u64 = 1_000;

/// Writes of a part of the log, as it holds them.
pub(super) struct Piece {
    pub(super) events: Vec<Vec<u8>>,
    /// Up to where was looked.
    pub(super) upto: Seq,
    /// Whether there is more.
    pub(super) is_behind: bool,
    /// Whether what came next was trimmed, and is passed over.
    pub(super) is_cut: bool,
}

/// Returns the place behind which a subscriber begins: the end, or a little before its cursor.
pub(super) async fn begin(hub: &Hub, cursor: Option<u64>) -> Seq {
    let durable = hub.node().durable();
    let Some(cursor) = cursor else { return durable };
    let node = hub.node().clone();
    let wanted_ms = (cursor / 1_000).saturating_sub(AHEAD_MS);
    let found = spawn_blocking(move || {
        let reader = node.reader();
        // Times in the log only grow, so the place is found by halving.
        let (mut before, mut behind) = (Seq(0), Seq(durable.0 + 1));
        while behind.0 - before.0 > 1 {
            let middle = Seq(before.0 + (behind.0 - before.0) / 2);
            match reader.read(middle) {
                Ok(bytes) if is_earlier(&bytes, wanted_ms) => before = middle,
                Ok(_) => behind = middle,
                // What is gone was before what is there.
                Err(ReadError::Trimmed { first, .. }) => {
                    before = Seq(first.0.saturating_sub(1).max(middle.0))
                }
                Err(ReadError::Missing { last, .. }) => before = last.max(middle),
                Err(_) => behind = middle,
            }
        }
        before
    });
    found.await.unwrap_or(durable).min(durable)
}

fn is_earlier(bytes: &[u8], wanted_ms: u64) -> bool {
    Event::decode(bytes).is_ok_and(|(at, _)| at.0 < wanted_ms)
}

/// Reads the next writes behind a place, as far as they are durable.
pub(super) async fn read(hub: &Hub, after: Seq) -> Option<Piece> {
    let durable = hub.node().durable();
    if after >= durable {
        return Some(Piece { events: Vec::new(), upto: after, is_behind: false, is_cut: false });
    }
    let reader = hub.node().reader();
    let read = spawn_blocking(move || {
        let mut piece = Piece { events: Vec::new(), upto: after, is_behind: true, is_cut: false };
        let to = durable.min(Seq(after.0.saturating_add(LOOKED_MAX)));
        let mut bytes_read = 0;
        let scanned = reader.scan(Seq(after.0 + 1), to, &mut |entry| {
            match entry {
                Entry::Gap { last, .. } => piece.upto = last.min(to),
                Entry::Record { seq, bytes, .. } => {
                    piece.upto = seq;
                    if Event::is_of_record(bytes) {
                        bytes_read += bytes.len();
                        piece.events.push(bytes.to_vec());
                    }
                }
            }
            let is_full = piece.events.len() >= EVENTS_MAX || bytes_read >= BYTES_MAX;
            if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match scanned {
            Ok(()) => {}
            Err(ReadError::Trimmed { first, .. }) if first.0 > after.0 + 1 => {
                (piece.upto, piece.is_cut) = (Seq(first.0 - 1), true);
            }
            Err(error) => {
                tracing::error!("the stream cannot read the log: {error}");
                return None;
            }
        }
        piece.is_behind = piece.upto < durable;
        Some(piece)
    });
    read.await.ok()?
}
