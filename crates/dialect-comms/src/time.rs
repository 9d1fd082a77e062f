//! Times: how long a broadcast is wanted, and how an instant is written.

use std::time::Duration;

use json::{Object, Value};
use message::{Timestamp, WrittenTimestamp};

/// When a message was made that does not say so.
pub(crate) const EPOCH: &str = "1970-01-01T00:00:00Z";
/// The longest `ttlSeconds` of a broadcast.
const TTL_SECONDS_MAX: i64 = 604_800;

/// Returns when a broadcast is no longer wanted: at its expiry or when its time to live is over, whichever
/// comes first. A time to live of 0 sets no such time, see [`is_live_only`].
pub fn expiry_of(broadcast: &Object<'_>) -> Option<WrittenTimestamp> {
    let stated = written(broadcast, "expiresAt");
    let lived = written(broadcast, "createdAt")
        .zip(lifetime_ms(broadcast))
        .and_then(|(created, lifetime_ms)| created.at().checked_add(Duration::from_millis(lifetime_ms)));
    match (stated, lived) {
        (Some(stated), Some(lived)) if lived < stated.at() => Some(lived.into()),
        (Some(stated), _) => Some(stated),
        (None, lived) => lived.map(WrittenTimestamp::from),
    }
}

/// Tells whether a broadcast is only for those who listen now and must not be kept.
pub fn is_live_only(broadcast: &Object<'_>) -> bool {
    ttl_seconds(broadcast) == Some(0)
}

/// Returns how long a broadcast is wanted, where it says so.
pub(crate) fn lifetime_ms(broadcast: &Object<'_>) -> Option<u64> {
    let seconds = ttl_seconds(broadcast).filter(|seconds| *seconds > 0)?;
    u64::try_from(seconds).ok().map(|seconds| seconds * 1_000)
}

/// Writes an instant as the AT Protocol wants it: the sender's own text where that will do, else in UTC.
pub(crate) fn datetime(text: &str) -> Option<String> {
    if atproto_syntax::datetime::check(text).is_ok() {
        return Some(text.to_owned());
    }
    text.parse::<Timestamp>().ok().map(|at| at.to_string())
}

fn ttl_seconds(broadcast: &Object<'_>) -> Option<i64> {
    let seconds = broadcast.get("ttlSeconds").and_then(Value::as_integer)?;
    (0..=TTL_SECONDS_MAX).contains(&seconds).then_some(seconds)
}

fn written(object: &Object<'_>, key: &str) -> Option<WrittenTimestamp> {
    object.get(key).and_then(Value::as_str)?.parse().ok()
}
