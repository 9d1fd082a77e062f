//! Time as the broker counts it.

use std::fmt;

use message::Timestamp;

/// An instant in whole milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// Later than everything that happens: no limit.
    pub const NEVER: Time = Time(u64::MAX);

    /// Returns the instant that much later; `NEVER` if there is none.
    #[must_use]
    pub fn plus_ms(self, ms: u64) -> Time {
        Time(self.0.saturating_add(ms))
    }

    /// Returns the milliseconds since an earlier instant; 0 if that one is later.
    pub fn ms_since(self, earlier: Time) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Returns the instant as receipts show it; what a calendar cannot show is its last day.
    pub fn timestamp(self) -> Timestamp {
        let micros = i64::try_from(self.0).ok().and_then(|ms| ms.checked_mul(1_000));
        micros.and_then(|micros| Timestamp::from_unix_micros(micros).ok()).unwrap_or(Timestamp::MAX)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}
