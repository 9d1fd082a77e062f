//! How a bus is set up when nobody says otherwise.

use std::path::Path;

use broker::{Limits, Retention, Retries};
use log::Options;

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
const GIB: u64 = 1 << 30;

/// Returns the settings of a bus that keeps its log in a data folder. The seed is for a new log.
pub(crate) fn usual(data: &Path, seed: u64) -> node::Settings {
    let limits = Limits {
        agents_max: 100_000,
        groups_max: 100_000,
        memberships_max: 1_000,
        sessions_max: 1_000,
        aliases_max: 16,
        recipients_max: 1_000,
        fallbacks_max: 16,
        hops_max: 16,
        body_bytes_max: 8 << 20,
        queue_max: 100_000,
        queue_bytes_max: GIB,
        messages_max: 10_000_000,
        bytes_max: 64 * GIB,
        held_max: 10_000,
        held_ms_max: 7 * DAY_MS,
        lease_ms_min: 1_000,
        lease_ms_max: DAY_MS,
        text_bytes_max: 512,
        take_max: 1_000,
    };
    let retries = Retries {
        base_ms: 1_000,
        multiplier: 2.0,
        pause_ms_max: 30_000,
        retries_max: 100,
        retries: 5,
        jitter: true,
    };
    node::Settings {
        folder: data.join("log"),
        broker: broker::Settings { limits, retries, turns_warn: 30, turns_park: None },
        retention: Retention::USUAL,
        log: Options::standard(seed),
        calls_max: 65_536,
        snapshot_bytes: 256 << 20,
    }
}
