//! Settings for tests: roomy limits, no jitter; and how long properties look for a counterexample.

use proptest::prelude::ProptestConfig;

use crate::{Limits, Retention, Retries, Settings};

/// Tries a property so many times, and a hundred times more often when there is time for it.
pub(crate) fn cases(count: u32) -> ProptestConfig {
    let times = if std::env::var_os("SLOW_TESTS").is_some() { 100 } else { 1 };
    ProptestConfig { cases: count * times, failure_persistence: None, ..ProptestConfig::default() }
}

/// Makes limits that nothing in an ordinary scenario meets.
pub(crate) fn roomy() -> Settings {
    let limits = Limits {
        agents_max: 1_000,
        groups_max: 1_000,
        memberships_max: 100,
        sessions_max: 8,
        aliases_max: 8,
        recipients_max: 16,
        fallbacks_max: 8,
        hops_max: 8,
        body_bytes_max: 1_000,
        queue_max: 1_000,
        queue_bytes_max: 1_000_000,
        messages_max: 10_000,
        bytes_max: 10_000_000,
        held_max: 100,
        held_ms_max: 86_400_000,
        lease_ms_min: 1_000,
        lease_ms_max: 86_400_000,
        text_bytes_max: 200,
        take_max: 100,
        records_max: 100,
        tasks_max: 1_000,
    };
    let retries = Retries {
        base_ms: 1_000,
        multiplier: 2.0,
        pause_ms_max: 30_000,
        retries_max: 10,
        retries: 3,
        jitter: false,
    };
    Settings { limits, retries, turns_warn: 30, turns_park: None }
}

/// Sets one setting by its name.
pub(crate) fn set(settings: &mut Settings, name: &str, value: &str) {
    let number = || value.parse::<u64>().unwrap_or_else(|_| panic!("`{name}={value}` is not a number"));
    let limits = &mut settings.limits;
    let retries = &mut settings.retries;
    match name {
        "agents_max" => limits.agents_max = number(),
        "groups_max" => limits.groups_max = number(),
        "memberships_max" => limits.memberships_max = number(),
        "sessions_max" => limits.sessions_max = number(),
        "aliases_max" => limits.aliases_max = number(),
        "recipients_max" => limits.recipients_max = number() as usize,
        "fallbacks_max" => limits.fallbacks_max = number() as usize,
        "hops_max" => limits.hops_max = number() as u8,
        "body_bytes_max" => limits.body_bytes_max = number(),
        "queue_max" => limits.queue_max = number(),
        "queue_bytes_max" => limits.queue_bytes_max = number(),
        "messages_max" => limits.messages_max = number(),
        "bytes_max" => limits.bytes_max = number(),
        "held_max" => limits.held_max = number(),
        "held_ms_max" => limits.held_ms_max = number(),
        "text_bytes_max" => limits.text_bytes_max = number() as usize,
        "take_max" => limits.take_max = number() as u32,
        "records_max" => limits.records_max = number(),
        "tasks_max" => limits.tasks_max = number(),
        "base_ms" => retries.base_ms = number(),
        "multiplier" => retries.multiplier = value.parse().expect("a multiplier is a number"),
        "pause_ms_max" => retries.pause_ms_max = number(),
        "retries_max" => retries.retries_max = number() as u32,
        "retries" => retries.retries = number() as u32,
        "jitter" => retries.jitter = value == "on",
        "turns_warn" => settings.turns_warn = number() as u32,
        "turns_park" => settings.turns_park = Some(number() as u32),
        _ => panic!("no setting is called `{name}`"),
    }
}

/// Sets one figure of what is remembered by its name.
pub(crate) fn tune(retention: &mut Retention, name: &str, value: &str) {
    let number = value.parse::<u64>().unwrap_or_else(|_| panic!("`{name}={value}` is not a number"));
    match name {
        "known_per_sender_max" => retention.known_per_sender_max = number,
        "known_max" => retention.known_max = number,
        "known_ms" => retention.known_ms = number,
        "content_ms" => retention.content_ms = number,
        "settled_max" => retention.settled_max = number,
        "dead_max" => retention.dead_max = number,
        _ => panic!("nothing remembered is called `{name}`"),
    }
}
