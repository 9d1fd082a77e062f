//! The wall clock: the command line is one of the few places where time comes in.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use message::{Timestamp, TimestampError};

/// Returns what time it is.
#[allow(
    clippy::disallowed_methods,
    reason = "somebody must read the clock; what depends on time takes it as an argument"
)]
pub(crate) fn now() -> Result<Timestamp, TimestampError> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Timestamp::from_unix_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
