//! What a node has done, for those who watch it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use broker::{Event, Next};

/// Upper ends of the steps in which durations are counted, in microseconds; each is about the double of the one
/// before it.
pub const STEPS_US: [u64; 16] = [
    50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 102_400, 204_800, 409_600,
    1_000_000, 5_000_000,
];

/// What a node has done since it started.
#[derive(Debug, Default)]
pub struct Counters {
    /// Batches that were appended.
    pub batches: AtomicU64,
    /// Events in them.
    pub events: AtomicU64,
    /// Their bytes.
    pub bytes: AtomicU64,
    /// Calls that were carried out.
    pub calls: AtomicU64,
    /// Bodies that were carried forward.
    pub carried: AtomicU64,
    /// Segments that were given up.
    pub segments_trimmed: AtomicU64,
    /// What happened.
    pub happened: Happened,
    /// How long syncs took.
    pub sync: Durations,
    /// How long messages waited until they were handed out.
    pub dispatch: Durations,
    /// How long deliveries took to be acknowledged.
    pub settle: Durations,
    /// How long queries held the writer.
    pub queries: JobTimes,
}

/// How long jobs took that run between the commands of the one writer, by their names. Everybody waits for them.
#[derive(Debug, Default)]
pub struct JobTimes {
    by_name: Mutex<BTreeMap<&'static str, Arc<Durations>>>,
}

impl JobTimes {
    /// Counts one.
    pub(crate) fn add(&self, name: &'static str, took: Duration) {
        let mut by_name = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        by_name.entry(name).or_default().add(took);
    }

    /// Returns all names with their times.
    pub fn read(&self) -> Vec<(&'static str, Arc<Durations>)> {
        let by_name = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        by_name.iter().map(|(name, times)| (*name, Arc::clone(times))).collect()
    }
}

/// How often what happened.
#[derive(Debug, Default)]
pub struct Happened {
    /// Messages that were accepted.
    pub accepted: AtomicU64,
    /// Deliveries that were handed out.
    pub dispatched: AtomicU64,
    /// Deliveries that were never written.
    pub returned: AtomicU64,
    /// Deliveries that a model was shown.
    pub surfaced: AtomicU64,
    /// Deliveries that were settled.
    pub acknowledged: AtomicU64,
    /// Attempts that came to nothing and are made again.
    pub retried: AtomicU64,
    /// Messages that went on to a fallback.
    pub moved: AtomicU64,
    /// Messages that became dead letters.
    pub dead: AtomicU64,
    /// Messages whose time was over.
    pub expired: AtomicU64,
    /// Messages of which nobody knows whether they arrived.
    pub unconfirmed: AtomicU64,
    /// Messages that their sender took back.
    pub withdrawn: AtomicU64,
}

impl Happened {
    pub(crate) fn count(&self, event: &Event<'_>) {
        let counter = match event {
            Event::Accepted(_) => &self.accepted,
            Event::Dispatched { .. } => &self.dispatched,
            Event::Returned { .. } => &self.returned,
            Event::Surfaced { .. } => &self.surfaced,
            Event::Acknowledged { .. } => &self.acknowledged,
            Event::Expired { .. } => &self.expired,
            Event::Withdrawn { .. } => &self.withdrawn,
            Event::Failed(failed) => match failed.next {
                Next::Again | Next::Retry { .. } => &self.retried,
                Next::Fallback { .. } => &self.moved,
                Next::Dead => &self.dead,
                Next::Expired => &self.expired,
                Next::Unconfirmed => &self.unconfirmed,
                Next::Withdrawn => &self.withdrawn,
            },
            Event::AgentSet { .. }
            | Event::AgentRemoved { .. }
            | Event::GroupMade { .. }
            | Event::Joined { .. }
            | Event::Left { .. }
            | Event::PresenceSet { .. }
            | Event::SessionOpened { .. }
            | Event::SessionClosed { .. }
            | Event::Restarted
            | Event::Graced { .. }
            | Event::Absorbed { .. }
            | Event::Extended { .. }
            | Event::Released { .. }
            | Event::Amended { .. }
            | Event::Resumed { .. }
            | Event::DeadRetried { .. }
            | Event::DeadDropped { .. }
            | Event::WaitEnded { .. }
            | Event::Carried { .. }
            | Event::Tuned(_)
            | Event::RecordSet(_)
            | Event::RecordRemoved { .. }
            | Event::RecordCarried { .. }
            | Event::Work(_)
            | Event::TaskCarried { .. } => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// How long something took, counted in steps.
#[derive(Debug, Default)]
pub struct Durations {
    steps: [AtomicU64; STEPS_US.len() + 1],
    sum_us: AtomicU64,
}

impl Durations {
    /// Counts one.
    pub fn add(&self, took: Duration) {
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let step = STEPS_US.partition_point(|end| *end < us);
        self.steps[step].fetch_add(1, Ordering::Relaxed);
        self.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    /// Returns how many fell into each step, the last being everything longer, and their sum.
    pub fn read(&self) -> ([u64; STEPS_US.len() + 1], Duration) {
        let steps = std::array::from_fn(|step| self.steps[step].load(Ordering::Relaxed));
        (steps, Duration::from_micros(self.sum_us.load(Ordering::Relaxed)))
    }
}
