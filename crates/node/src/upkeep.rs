//! Upkeep behind the writer: segments made ready, snapshots folded from the log, old segments given up.

use std::sync::Arc;
use std::time::Duration;

use broker::Command;
use log::{LogSnapshots, RealDisk, Snapshots};
use message::Seq;

use crate::bell::Bell;
use crate::failure::Fatal;
use crate::release::Outbox;
use crate::start::{Settings, fold};
#[cfg(test)]
use crate::trim::Point;
use crate::trim::{Hindrance, Keep, Looked, Pace, Plan, Request, Trim, Trimmer};

/// Snapshots that must be taken at most until two of them hold a record.
const COVERS_MAX: usize = 2;

/// How many times as much as usual is appended at most before a snapshot is taken, while the log grows fast: folding it
/// takes as much work as deciding it did, which then is wanted elsewhere.
const LATE: u64 = 4;
/// Bytes a second above which the log grows fast.
const FAST: u64 = 32 << 20;
/// How long it is watched before it counts as slow.
const CALM: Duration = Duration::from_secs(1);

/// What the upkeep thread works with.
pub(crate) struct Upkeep {
    pub(crate) snapshots: LogSnapshots<RealDisk>,
    pub(crate) settings: Settings,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) trimmer: Trimmer,
    pub(crate) pace: Pace,
    /// The last snapshot.
    pub(crate) at: Seq,
    pub(crate) bell: Arc<Bell>,
}

impl Upkeep {
    /// Prepares segments, takes snapshots and trims until the writer has ended. A snapshot that fails is tried again:
    /// without it a start takes longer and less can be trimmed, nothing else. A segment that cannot be prepared ends
    /// the node, as the log takes no appends after that.
    pub(crate) fn run(mut self) -> Result<(), Fatal> {
        self.trimmer.keeper.keep()?;
        self.outbox.kept();
        let mut bytes = 0;
        let mut flow = Flow { since: self.trimmer.clock.steady(), bytes: 0 };
        loop {
            let is_due = bytes >= self.settings.snapshot_bytes;
            let rung = self.bell.wait(self.patience().into_iter().chain(is_due.then_some(CALM)).min());
            if rung.is_over {
                break;
            }
            bytes += rung.appended;
            let is_calm = flow.was_calm(rung.appended, self.trimmer.clock.steady());
            self.trimmer.keeper.keep()?;
            if self.wants_snapshot(bytes, is_calm) && self.take_snapshot().is_some() {
                bytes = 0;
            }
            if rung.followed.is_some() {
                self.trimmer.followed = rung.followed;
            }
            for Request { keep, is_trial, answer } in rung.asked {
                answer(self.trim(&keep, is_trial));
            }
            if self.patience() == Some(Duration::ZERO) {
                self.trim_in_time();
            }
        }
        if self.outbox.failure().is_none() {
            // The writer has stopped and everything is durable: the next start has nothing to replay.
            self.take_snapshot();
        }
        Ok(())
    }

    /// Tells whether it is time for a snapshot.
    fn wants_snapshot(&self, bytes: u64, is_calm: bool) -> bool {
        let usual = self.settings.snapshot_bytes;
        bytes >= if is_calm { usual } else { usual.saturating_mul(LATE) }
    }

    /// Returns how long nothing need be given up, unless it rings.
    fn patience(&self) -> Option<Duration> {
        // Nothing goes before somebody follows the log, and then it rings.
        if self.settings.keep.is_whole() || self.trimmer.followed.is_none() {
            return None;
        }
        self.pace.wait(self.trimmer.clock.steady(), self.trimmer.keeper.newest())
    }

    fn trim_in_time(&mut self) {
        let (keep, begun) = (self.settings.keep, self.trimmer.clock.steady());
        let newest = self.trimmer.keeper.newest();
        let trimmed = self.trim(&keep, false);
        let looked = match trimmed.hindrance {
            Some(_) => Looked::Hindered,
            None => Looked::Done(self.trimmer.next_aged(&keep)),
        };
        self.pace.looked(begun, self.trimmer.clock.steady(), newest, &looked);
    }

    /// Gives up what need not be kept, as far as that can be; or says what that would be.
    fn trim(&mut self, keep: &Keep, is_trial: bool) -> Trim {
        let plan = self.trimmer.plan(keep);
        let trial = plan.trial();
        if is_trial || plan.is_empty() {
            return trial;
        }
        match self.carry_out(&plan) {
            Ok(trim) => trim,
            Err(hindrance) => {
                let first = self.trimmer.keeper.first();
                Trim {
                    first,
                    segments: 0,
                    bytes: 0,
                    carried: 0,
                    carried_bytes: 0,
                    hindrance: Some(hindrance),
                }
            }
        }
    }

    fn carry_out(&mut self, plan: &Plan) -> Result<Trim, Hindrance> {
        let carried = self.trimmer.carry(plan)?;
        #[cfg(test)]
        self.trimmer.hook.pass(Point::Carried);
        self.cover(plan.cut())?;
        #[cfg(test)]
        self.trimmer.hook.pass(Point::Covered);
        self.trimmer.give_up(plan)?;
        drop(self.trimmer.keeper.keep());
        Ok(Trim { carried: carried.count, carried_bytes: carried.bytes, ..plan.trial() })
    }

    /// Takes snapshots until both that are kept hold everything before a record.
    fn cover(&mut self, cut: Seq) -> Result<(), Hindrance> {
        for _ in 0..COVERS_MAX {
            if self.is_covered(cut) {
                return Ok(());
            }
            if self.outbox.durable() <= self.at {
                // Two snapshots need two places.
                let retention = self.settings.retention;
                let tuned = self.trimmer.ask(move |turn| drop(turn.execute(&Command::Tune(retention))));
                tuned.ok_or(Hindrance::Stopping)?;
            }
            self.take_snapshot().ok_or(Hindrance::Room)?;
        }
        if self.is_covered(cut) { Ok(()) } else { Err(Hindrance::Room) }
    }

    fn is_covered(&self, cut: Seq) -> bool {
        self.trimmer.keeper.covered().0 + 1 >= cut.0
    }

    /// Folds what is durable since the last snapshot into a new one, by the same rules as the writer.
    fn take_snapshot(&mut self) -> Option<()> {
        let durable = self.outbox.durable();
        if durable <= self.at {
            return None;
        }
        let reader = &self.trimmer.reader;
        let folded = fold(&self.snapshots, reader, &self.settings.broker, durable).ok()?;
        let mut bytes = Vec::new();
        folded.broker.snapshot(&mut bytes);
        self.snapshots.store(durable, |out| out.write_all(&bytes)).ok()?;
        self.at = durable;
        Some(())
    }
}

/// How fast the log grows.
struct Flow {
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
