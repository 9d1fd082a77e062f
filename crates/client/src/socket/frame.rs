//! Frames as they are written: one string each, the document in it as it was given.

use std::fmt::Write;
use std::time::Duration;

use message::{DeliveryId, format_duration};

use crate::{Nack, SocketSend};

/// A frame without its document is never longer, but for keys and reasons.
const FRAME_BYTES: usize = 128;

/// A frame while it is written.
pub(crate) struct Writing(String);

impl Writing {
    pub(crate) fn send(reference: u64, document: &str, how: &SocketSend<'_>) -> String {
        let mut frame = Writing::new("send", FRAME_BYTES + document.len());
        frame.raw(",\"ref\":\"", reference);
        frame.0.push('"');
        frame.word("dialect", how.dialect.map(message::Dialect::name));
        frame.word("wait", how.wait.map(format_duration).as_deref());
        frame.text("key", how.key);
        frame.raw(",\"document\":", document);
        frame.end()
    }

    pub(crate) fn credit(count: u32) -> String {
        let mut frame = Writing::new("credit", FRAME_BYTES);
        frame.raw(",\"n\":", count);
        frame.end()
    }

    pub(crate) fn settle(op: &str, delivery: DeliveryId) -> String {
        Writing::of(op, delivery).end()
    }

    pub(crate) fn nack(delivery: DeliveryId, nack: &Nack) -> String {
        let mut frame = Writing::of("nack", delivery);
        frame.text("reason", nack.reason.as_deref());
        frame.word("delay", nack.delay.map(format_duration).as_deref());
        if nack.last {
            frame.raw(",\"retryable\":", false);
        }
        frame.end()
    }

    pub(crate) fn extend(delivery: DeliveryId, lease: Duration) -> String {
        let mut frame = Writing::of("extend", delivery);
        frame.word("lease", Some(&format_duration(lease)));
        frame.end()
    }

    fn of(op: &str, delivery: DeliveryId) -> Self {
        let mut frame = Writing::new(op, FRAME_BYTES);
        frame.raw(",\"delivery\":\"", delivery);
        frame.0.push('"');
        frame
    }

    fn new(op: &str, bytes: usize) -> Self {
        let mut frame = String::with_capacity(bytes);
        frame.push_str("{\"op\":\"");
        frame.push_str(op);
        frame.push('"');
        Writing(frame)
    }

    fn raw(&mut self, before: &str, value: impl std::fmt::Display) {
        write!(self.0, "{before}{value}").expect("writing to a string does not fail");
    }

    /// Adds a word of ours, which needs no escapes.
    fn word(&mut self, key: &str, word: Option<&str>) {
        if let Some(word) = word {
            write!(self.0, ",\"{key}\":\"{word}\"").expect("writing to a string does not fail");
        }
    }

    fn text(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            write!(self.0, ",\"{key}\":").expect("writing to a string does not fail");
            json::write_string(&mut self.0, text).expect("writing to a string does not fail");
        }
    }

    fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}
