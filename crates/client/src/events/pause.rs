//! How long to wait before the next try: longer each time, and never in step with others.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(5);

/// The pause before the next try.
pub(super) struct Pause {
    next: Duration,
}

impl Pause {
    pub(super) fn new() -> Self {
        Pause { next: FIRST }
    }

    /// Starts again with short pauses.
    pub(super) fn reset(&mut self) {
        self.next = FIRST;
    }

    /// Returns the next pause: between half of it and all of it, so that those who were cut off together do not
    /// come back together.
    pub(super) fn next(&mut self) -> Duration {
        let whole = self.next;
        self.next = (whole * 2).min(LONGEST);
        // The standard library seeds each of these at random; that is all the chance that is needed here.
        let chance = u32::try_from(RandomState::new().hash_one(0) % 1_000).unwrap_or(0);
        whole / 2 + whole / 2 * chance / 1_000
    }
}
