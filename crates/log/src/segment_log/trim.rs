//! Giving segments up: the oldest first, and only what snapshots cover.

use std::io;

use message::Seq;

use super::pool::Pool;
use super::shared::{Segment, Shared, hold};
use super::snapshots::KEPT;
use crate::disk::Disk;
use crate::error::TruncateError;
#[cfg(any(test, feature = "plants"))]
use crate::plant::Plant;
use crate::segment::spare_name;

impl<D: Disk> Shared<D> {
    /// Gives up the segments that hold nothing but records before `seq`.
    pub(crate) fn truncate_before(&self, seq: Seq) -> Result<Seq, TruncateError> {
        if self.poisoned() {
            return Err(TruncateError::Poisoned);
        }
        let floor = self.trim_floor(seq);
        loop {
            // Nobody makes a spare while one is made of a segment.
            let _making = hold(&self.making);
            let Some(segment) = self.pop_segment_before(floor) else { break };
            self.set_free(&segment).map_err(|error| {
                self.poison();
                TruncateError::Storage(error)
            })?;
        }
        Ok(self.first())
    }

    /// Returns the last record that every kept snapshot holds; without as many as are kept there is none. Records
    /// behind it are needed to fold an older snapshot forward, should the newest turn out to be damaged.
    pub(crate) fn covered(&self) -> Seq {
        #[cfg(any(test, feature = "plants"))]
        if self.planted(Plant::TrimAhead) {
            return Seq(u64::MAX - 1);
        }
        let snapshots = hold(&self.snapshots);
        if snapshots.len() < KEPT { Seq(0) } else { snapshots[0] }
    }

    fn trim_floor(&self, seq: Seq) -> Seq {
        seq.min(Seq(self.covered().0.saturating_add(1)))
    }

    /// Makes a spare of a segment, or removes it where there are enough. Durable before the next one is set
    /// free, so that a power loss cannot leave a hole among the segments.
    fn set_free(&self, segment: &Segment<D::File>) -> io::Result<()> {
        let options = &self.options;
        let standard = segment.header.bytes == options.segment_bytes;
        let number = {
            let mut pool = hold(&self.pool);
            if standard && pool.spares.len() < Pool::wanted(options) { Some(pool.number()) } else { None }
        };
        match number {
            Some(number) => self.disk.rename(&segment.name, &spare_name(number))?,
            None => self.disk.remove(&segment.name)?,
        }
        self.sync_folder()?;
        let mut pool = hold(&self.pool);
        match number {
            Some(number) => pool.spares.push(number),
            None => {
                pool.bytes = pool.bytes.saturating_sub(segment.header.bytes);
                pool.full = false;
            }
        }
        Ok(())
    }
}
