//! The trimmer: carries forward what is needed, and gives up what is not.
//!
//! It works behind the writer in small steps, each a call like any other, so that nobody waits for it. Whenever it is
//! interrupted nothing is lost: a body is given up only after its copy is durable, and a copy that nothing was given
//! up for is merely there twice.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use broker::{Command, Event, Living, LivingBodies, LookFrom, Time};
use log::{Entry, Extent, Keep as _, Log, ReadError, Reader};
use message::Seq;

use super::{Hindrance, Keep, Tally, Trim, cost};
#[cfg(test)]
use super::{Hook, Point};
use crate::counters::Counters;
use crate::driver::{Ask, Moved};
use crate::handle::body_of;

/// Says up to where the history has read the log for good.
pub type Followed = Box<dyn Fn() -> Option<Seq> + Send>;

/// Places of the state that are looked at in one turn.
const LOOK_PLACES: u32 = 16_384;
/// Bytes that carrying adds to the log in one turn; one body is carried in any case.
const STEP_BYTES: u64 = 256 << 10;
/// How often is looked again whether everything was carried.
const ROUNDS: usize = 3;

/// Carries living bodies forward and gives old segments up.
pub(crate) struct Trimmer<L: Log> {
    pub(crate) keeper: L::Keeper,
    pub(crate) reader: L::Reader,
    pub(crate) moved: Arc<Moved>,
    pub(crate) counters: Arc<Counters>,
    /// The read position of the history. Nothing is trimmed until it is set.
    pub(crate) followed: Option<Followed>,
    #[cfg(feature = "plants")]
    pub(crate) plant: Option<crate::driver::Plant>,
    #[cfg(test)]
    pub(crate) hook: Hook,
}

/// What was carried.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Carried {
    pub(crate) count: u64,
    pub(crate) bytes: u64,
}

/// A cut that can be made.
pub struct Plan {
    /// The segments that go, and the one behind them.
    extents: Vec<Extent>,
    trial: Trim,
}

impl Plan {
    /// Returns the record before which everything goes.
    pub fn cut(&self) -> Seq {
        self.trial.first
    }

    /// Tells whether anything goes.
    pub fn is_empty(&self) -> bool {
        self.trial.segments == 0
    }

    /// Returns what it would come to.
    pub fn trial(&self) -> Trim {
        self.trial
    }
}

impl<L: Log> Trimmer<L> {
    /// Finds what should go and can.
    pub(crate) fn plan(&self, ask: &impl Ask, keep: &Keep, now: Time) -> Plan {
        let mut extents = self.keeper.extents();
        let wanted = keep.surplus(&extents).max(self.aged(ask, keep, &extents, now));
        extents.truncate(wanted + 1);
        let mut hindrance = None;
        if wanted > 0 {
            let read = self.followed.as_ref().and_then(|followed| followed()).unwrap_or(Seq(0));
            let is_read = |extent: &Extent| extent.first.0 <= read.0 + 1;
            extents.truncate(extents.partition_point(is_read).max(1));
            if extents.len() <= wanted {
                hindrance = Some(Hindrance::Unread);
            }
        }
        let tally = match self.tally(ask, &extents) {
            Some(tally) => tally,
            None => {
                extents.truncate(1);
                hindrance = Some(Hindrance::Stopping);
                Tally::new(&extents)
            }
        };
        let (sealed, free) = (extents.len() - 1, tally.affordable(self.room(ask)));
        if free < sealed {
            let is_room = tally.affordable(u64::MAX) > free;
            hindrance = Some(if is_room { Hindrance::Room } else { Hindrance::Living });
        }
        extents.truncate(free + 1);
        Plan { trial: Trim { hindrance, ..tally.trial(free) }, extents }
    }

    /// Returns in how long the oldest segment is too old, if it ever is.
    pub(crate) fn next_aged(&self, ask: &impl Ask, keep: &Keep, now: Time) -> Option<Duration> {
        let time = keep.time?;
        let extents = self.keeper.extents();
        let sealed_at = self.begun(ask, extents.get(1)?)?;
        let age = Duration::from_millis(now.ms_since(sealed_at));
        Some(time.saturating_sub(age))
    }

    /// Returns how many of the oldest segments are too old. The one behind a segment began when that was full.
    fn aged(&self, ask: &impl Ask, keep: &Keep, extents: &[Extent], now: Time) -> usize {
        let Some(time) = keep.time else { return 0 };
        let is_old = |extent: &Extent| {
            self.begun(ask, extent).is_some_and(|at| Duration::from_millis(now.ms_since(at)) >= time)
        };
        extents.get(1..).map_or(0, |later| later.partition_point(is_old))
    }

    /// Returns the time of the first record of a segment, or of the first behind it that is there.
    fn begun(&self, ask: &impl Ask, extent: &Extent) -> Option<Time> {
        let mut found = None;
        let scanned = self.reader.scan(extent.first, ask.durable(), &mut |entry| match entry {
            Entry::Record { bytes, .. } => {
                found = Event::decode(bytes).ok().map(|(at, _)| at);
                std::ops::ControlFlow::Break(())
            }
            Entry::Gap { .. } => std::ops::ControlFlow::Continue(()),
        });
        scanned.ok().and(found)
    }

    /// Counts what is needed of segments; nothing when the node stops.
    fn tally(&self, ask: &impl Ask, extents: &[Extent]) -> Option<Tally> {
        let mut tally = Tally::new(extents);
        if let [_, .., behind] = extents {
            self.look(ask, behind.first, |bodies| {
                bodies.iter().for_each(|living| tally.add(living));
                Ok(())
            })
            .ok()?;
        }
        Some(tally)
    }

    /// Carries everything forward that is needed and lies before the cut.
    pub(crate) fn carry(&self, ask: &impl Ask, plan: &Plan) -> Result<Carried, Hindrance> {
        let mut carried = Carried::default();
        for _ in 0..ROUNDS {
            let mut is_clear = true;
            self.look(ask, plan.cut(), |bodies| {
                for piece in pieces(&bodies, self.step_bytes(ask)) {
                    is_clear &= self.carry_piece(ask, piece, &mut carried)?;
                }
                Ok(())
            })?;
            if is_clear {
                return Ok(carried);
            }
        }
        Err(Hindrance::Living)
    }

    /// Returns how many bytes are carried in one turn.
    fn step_bytes(&self, ask: &impl Ask) -> u64 {
        STEP_BYTES.min(ask.batch_bytes_max() / 8)
    }

    /// Carries some bodies; tells whether there was none that can be read.
    fn carry_piece(
        &self,
        ask: &impl Ask,
        piece: &[Living],
        carried: &mut Carried,
    ) -> Result<bool, Hindrance> {
        let read = self.read(piece)?;
        if read.is_empty() {
            return Ok(true);
        }
        self.find_room(ask, piece.iter().map(cost).sum())?;
        let places: Vec<(Seq, u64)> =
            read.iter().map(|(living, body)| (living.place, body.len() as u64)).collect();
        let carry = |(living, body): (Living, Vec<u8>)| Command::Carry {
            of: living.of,
            place: living.place,
            body: body.into(),
        };
        let executed = ask.execute_all(read.into_iter().map(carry).collect()).ok_or(Hindrance::Stopping)?;
        let mut moves = Vec::with_capacity(places.len());
        for ((place, bytes), executed) in places.into_iter().zip(executed) {
            // It may be over meanwhile, or have another body; then it is not needed here.
            if executed.outcome.is_ok() {
                moves.push((place, executed.last));
                carried.bytes += bytes;
            }
        }
        carried.count += moves.len() as u64;
        self.moved.note(&moves);
        self.counters.carried.fetch_add(moves.len() as u64, Ordering::Relaxed);
        Ok(false)
    }

    /// Reads bodies, but for those that a salvage has lost.
    fn read(&self, piece: &[Living]) -> Result<Vec<(Living, Vec<u8>)>, Hindrance> {
        let mut read = Vec::with_capacity(piece.len());
        for living in piece {
            match self.reader.read(living.place) {
                Ok(record) => read.push((living.clone(), body_of(&record))),
                Err(ReadError::Missing { .. }) => {}
                Err(_) => return Err(Hindrance::Damage),
            }
        }
        Ok(read)
    }

    /// Gives up what is before the cut, a segment at a time.
    pub(crate) fn give_up(&self, plan: &Plan) -> Result<(), Hindrance> {
        for extent in plan.extents.iter().skip(1) {
            // A failure is the next append's to report.
            self.keeper.truncate_before(extent.first).map_err(|_| Hindrance::Stopping)?;
            self.counters.segments_trimmed.fetch_add(1, Ordering::Relaxed);
            #[cfg(test)]
            self.hook.pass(Point::GivenUp);
        }
        Ok(())
    }

    /// Looks through the state for living bodies before a place, a part at a time.
    fn look(
        &self,
        ask: &impl Ask,
        before: Seq,
        mut visit: impl FnMut(Vec<Living>) -> Result<(), Hindrance>,
    ) -> Result<(), Hindrance> {
        let mut next = Some(LookFrom::START);
        while let Some(from) = next {
            let found = ask.living_bodies(LivingBodies { before, from, places_max: LOOK_PLACES });
            let (bodies, rest) = found.ok_or(Hindrance::Stopping)?;
            #[cfg(feature = "plants")]
            let bodies = self.without_planted(bodies);
            visit(bodies)?;
            next = rest;
        }
        Ok(())
    }

    #[cfg(feature = "plants")]
    fn without_planted(&self, mut bodies: Vec<Living>) -> Vec<Living> {
        use crate::driver::Plant;
        bodies.retain(|living| match (self.plant, &living.of) {
            (Some(Plant::TrimWithoutCarry), _)
            | (Some(Plant::TrimRecords), broker::Holder::Record(_))
            | (Some(Plant::TrimTasks), broker::Holder::Task(_)) => false,
            (Some(_) | None, _) => true,
        });
        bodies
    }

    /// Returns how much may be carried without touching the last segment in reserve.
    fn room(&self, ask: &impl Ask) -> u64 {
        let reserve = ask.free() + self.keeper.ready().reserve;
        if self.keeper.ready().is_full { reserve.saturating_sub(ask.batch_bytes_max()) } else { u64::MAX }
    }

    /// Makes sure that so much can be carried and a segment is left for those who finish their work.
    fn find_room(&self, ask: &impl Ask, bytes: u64) -> Result<(), Hindrance> {
        let has_room = || ask.free() + self.keeper.ready().reserve >= ask.batch_bytes_max() + bytes;
        if has_room() {
            return Ok(());
        }
        // A failure is the next append's to report.
        drop(self.keeper.keep());
        if has_room() { Ok(()) } else { Err(Hindrance::Room) }
    }
}

/// Cuts a list into pieces that are carried in one turn each.
fn pieces(bodies: &[Living], bytes_max: u64) -> impl Iterator<Item = &[Living]> {
    let mut bytes = 0;
    bodies.chunk_by(move |before, next| {
        bytes += cost(before);
        let is_same = bytes + cost(next) <= bytes_max;
        if !is_same {
            bytes = 0;
        }
        is_same
    })
}
