//! How often commands are started: at most so many within any minute.

use std::collections::VecDeque;
use std::time::Duration;

const WINDOW: Duration = Duration::from_secs(60);

/// Counts what was started. Time is an argument: any that never goes back.
#[derive(Clone, Debug)]
pub struct Pace {
    per_minute: Option<usize>,
    starts: VecDeque<Duration>,
}

impl Pace {
    /// Allows so many a minute, at least one, or any number.
    pub fn new(per_minute: Option<usize>) -> Self {
        Pace { per_minute: per_minute.map(|count| count.max(1)), starts: VecDeque::new() }
    }

    /// Returns how long to wait before the next start; nothing if it may be now.
    pub fn wait(&mut self, now: Duration) -> Option<Duration> {
        let count_max = self.per_minute?;
        while self.starts.front().is_some_and(|first| now.saturating_sub(*first) >= WINDOW) {
            self.starts.pop_front();
        }
        let first = self.starts.front().filter(|_| self.starts.len() >= count_max)?;
        Some(WINDOW.saturating_sub(now.saturating_sub(*first)))
    }

    /// Notes a start.
    pub fn note(&mut self, now: Duration) {
        if self.per_minute.is_some() {
            self.starts.push_back(now);
        }
    }
}
