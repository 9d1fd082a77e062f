//! Upkeep behind the writer: segments made ready, snapshots folded from the log, old segments given up.

use std::sync::Arc;
use std::time::Duration;

use broker::Command;
use log::{LogSnapshots, RealDisk, Snapshots};
use message::Seq;

use crate::bell::Bell;
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
/// How long it is waited for a log that grows more slowly.
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
    /// Keeps house until the writer is gone. A failure here is the next append's or the next start's to report:
    /// without a fresh snapshot a start takes longer and less can be given up, nothing else.
    pub(crate) fn run(mut self) {
        drop(self.trimmer.keeper.keep());
        self.outbox.kept();
        let mut bytes = 0;
        let mut rang = self.trimmer.clock.steady();
        loop {
            let is_due = bytes >= self.settings.snapshot_bytes;
            let rung = self.bell.wait(self.patience().into_iter().chain(is_due.then_some(CALM)).min());
            if rung.is_over {
                break;
            }
            drop(self.trimmer.keeper.keep());
            bytes += rung.appended;
            let now = self.trimmer.clock.steady();
            let is_calm = is_calm(rung.appended, now.saturating_sub(rang));
            rang = now;
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
        // The writer has stopped and everything is durable: the next start has nothing to replay.
        self.take_snapshot();
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

/// Tells whether the log, to which so much was appended in so long, grows slowly.
fn is_calm(bytes: u64, time: Duration) -> bool {
    u128::from(bytes) * 1_000 <= u128::from(FAST) * time.as_millis()
}
