//! The pauses between tries, by the vectors of the dialects and at the edges.

use message::Backoff;
use proptest::prelude::*;

use crate::Retries;
use crate::retry::pause_ms;
use crate::tests::settings::cases;

fn retries(base_ms: u64, pause_ms_max: u64, multiplier: f64) -> Retries {
    Retries { base_ms, multiplier, pause_ms_max, retries_max: 10, retries: 3, jitter: false }
}

#[test]
fn pauses_are_those_of_the_dialects() {
    use Backoff::{Exponential, Linear};
    // Base, cap, multiplier, kind, the pauses.
    let cases: [(u64, u64, f64, Backoff, &[u64]); 8] = [
        (1_000, 30_000, 2.0, Exponential, &[1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]),
        (1_000, 30_000, 2.0, Linear, &[1_000, 2_000, 3_000, 4_000]),
        (100, 2_000, 2.0, Exponential, &[100, 200, 400, 800, 1_600, 2_000]),
        (1_000, 3_000, 3.0, Exponential, &[1_000, 3_000, 3_000]),
        (1_000, 2_500, 2.0, Linear, &[1_000, 2_000, 2_500, 2_500]),
        (0, 30_000, 2.0, Exponential, &[0, 0, 0]),
        (5_000, 1_000, 2.0, Exponential, &[1_000, 1_000]),
        // What shrinks would try ever faster.
        (1_000, 30_000, 0.5, Exponential, &[1_000, 1_000, 1_000]),
    ];
    for (base_ms, cap, multiplier, backoff, expected) in cases {
        let found: Vec<u64> = (1..=expected.len() as u32)
            .map(|attempt| pause_ms(&retries(base_ms, cap, multiplier), backoff, attempt, 12_345))
            .collect();
        assert_eq!(found, expected, "{base_ms} {cap} {multiplier} {backoff}");
    }
}

#[test]
fn no_figure_is_too_large() {
    for backoff in [Backoff::Exponential, Backoff::Linear] {
        for multiplier in [f64::INFINITY, f64::NAN, f64::MAX, -1.0, 1e308] {
            let huge = retries(u64::MAX, 30_000, multiplier);
            assert_eq!(pause_ms(&huge, backoff, u32::MAX, 0), 30_000, "{backoff} {multiplier}");
            let one = retries(1, 30_000, multiplier);
            assert!(pause_ms(&one, backoff, u32::MAX, 0) <= 30_000);
        }
    }
    assert_eq!(pause_ms(&retries(1_000, 30_000, 2.0), Backoff::Exponential, 0, 0), 1_000);
    let all = Retries { jitter: true, ..retries(u64::MAX, u64::MAX, 2.0) };
    assert!(pause_ms(&all, Backoff::Linear, 2, u64::MAX) < u64::MAX, "the widest jitter has no overflow");
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn jitter_only_shortens(chance: u64, attempt in 1_u32..12, base_ms in 0_u64..5_000) {
        let plain = retries(base_ms, 30_000, 2.0);
        let jittered = Retries { jitter: true, ..plain.clone() };
        let longest = pause_ms(&plain, Backoff::Exponential, attempt, chance);
        prop_assert!(pause_ms(&jittered, Backoff::Exponential, attempt, chance) <= longest);
        prop_assert_eq!(pause_ms(&jittered, Backoff::Exponential, attempt, longest), longest, "the whole pause is possible");
        prop_assert_eq!(pause_ms(&jittered, Backoff::Exponential, attempt, 0), 0, "and none");
    }
}
