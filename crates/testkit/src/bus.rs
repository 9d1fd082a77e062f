//! A bus as tests want it: generous limits, quick retries.

use broker::{Limits, Retries, Settings};

/// Returns settings that refuse nothing that a test does by the way. A test of a limit sets that one.
pub fn broker_settings() -> Settings {
    let limits = Limits {
        agents_max: 100,
        groups_max: 100,
        memberships_max: 10,
        sessions_max: 10,
        aliases_max: 10,
        recipients_max: 10,
        fallbacks_max: 10,
        hops_max: 8,
        body_bytes_max: 1 << 20,
        queue_max: 100_000,
        queue_bytes_max: 1 << 30,
        messages_max: 1_000_000,
        bytes_max: 1 << 32,
        held_max: 100,
        held_ms_max: 1_000_000,
        lease_ms_min: 1_000,
        lease_ms_max: 86_400_000,
        text_bytes_max: 256,
        take_max: 1_000,
        records_max: 1_000,
        tasks_max: 1_000,
    };
    let retries = Retries {
        base_ms: 1_000,
        multiplier: 2.0,
        pause_ms_max: 30_000,
        retries_max: 10,
        retries: 3,
        jitter: true,
    };
    Settings { limits, retries, turns_warn: 30, turns_park: None }
}
