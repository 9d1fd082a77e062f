//! The trimmer: carries forward what is needed, and gives up what is not.
//!
//! It works behind the writer in small steps, each a call like any other, so that nobody waits for it. Whenever it is
//! interrupted nothing is lost: a body is given up only after its copy is durable, and a copy that nothing was given
//! up for is merely there twice.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use broker::{Command, Event, Living, LookFrom};
use log::{Entry, Extent, Keeper, LogReader, ReadError, Reader, RealDisk};
use message::Seq;

use super::{Hindrance, Keep, Tally, Trim, cost};
#[cfg(test)]
use super::{Hook, Point};
use crate::bell::Followed;
use crate::clock::{BusTime, Clock};
use crate::counters::Counters;
use crate::handle::body_of;
use crate::moved::Moved;
use crate::release::{Outbox, Release};
use crate::turn::Turn;
use crate::writer::{Job, Queue};

/// Places of the state that are looked at in one turn.
const LOOK_PLACES: u32 = 16_384;
/// Bytes that carrying adds to the log in one turn; one body is carried in any case.
const STEP_BYTES: u64 = 256 << 10;
/// How often is looked again whether everything was carried.
const ROUNDS: usize = 3;

/// What the trimmer works with.
pub(crate) struct Trimmer {
    pub(crate) keeper: Keeper<RealDisk>,
    pub(crate) reader: LogReader<RealDisk>,
    pub(crate) queue: Arc<Queue>,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) moved: Arc<Moved>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) time: BusTime,
    /// Whoever follows the log; until somebody does nothing is given up.
    pub(crate) followed: Option<Followed>,
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
pub(crate) struct Plan {
    /// The segments that go, and the one behind them.
    extents: Vec<Extent>,
    trial: Trim,
}

impl Plan {
    /// Returns the record before which everything goes.
    pub(crate) fn cut(&self) -> Seq {
        self.trial.first
    }

    /// Tells whether anything goes.
    pub(crate) fn is_empty(&self) -> bool {
        self.trial.segments == 0
    }

    /// Returns what it would come to.
    pub(crate) fn trial(&self) -> Trim {
        self.trial
    }
}

impl Trimmer {
    /// Finds what should go and can.
    pub(crate) fn plan(&self, keep: &Keep) -> Plan {
        let mut extents = self.keeper.extents();
        let wanted = keep.surplus(&extents).max(self.aged(keep, &extents));
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
        let tally = match self.tally(&extents) {
            Some(tally) => tally,
            None => {
                extents.truncate(1);
                hindrance = Some(Hindrance::Stopping);
                Tally::new(&extents)
            }
        };
        let (sealed, free) = (extents.len() - 1, tally.affordable(self.room()));
        if free < sealed {
            let is_room = tally.affordable(u64::MAX) > free;
            hindrance = Some(if is_room { Hindrance::Room } else { Hindrance::Living });
        }
        extents.truncate(free + 1);
        Plan { trial: Trim { hindrance, ..tally.trial(free) }, extents }
    }

    /// Returns in how long the oldest segment is too old, if it ever is.
    pub(crate) fn next_aged(&self, keep: &Keep) -> Option<Duration> {
        let time = keep.time?;
        let extents = self.keeper.extents();
        let sealed_at = self.begun(extents.get(1)?)?;
        let age = Duration::from_millis(self.time.now(&*self.clock).ms_since(sealed_at));
        Some(time.saturating_sub(age))
    }

    /// Returns how many of the oldest segments are too old. The one behind a segment began when that was full.
    fn aged(&self, keep: &Keep, extents: &[Extent]) -> usize {
        let Some(time) = keep.time else { return 0 };
        let now = self.time.now(&*self.clock);
        let is_old = |extent: &Extent| {
            self.begun(extent).is_some_and(|at| Duration::from_millis(now.ms_since(at)) >= time)
        };
        extents.get(1..).map_or(0, |later| later.partition_point(is_old))
    }

    /// Returns the time of the first record of a segment, or of the first behind it that is there.
    fn begun(&self, extent: &Extent) -> Option<broker::Time> {
        let mut found = None;
        let scanned = self.reader.scan(extent.first, self.outbox.durable(), &mut |entry| match entry {
            Entry::Record { bytes, .. } => {
                found = Event::decode(bytes).ok().map(|(at, _)| at);
                std::ops::ControlFlow::Break(())
            }
            Entry::Gap { .. } => std::ops::ControlFlow::Continue(()),
        });
        scanned.ok().and(found)
    }

    /// Counts what is needed of segments; nothing when the node stops.
    fn tally(&self, extents: &[Extent]) -> Option<Tally> {
        let mut tally = Tally::new(extents);
        if let [_, .., behind] = extents {
            self.look(behind.first, |bodies| {
                bodies.iter().for_each(|living| tally.add(living));
                Ok(())
            })
            .ok()?;
        }
        Some(tally)
    }

    /// Carries everything forward that is needed and lies before the cut.
    pub(crate) fn carry(&self, plan: &Plan) -> Result<Carried, Hindrance> {
        let mut carried = Carried::default();
        for _ in 0..ROUNDS {
            let mut is_clear = true;
            self.look(plan.cut(), |bodies| {
                for piece in pieces(&bodies, self.step_bytes()) {
                    is_clear &= self.carry_piece(piece, &mut carried)?;
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
    fn step_bytes(&self) -> u64 {
        STEP_BYTES.min(self.outbox.reserve().1 / 8)
    }

    /// Carries some bodies; tells whether there was none that can be read.
    fn carry_piece(&self, piece: &[Living], carried: &mut Carried) -> Result<bool, Hindrance> {
        let read = self.read(piece)?;
        if read.is_empty() {
            return Ok(true);
        }
        self.find_room(piece.iter().map(cost).sum())?;
        let moves = self.ask(move |turn| {
            let (mut moves, mut bytes) = (Vec::with_capacity(read.len()), 0);
            for (Living { of, place, .. }, body) in read {
                let body_bytes = body.len() as u64;
                // It may be over meanwhile, or have another body; then it is not needed here.
                if turn.execute(&Command::Carry { of, place, body: body.into() }).is_ok() {
                    moves.push((place, turn.broker().last()));
                    bytes += body_bytes;
                }
            }
            (moves, bytes)
        });
        let (moves, bytes) = moves.ok_or(Hindrance::Stopping)?;
        carried.count += moves.len() as u64;
        carried.bytes += bytes;
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

    /// Looks through the state for living bodies before a place, a part in each turn.
    fn look(
        &self,
        before: Seq,
        mut visit: impl FnMut(Vec<Living>) -> Result<(), Hindrance>,
    ) -> Result<(), Hindrance> {
        let mut from = Some(LookFrom::START);
        while let Some(here) = from {
            let found = self.ask(move |turn| turn.broker().bodies_before(before, here, LOOK_PLACES));
            let (bodies, next) = found.ok_or(Hindrance::Stopping)?;
            visit(bodies)?;
            from = next;
        }
        Ok(())
    }

    /// Returns how much may be carried without touching the last segment in reserve.
    fn room(&self) -> u64 {
        let (free, capacity) = self.outbox.reserve();
        if self.keeper.ready().is_full { free.saturating_sub(capacity) } else { u64::MAX }
    }

    /// Makes sure that so much can be carried and a segment is left for those who finish their work.
    fn find_room(&self, bytes: u64) -> Result<(), Hindrance> {
        let has_room = || {
            let (free, capacity) = self.outbox.reserve();
            free >= capacity + bytes
        };
        if has_room() {
            return Ok(());
        }
        // A failure is the next append's to report.
        drop(self.keeper.keep());
        if has_room() { Ok(()) } else { Err(Hindrance::Room) }
    }

    /// Does something with the state and waits until it is durable; nothing when the node stops.
    pub(crate) fn ask<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Turn<'_>) -> R + Send + 'static,
    ) -> Option<R> {
        let (answer, answered) = sync_channel(1);
        let job: Job = Box::new(move |turn| {
            let result = work(turn);
            let release: Release = Box::new(move || drop(answer.send(result)));
            Some(release)
        });
        self.queue.push(job).ok()?;
        answered.recv().ok()
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
