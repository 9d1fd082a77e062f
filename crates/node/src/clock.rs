//! The clocks of a node, and its randomness.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use broker::{Random, Time};

/// Where a node takes its time from.
pub trait Clock: Send + Sync + 'static {
    /// Returns how long ago some fixed moment was; it never goes back.
    fn steady(&self) -> Duration;

    /// Returns what the wall clock shows; it may jump.
    fn wall(&self) -> Time;
}

/// The machine's own clocks.
pub struct SystemClock {
    start: Instant,
}

/// The bus's time: steady, and anchored to the later of the wall clock and the last time in the log.
#[derive(Clone)]
pub(crate) struct BusTime {
    anchor: Time,
    steady_at_anchor: Duration,
}

/// The system's randomness, fetched in pieces.
pub(crate) struct SystemRandom {
    pool: [u8; POOL_BYTES],
    used: usize,
}

const POOL_BYTES: usize = 4_096;

impl SystemClock {
    /// Starts to count.
    #[expect(clippy::disallowed_methods, reason = "this is where real time comes in")]
    pub fn new() -> Self {
        SystemClock { start: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        SystemClock::new()
    }
}

impl Clock for SystemClock {
    fn steady(&self) -> Duration {
        self.start.elapsed()
    }

    #[expect(clippy::disallowed_methods, reason = "this is where real time comes in")]
    fn wall(&self) -> Time {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Time(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX))
    }
}

impl BusTime {
    pub(crate) fn new(clock: &dyn Clock, last: Time) -> Self {
        BusTime { anchor: clock.wall().max(last), steady_at_anchor: clock.steady() }
    }

    pub(crate) fn now(&self, clock: &dyn Clock) -> Time {
        let passed = clock.steady().saturating_sub(self.steady_at_anchor);
        self.anchor.plus_ms(u64::try_from(passed.as_millis()).unwrap_or(u64::MAX))
    }
}

impl SystemRandom {
    pub(crate) fn new() -> Self {
        SystemRandom { pool: [0; POOL_BYTES], used: POOL_BYTES }
    }
}

impl Random for SystemRandom {
    fn next(&mut self) -> u64 {
        if self.used + size_of::<u64>() > POOL_BYTES {
            getrandom::fill(&mut self.pool).expect("a machine without randomness cannot make ids");
            self.used = 0;
        }
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.pool[self.used..self.used + 8]);
        self.used += 8;
        u64::from_le_bytes(bytes)
    }
}
