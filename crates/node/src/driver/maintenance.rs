//! Maintenance behind the writer: segments prepared, snapshots folded from the log, old segments given up.

use std::time::Duration;

use broker::{Command, Living, LivingBodies, LookFrom, Time};
use log::{Keep as _, Log, Snapshots};
use message::Seq;

use super::load::load_prepared;
#[cfg(test)]
use super::trim::Point;
use super::trim::{Hindrance, Keep, Looked, Pace, Plan, Trim, Trimmer};
use super::{Executed, Tick};
use crate::failure::Fatal;

/// Snapshots that must be taken at most until two of them hold a record.
const COVERS_MAX: usize = 2;

/// How many times as much as usual is appended at most before a snapshot is taken, while the log grows fast: folding it
/// takes as much work as deciding it did, which then is wanted elsewhere.
const LATE: u64 = 4;
/// Bytes a second above which the log grows fast.
const FAST: u64 = 32 << 20;
/// How long it is watched before it counts as slow.
const CALM: Duration = Duration::from_secs(1);

/// What maintenance asks of the writer. Each waits until what was asked is durable; nothing when the node stops.
pub trait Ask {
    /// Executes commands in one batch.
    fn execute_all(&self, commands: Vec<Command>) -> Option<Vec<Executed>>;

    /// Looks for living bodies.
    fn living_bodies(&self, query: LivingBodies) -> Option<(Vec<Living>, Option<LookFrom>)>;

    /// Returns up to where the log is durable.
    fn durable(&self) -> Seq;

    /// Returns what is left in the segment that is written to.
    fn free(&self) -> u64;

    /// Returns the largest batch that the log takes.
    fn batch_bytes_max(&self) -> u64;
}

/// What is done behind the writer.
pub struct Maintenance<L: Log> {
    pub(crate) snapshots: L::Snapshots,
    pub(crate) trimmer: Trimmer<L>,
    pub(crate) pace: Pace,
    /// The last snapshot.
    pub(crate) at: Seq,
    pub(crate) broker: broker::Settings,
    pub(crate) retention: broker::Retention,
    /// How much of the log is kept.
    pub(crate) keep: Keep,
    /// After how many bytes of the log a snapshot is taken.
    pub(crate) snapshot_bytes: u64,
    /// Bytes since the last snapshot.
    pub(crate) bytes: u64,
    pub(crate) flow: Flow,
    /// Prepares a state that is folded, by which faults are planted.
    pub(crate) prepare: Box<dyn Fn(&mut broker::Broker) + Send>,
}

impl<L: Log> Maintenance<L> {
    /// Makes the maintenance of a log whose newest snapshot is at a place.
    #[cfg(feature = "plants")]
    pub fn of(
        log: &L,
        at: Seq,
        (broker, retention): (broker::Settings, broker::Retention),
        moved: std::sync::Arc<super::Moved>,
        plant: Option<super::Plant>,
        prepare: Box<dyn Fn(&mut broker::Broker) + Send>,
    ) -> Self {
        let trimmer = Trimmer {
            keeper: log.keeper(),
            reader: log.reader(),
            moved,
            counters: std::sync::Arc::default(),
            followed: Some(Box::new(|| Some(Seq(u64::MAX / 2)))),
            plant,
            #[cfg(test)]
            hook: super::trim::Hook::default(),
        };
        let (snapshots, keep) = (log.snapshots(), Keep::WHOLE);
        let (pace, flow) = (Pace::default(), Flow::default());
        let (snapshot_bytes, bytes) = (u64::MAX, 0);
        Maintenance {
            snapshots,
            trimmer,
            pace,
            at,
            broker,
            retention,
            keep,
            snapshot_bytes,
            bytes,
            flow,
            prepare,
        }
    }

    /// Prepares segments ahead of need. After a failure the log takes no appends, and the node must end.
    pub fn prepare(&self) -> Result<(), Fatal> {
        Ok(self.trimmer.keeper.keep()?)
    }

    /// Counts what was appended, and takes a snapshot if it is time for one. A snapshot that fails is tried again:
    /// without it a start takes longer and less can be trimmed, nothing else.
    pub fn appended(&mut self, bytes: u64, durable: Seq, steady: Duration) {
        self.bytes += bytes;
        let is_calm = self.flow.was_calm(bytes, steady);
        if self.wants_snapshot(is_calm) && self.take_snapshot(durable).is_some() {
            self.bytes = 0;
        }
    }

    /// Tells whether it is time for a snapshot.
    fn wants_snapshot(&self, is_calm: bool) -> bool {
        let usual = self.snapshot_bytes;
        self.bytes >= if is_calm { usual } else { usual.saturating_mul(LATE) }
    }

    /// Returns how long there is nothing to do, unless something is appended or asked.
    pub fn wait(&self, steady: Duration) -> Option<Duration> {
        let is_due = self.bytes >= self.snapshot_bytes;
        self.trim_wait(steady).into_iter().chain(is_due.then_some(CALM)).min()
    }

    /// Returns how long nothing need be trimmed.
    fn trim_wait(&self, steady: Duration) -> Option<Duration> {
        // Nothing goes before the history follows the log.
        if self.keep.is_whole() || self.trimmer.followed.is_none() {
            return None;
        }
        self.pace.wait(steady, self.trimmer.keeper.newest())
    }

    /// Trims as the settings say, if it is time.
    pub fn trim_in_time(&mut self, ask: &impl Ask, tick: Tick, steady: impl Fn() -> Duration) {
        let begun = steady();
        if self.trim_wait(begun) != Some(Duration::ZERO) {
            return;
        }
        let (keep, newest) = (self.keep, self.trimmer.keeper.newest());
        let trimmed = self.trim(ask, &keep, false, tick.now);
        let looked = match trimmed.hindrance {
            Some(_) => Looked::Hindered,
            None => Looked::Done(self.trimmer.next_aged(ask, &keep, tick.now)),
        };
        self.pace.looked(begun, steady(), newest, &looked);
    }

    /// Gives up what need not be kept, as far as that can be; or says what that would be.
    pub fn trim(&mut self, ask: &impl Ask, keep: &Keep, is_trial: bool, now: Time) -> Trim {
        let plan = self.plan(ask, keep, now);
        let trial = plan.trial();
        if is_trial || plan.is_empty() {
            return trial;
        }
        match self.carry_out(ask, &plan) {
            Ok(trim) => trim,
            Err(hindrance) => {
                let first = self.trimmer.keeper.first();
                let hindrance = Some(hindrance);
                Trim { first, segments: 0, bytes: 0, carried: 0, carried_bytes: 0, hindrance }
            }
        }
    }

    /// Finds what should go and can.
    pub fn plan(&self, ask: &impl Ask, keep: &Keep, now: Time) -> Plan {
        self.trimmer.plan(ask, keep, now)
    }

    /// Sets the read position of the history, behind which the log may be trimmed.
    pub fn follow(&mut self, followed: super::Followed) {
        self.trimmer.followed = Some(followed);
    }

    fn carry_out(&mut self, ask: &impl Ask, plan: &Plan) -> Result<Trim, Hindrance> {
        let carried = self.trimmer.carry(ask, plan)?;
        #[cfg(test)]
        self.trimmer.hook.pass(Point::Carried);
        self.cover(ask, plan.cut())?;
        #[cfg(test)]
        self.trimmer.hook.pass(Point::Covered);
        self.trimmer.give_up(plan)?;
        drop(self.trimmer.keeper.keep());
        Ok(Trim { carried: carried.count, carried_bytes: carried.bytes, ..plan.trial() })
    }

    /// Carries forward what is needed of what a plan gives up.
    #[cfg(feature = "simulation")]
    pub fn carry(&self, ask: &impl Ask, plan: &Plan) -> Result<(), Hindrance> {
        self.trimmer.carry(ask, plan).map(drop)
    }

    /// Takes snapshots until both that are kept hold everything before a record.
    fn cover(&mut self, ask: &impl Ask, cut: Seq) -> Result<(), Hindrance> {
        for _ in 0..COVERS_MAX {
            if self.is_covered(cut) {
                return Ok(());
            }
            if ask.durable() <= self.at {
                // Two snapshots need two places.
                ask.execute_all(vec![Command::Tune(self.retention)]).ok_or(Hindrance::Stopping)?;
            }
            self.take_snapshot(ask.durable()).ok_or(Hindrance::Room)?;
        }
        if self.is_covered(cut) { Ok(()) } else { Err(Hindrance::Room) }
    }

    fn is_covered(&self, cut: Seq) -> bool {
        self.trimmer.keeper.covered().0 + 1 >= cut.0
    }

    /// Folds what is durable since the last snapshot into a new one, by the same rules as the writer. Nothing if there
    /// is nothing new, or it could not be stored.
    pub fn take_snapshot(&mut self, durable: Seq) -> Option<()> {
        if durable <= self.at {
            return None;
        }
        let reader = &self.trimmer.reader;
        #[cfg(feature = "plants")]
        let upto = match self.trimmer.plant {
            Some(super::Plant::SnapshotForgets) => Seq(durable.0 - 1),
            Some(super::Plant::SnapshotUnsynced) => Seq(u64::MAX),
            Some(_) | None => durable,
        };
        #[cfg(not(feature = "plants"))]
        let upto = durable;
        let loaded = load_prepared(&self.snapshots, reader, &self.broker, upto, &*self.prepare).ok()?;
        let mut bytes = Vec::new();
        loaded.broker.snapshot(&mut bytes);
        self.snapshots.store(durable, |out| out.write_all(&bytes)).ok()?;
        self.at = durable;
        Some(())
    }
}

/// How fast the log grows.
#[derive(Default)]
pub(crate) struct Flow {
    since: Duration,
    bytes: u64,
}

impl Flow {
    /// Counts what was appended; tells whether the time is over in which that is looked at, and the log grew slowly in
    /// it. A pause within that time, of a disk or of those who send, is no calm.
    fn was_calm(&mut self, bytes: u64, now: Duration) -> bool {
        self.bytes += bytes;
        let time = now.saturating_sub(self.since);
        if time < CALM {
            return false;
        }
        let was_calm = u128::from(self.bytes) * 1_000 <= u128::from(FAST) * time.as_millis();
        *self = Flow { since: now, bytes: 0 };
        was_calm
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn the_log_is_calm_when_it_grew_slowly_for_a_while() {
        let mut flow = Flow { since: Duration::ZERO, bytes: 0 };
        let mut at = |bytes, ms| flow.was_calm(bytes, Duration::from_millis(ms));
        // Fast, with a pause.
        assert_eq!([at(20 * MIB, 200), at(0, 600), at(20 * MIB, 1_000)], [false; 3]);
        // As slow as may be, told when the time is over.
        assert_eq!([at(16 * MIB, 1_999), at(16 * MIB, 2_000)], [false, true]);
        // Nothing for long, and then something.
        assert!(at(MIB, 60_000));
        assert!(!at(MIB, 60_001));
    }
}
