//! Pace: when to look again whether something of the log may go. Nobody looks without a reason.

use std::time::Duration;

use message::Seq;

/// How long after something stood in the way it is tried again.
const AGAIN: Duration = Duration::from_secs(1);
/// How many times as long as a trim took nothing more is trimmed, so that it is a small part of all work.
const REST: u32 = 10;
const REST_MAX: Duration = Duration::from_secs(60);

/// When to look.
#[derive(Default)]
pub struct Pace {
    /// The first record of the segment that was written to at the last look.
    seen: Option<Seq>,
    /// No look is made before.
    not_before: Duration,
    /// When there is a reason to look although no segment was begun since.
    due: Option<Duration>,
}

/// What a look came to.
pub enum Looked {
    /// Nothing more is to go before the oldest segment is too old, in so long, or another one is begun.
    Done(Option<Duration>),
    /// Something should go and could not.
    Hindered,
}

impl Pace {
    /// Returns how long nobody need look; nothing when that is so until another segment is begun.
    pub fn wait(&self, now: Duration, newest: Seq) -> Option<Duration> {
        let at = if self.seen == Some(newest) { self.due? } else { Duration::ZERO };
        Some(at.max(self.not_before).saturating_sub(now))
    }

    /// Notes a look.
    pub fn looked(&mut self, begun: Duration, now: Duration, newest: Seq, looked: &Looked) {
        self.seen = Some(newest);
        self.not_before = now + (now.saturating_sub(begun) * REST).min(REST_MAX);
        self.due = match looked {
            Looked::Done(wait) => wait.map(|wait| now + wait),
            Looked::Hindered => Some(now + AGAIN),
        };
    }
}
