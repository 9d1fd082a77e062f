//! The one place where real time is looked at: what runs beside a real process lives in real time.

use std::time::Instant;

/// Returns the time.
#[expect(clippy::disallowed_methods, reason = "a real process is watched, so real time counts")]
pub fn now() -> Instant {
    Instant::now()
}
