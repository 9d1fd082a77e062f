//! Timings and what is made of them: passes until the time is up, medians, ratios of one round.

use std::convert::Infallible;
use std::time::{Duration, Instant};

/// A measure counts as quiet when its thread held a processor for this part of the time.
const QUIET_SHARE: f64 = 0.95;
/// How often a measure is tried until it is quiet; other work on the machine may not end at all.
const TRIES_MAX: usize = 3;

/// What one measure of one round took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Timing {
    pub(crate) records: u64,
    pub(crate) wall: Duration,
    /// How long the thread held a processor, where the system tells.
    pub(crate) processor: Option<Duration>,
}

/// How long to go on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pace {
    /// Until so much time has passed.
    For(Duration),
    /// So many times.
    Passes(u64),
}

/// The same figure of several rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Series {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

/// Does the work again and again and times it; each pass deals with that many records.
pub(crate) fn run(pace: Pace, records_per_pass: usize, mut pass: impl FnMut()) -> Timing {
    let Ok(timing) = try_run::<Infallible>(pace, records_per_pass, || {
        pass();
        Ok(())
    });
    timing
}

/// Does work that can fail again and again and times it, until the first failure.
pub(crate) fn try_run<E>(
    pace: Pace,
    records_per_pass: usize,
    mut pass: impl FnMut() -> Result<(), E>,
) -> Result<Timing, E> {
    let processor_at_start = processor_time();
    let start = now();
    let mut passes: u64 = 0;
    let wall = loop {
        pass()?;
        passes += 1;
        let wall = start.elapsed();
        let done = match pace {
            Pace::For(duration) => wall >= duration,
            Pace::Passes(count) => passes >= count,
        };
        if done {
            break wall;
        }
    };
    let held = |(start, end): (Duration, Duration)| end.saturating_sub(start);
    let processor = processor_at_start.zip(processor_time()).map(held);
    // The system counts by ticks: nothing at all means that it cannot tell.
    let processor = processor.filter(|processor| !processor.is_zero());
    Ok(Timing { records: passes * records_per_pass as u64, wall, processor })
}

/// Times work that is done once.
pub(crate) fn once<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(T, Duration), E> {
    let start = now();
    let done = work()?;
    Ok((done, start.elapsed()))
}

/// How long this thread has held a processor until now; nothing where the system does not tell.
pub(crate) fn processor_seconds() -> Option<f64> {
    processor_time().map(|time| time.as_secs_f64())
}

/// Measures until the machine was quiet, a few times at most, and keeps the quietest.
pub(crate) fn quietest(mut measure: impl FnMut() -> anyhow::Result<Timing>) -> anyhow::Result<Timing> {
    let mut best = measure()?;
    for _ in 1..TRIES_MAX {
        if best.is_quiet() {
            break;
        }
        let next = measure()?;
        if next.share() > best.share() {
            best = next;
        }
    }
    Ok(best)
}

impl Timing {
    /// What one record costs: processor time where the system tells it, since others may use the machine
    /// too, else wall time.
    pub(crate) fn ns_per_record(&self) -> f64 {
        self.per_record(self.processor.unwrap_or(self.wall))
    }

    /// How long one record takes, with whatever else the machine did meanwhile.
    pub(crate) fn wall_ns_per_record(&self) -> f64 {
        self.per_record(self.wall)
    }

    /// How many records a second, with whatever else the machine did meanwhile.
    pub(crate) fn rate(&self) -> f64 {
        self.records as f64 / self.wall.as_secs_f64()
    }

    fn per_record(&self, time: Duration) -> f64 {
        time.as_nanos() as f64 / self.records.max(1) as f64
    }

    /// The part of the time in which the thread held a processor; 1 where the system does not tell.
    pub(crate) fn share(&self) -> f64 {
        match self.processor {
            Some(processor) => (processor.as_secs_f64() / self.wall.as_secs_f64()).min(1.0),
            None => 1.0,
        }
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.share() >= QUIET_SHARE
    }
}

impl Series {
    /// Sums up the figures of the rounds, of which there is at least one.
    pub(crate) fn of(figures: impl IntoIterator<Item = f64>) -> Self {
        let mut figures: Vec<f64> = figures.into_iter().collect();
        figures.sort_by(f64::total_cmp);
        let middle = figures.len() / 2;
        let median = match figures.len() {
            0 => f64::NAN,
            count if count.is_multiple_of(2) => f64::midpoint(figures[middle - 1], figures[middle]),
            _ => figures[middle],
        };
        let edge = |figure: Option<&f64>| figure.copied().unwrap_or(f64::NAN);
        Series { median, min: edge(figures.first()), max: edge(figures.last()) }
    }

    /// Sums up one figure of each round.
    pub(crate) fn by(timings: &[Timing], figure: fn(&Timing) -> f64) -> Self {
        Series::of(timings.iter().map(figure))
    }

    /// How many times longer the peer takes, by rounds: what disturbs one round disturbs both sides of it.
    pub(crate) fn ratio_by(ours: &[Timing], peer: &[Timing], figure: fn(&Timing) -> f64) -> Self {
        Series::of(ours.iter().zip(peer).map(|(ours, peer)| figure(peer) / figure(ours)))
    }
}

#[expect(clippy::disallowed_methods, reason = "real time is what is measured here")]
fn now() -> Instant {
    Instant::now()
}

/// How long this thread has held a processor.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
