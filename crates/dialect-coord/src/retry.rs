//! Retries: how often and after which pauses.
//!
//! Nothing here draws random numbers: jitter is a share that the caller gives.

use std::time::Duration;

use dialect::{FINDINGS_MAX, Strictness};
use json::{Findings, Number, Path, Value};
use message::codes;

use crate::interfaces::RETRY_CONFIG;

/// How failed deliveries are tried again: `RetryConfig` of the specification.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryConfig {
    /// How often a message is tried in all, the first time included.
    pub max_attempts: u32,
    /// The first pause.
    pub base_delay: Duration,
    /// The longest pause.
    pub max_delay: Duration,
    /// By how much each pause is longer than the one before.
    pub backoff_multiplier: f64,
    /// Whether a pause is cut by chance.
    pub jitter: bool,
}

impl Default for RetryConfig {
    fn default() -> Self {
        RetryConfig {
            max_attempts: 5,
            base_delay: Duration::from_secs(1),
            max_delay: Duration::from_secs(30),
            backoff_multiplier: 2.0,
            jitter: true,
        }
    }
}

impl RetryConfig {
    /// Reads a configuration; what is absent has its default.
    pub fn from_value(value: &Value<'_>) -> Result<Self, Findings> {
        let (mut errors, mut warnings) = (Findings::new(FINDINGS_MAX), Findings::new(FINDINGS_MAX));
        let Value::Object(object) = value else {
            let found = value.type_name();
            errors.schema(&Path::ROOT, codes::TYPE, || format!("expected an object, found {found}"));
            return Err(errors);
        };
        RETRY_CONFIG.check(object, &Path::ROOT, Strictness::Tolerant, &mut errors, &mut warnings);
        if !errors.is_empty() {
            return Err(errors);
        }
        let default = RetryConfig::default();
        let figure = |key| object.get(key).and_then(Value::as_number).map(Number::as_f64);
        let attempts = object.get("max_attempts").and_then(Value::as_integer);
        Ok(RetryConfig {
            max_attempts: attempts.and_then(|count| count.try_into().ok()).unwrap_or(default.max_attempts),
            base_delay: figure("base_delay_ms").map_or(default.base_delay, milliseconds),
            max_delay: figure("max_delay_ms").map_or(default.max_delay, milliseconds),
            backoff_multiplier: figure("backoff_multiplier").unwrap_or(default.backoff_multiplier),
            jitter: object.get("jitter").and_then(Value::as_bool).unwrap_or(default.jitter),
        })
    }
}

/// Returns the pause after the attempt of that number, counted from 1, without jitter.
pub fn backoff(config: &RetryConfig, attempt: u32) -> Duration {
    if config.base_delay.is_zero() {
        return Duration::ZERO;
    }
    let grown = f64::from(attempt.saturating_sub(1));
    let pause = config.base_delay.as_secs_f64() * config.backoff_multiplier.powf(grown);
    Duration::try_from_secs_f64(pause).unwrap_or(Duration::MAX).min(config.max_delay)
}

/// Returns that pause cut to a share of it between 0 and 1, if the configuration wants jitter.
pub fn backoff_with_jitter(config: &RetryConfig, attempt: u32, share: f64) -> Duration {
    let pause = backoff(config, attempt);
    if !config.jitter || !(0.0..1.0).contains(&share) {
        return pause;
    }
    pause.mul_f64(share)
}

/// Returns how often a message is tried again: as often as both the configuration and the message allow.
pub fn effective_retries(config: &RetryConfig, max_retries: u32) -> u32 {
    config.max_attempts.saturating_sub(1).min(max_retries)
}

/// Beyond the longest duration every pause is the longest.
fn milliseconds(milliseconds: f64) -> Duration {
    Duration::try_from_secs_f64(milliseconds / 1_000.0).unwrap_or(Duration::MAX)
}
