//! Trimming: how much of the log is kept, and which of its segments may go.
//!
//! Segments are given up oldest first, when they are too old or too much. Before that whatever is needed of them is
//! carried to the end of the log, whoever follows the log has read them, and both kept snapshots hold them.

mod pace;
mod trimmer;

use std::time::Duration;

use broker::{Holder, Living, RecordName};
use log::Extent;
use message::Seq;

pub use pace::{Looked, Pace};
pub(crate) use trimmer::Trimmer;
pub use trimmer::{Followed, Plan};

/// What carrying a body costs beside its bytes: frame and event.
const CARRY_BYTES: u64 = 96;

/// Returns what carrying a body adds to the log.
fn cost(living: &Living) -> u64 {
    let name_bytes = match &living.of {
        Holder::Message(_) | Holder::Task(_) => 0,
        Holder::Record(RecordName { collection, key, .. }) => collection.len() + key.len(),
    };
    living.bytes + CARRY_BYTES + name_bytes as u64
}

/// How much of the log is kept. What neither bound names is kept whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// Segments whose last record is older go.
    pub time: Option<Duration>,
    /// The oldest segments go while all together take more, those in reserve not counted.
    pub bytes: Option<u64>,
}

/// What was given up, or would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trim {
    /// The oldest record that is held afterwards.
    pub first: Seq,
    /// Segments that were given up.
    pub segments: u64,
    /// What they took on the disk.
    pub bytes: u64,
    /// Bodies that were carried forward.
    pub carried: u64,
    /// Their bytes.
    pub carried_bytes: u64,
    /// Why not everything went that should.
    pub hindrance: Option<Hindrance>,
}

/// Why a segment stays that should go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hindrance {
    /// Whoever follows the log has not read it for good.
    Unread,
    /// More than half of it is still needed.
    Living,
    /// There is no room to carry what is needed of it, or to store a snapshot.
    Room,
    /// What is needed of it cannot be read.
    Damage,
    /// The node stops.
    Stopping,
}

impl Keep {
    /// Everything.
    pub const WHOLE: Keep = Keep { time: None, bytes: None };

    /// Tells whether nothing is ever given up.
    pub fn is_whole(&self) -> bool {
        self.time.is_none() && self.bytes.is_none()
    }

    /// Returns how many of the oldest segments are too much; the one that is written to never is.
    fn surplus(&self, extents: &[Extent]) -> usize {
        let Some(bytes_max) = self.bytes else { return 0 };
        let sealed = extents.len().saturating_sub(1);
        let mut bytes: u64 = extents.iter().map(|extent| extent.bytes).sum();
        let is_over = |extent: &&Extent| {
            let is_over = bytes > bytes_max;
            bytes = bytes.saturating_sub(extent.bytes);
            is_over
        };
        extents[..sealed].iter().take_while(is_over).count()
    }
}

impl Hindrance {
    /// Says it in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Hindrance::Unread => "the history has not read it for good",
            Hindrance::Living => "more than half of it is still needed",
            Hindrance::Room => "there is no room to carry forward what is needed of it",
            Hindrance::Damage => "what is needed of it cannot be read",
            Hindrance::Stopping => "the bus stops",
        }
    }
}

/// What is needed of each of the oldest segments.
pub(crate) struct Tally {
    extents: Vec<Extent>,
    needed: Vec<Needed>,
}

/// What is needed of one segment.
#[derive(Clone, Copy, Default)]
struct Needed {
    count: u64,
    bytes: u64,
    /// What carrying it adds to the log.
    cost: u64,
}

impl Tally {
    /// Begins to count what is needed of segments; `extents` has the one behind them too.
    pub(crate) fn new(extents: &[Extent]) -> Self {
        let sealed = extents.len().saturating_sub(1);
        Tally { extents: extents.to_vec(), needed: vec![Needed::default(); sealed] }
    }

    /// Counts a body.
    pub(crate) fn add(&mut self, living: &Living) {
        let behind = self.extents.partition_point(|extent| extent.first <= living.place);
        if let Some(needed) = self.needed.get_mut(behind.saturating_sub(1)) {
            needed.count += 1;
            needed.bytes += living.bytes;
            needed.cost += cost(living);
        }
    }

    /// Returns how many segments can go so that at most half of what becomes free is written again, and no more than
    /// `bytes_max`. Carrying then always makes the log shorter, however much waits in it.
    pub(crate) fn affordable(&self, bytes_max: u64) -> usize {
        let (mut needed, mut freed, mut affordable) = (0_u64, 0_u64, 0);
        for (at, extent) in self.extents[..self.needed.len()].iter().enumerate() {
            needed += self.needed[at].cost;
            freed += extent.bytes;
            if needed <= freed / 2 && needed <= bytes_max {
                affordable = at + 1;
            }
        }
        affordable
    }

    /// Returns what giving so many segments up would come to.
    pub(crate) fn trial(&self, segments: usize) -> Trim {
        Trim {
            first: self.extents[segments].first,
            segments: segments as u64,
            bytes: self.extents[..segments].iter().map(|extent| extent.bytes).sum(),
            carried: self.needed[..segments].iter().map(|needed| needed.count).sum(),
            carried_bytes: self.needed[..segments].iter().map(|needed| needed.bytes).sum(),
            hindrance: None,
        }
    }
}

/// Where a trim is, for tests that stop it there.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Point {
    Carried,
    Covered,
    GivenUp,
}

/// What a test does at each point.
#[cfg(test)]
#[derive(Clone, Default)]
pub(crate) struct Hook(pub(crate) Option<std::sync::Arc<dyn Fn(Point) + Send + Sync>>);

#[cfg(test)]
impl Hook {
    pub(crate) fn pass(&self, point: Point) {
        if let Some(hook) = &self.0 {
            hook(point);
        }
    }
}

#[cfg(test)]
impl std::fmt::Debug for Hook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hook")
    }
}
