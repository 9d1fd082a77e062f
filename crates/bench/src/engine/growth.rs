//! Growth: what one message costs while few or many wait, and among few or many recipients.

use super::bus::Bus;
use super::load::{Crowd, Tasks};
use crate::figures::{self, Pace, Series, Timing};
use crate::findings::{Aim, Finding};
use crate::progress::progress;
use crate::ring::Scale;

/// Messages that are taken in, handed out and settled together.
const CYCLE: u32 = 16;
/// Messages until what is over is forgotten as fast as it comes.
const WARM_UP: u64 = 110_000;
const SENDERS: u32 = 10;
const TASKS: Tasks = Tasks::Half(4_096);
const FLAT: &[Aim] = &[Aim::AtMost(2.0)];

/// The sizes at which it is measured.
struct Sizes {
    /// How many wait, for this many recipients.
    waiting: (Vec<u64>, u32),
    /// How many recipients there are, for whom this many wait.
    recipients: (Vec<u32>, u64),
    warm_up: u64,
}

/// One size, by rounds.
struct Point {
    title: String,
    bus: Bus,
    timings: Vec<Timing>,
}

/// Measures every size in turn, round by round.
pub(crate) fn measure(
    rounds: usize,
    pace: Pace,
    scale: Scale,
) -> anyhow::Result<(Vec<Finding>, Vec<Timing>)> {
    let sizes = Sizes::of(scale);
    let mut by_waiting = Vec::new();
    for waiting in sizes.waiting.0 {
        by_waiting.push(Point::make(waiting, sizes.waiting.1, sizes.warm_up)?);
    }
    let mut by_recipients = Vec::new();
    for recipients in sizes.recipients.0 {
        by_recipients.push(Point::make(sizes.recipients.1, recipients, sizes.warm_up)?);
    }
    for round in 1..=rounds {
        progress(format_args!("growth, round {round} of {rounds}"));
        for point in by_waiting.iter_mut().chain(&mut by_recipients) {
            let timing = figures::quietest(|| point.bus.time_cycles(CYCLE, pace))?;
            point.timings.push(timing);
        }
    }
    let findings = findings("waiting", &by_waiting).chain(findings("recipients", &by_recipients)).collect();
    let timings = by_waiting.iter().chain(&by_recipients).flat_map(|point| point.timings.clone()).collect();
    Ok((findings, timings))
}

impl Sizes {
    fn of(scale: Scale) -> Self {
        match scale {
            Scale::Full => Sizes {
                waiting: (vec![1_000, 10_000, 100_000, 1_000_000], 100),
                recipients: (vec![10, 100, 1_000, 10_000, 100_000], 100_000),
                warm_up: WARM_UP,
            },
            Scale::Tiny => {
                Sizes { waiting: (vec![10, 100], 10), recipients: (vec![10, 20], 20), warm_up: 100 }
            }
        }
    }
}

impl Point {
    fn make(waiting: u64, recipients: u32, warm_up: u64) -> anyhow::Result<Self> {
        let title = format!("{waiting} waiting, {recipients} recipients");
        progress(format_args!("preparing {title}"));
        let mut bus = Bus::new(Crowd { senders: SENDERS, recipients }, TASKS, &mut |_, _, _| {})?;
        bus.fill(waiting, &mut |_, _, _| {})?;
        bus.time_cycles(CYCLE, Pace::Passes(warm_up.div_ceil(CYCLE.into())))?;
        Ok(Point { title, bus, timings: Vec::new() })
    }
}

/// What a message costs at each size, and how much more at the largest than at the smallest.
fn findings(what: &str, points: &[Point]) -> impl Iterator<Item = Finding> {
    let ratio = points.first().zip(points.last()).map(|(first, last)| {
        let ratio = Series::ratio_by(&first.timings, &last.timings, Timing::ns_per_record);
        Finding::new(format!("most {what} / fewest {what}"), "", ratio).aiming(FLAT)
    });
    let costs = points.iter().map(|point| {
        Finding::new(point.title.clone(), "ns/message", Series::by(&point.timings, Timing::ns_per_record))
    });
    costs.chain(ratio).collect::<Vec<_>>().into_iter()
}
