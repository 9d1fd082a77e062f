//! What a server costs that does nothing: its memory, and the time until it answers.

use super::Bench;
use super::clock::pause;
use super::server::Kind;
use crate::figures::Series;
use crate::findings::{Aim, Finding};
use crate::progress::progress;

use std::time::Duration;

pub(crate) const NAME: &str = "T11";
pub(crate) const TITLE: &str = "T11: an empty server that does nothing";

const KINDS: [Kind; 3] = [Kind::Ours, Kind::NatsAlways, Kind::RedisAlways];
/// What is done after the start is done by then.
const SETTLE: Duration = Duration::from_millis(500);
const MIB: f64 = (1 << 20) as f64;

const RESIDENT: &[Aim] = &[Aim::AtMost(25.0), Aim::AtMost(15.0)];
const START: &[Aim] = &[Aim::AtMost(50.0), Aim::AtMost(15.0)];

pub(crate) fn measure(bench: &mut Bench<'_>) -> anyhow::Result<Vec<Finding>> {
    let mut starts: [Vec<f64>; KINDS.len()] = Default::default();
    let mut memories: [Vec<f64>; KINDS.len()] = Default::default();
    for round in 0..bench.rounds {
        progress(format_args!("{NAME}, round {} of {}", round + 1, bench.rounds));
        for turn in 0..KINDS.len() {
            let place = (round + turn) % KINDS.len();
            bench.quiet.wait();
            let server = bench.start(KINDS[place])?;
            pause(SETTLE);
            starts[place].push(server.start.as_secs_f64() * 1e3);
            memories[place].extend(server.resident_bytes().map(|bytes| bytes as f64 / MIB));
        }
    }
    let mut findings = Vec::new();
    for (place, kind) in KINDS.iter().enumerate() {
        let series = Series::of(memories[place].iter().copied());
        let finding = Finding::new(format!("{}, memory", kind.title()), "MiB", series);
        findings.push(if *kind == Kind::Ours { finding.aiming(RESIDENT) } else { finding });
    }
    for (place, kind) in KINDS.iter().enumerate() {
        let series = Series::of(starts[place].iter().copied());
        let finding = Finding::new(format!("{}, until it answers", kind.title()), "ms", series);
        findings.push(if *kind == Kind::Ours { finding.aiming(START) } else { finding });
    }
    Ok(findings)
}
