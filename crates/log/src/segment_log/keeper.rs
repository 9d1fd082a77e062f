//! The handle that prepares segments ahead of need, and gives them up.

use std::sync::Arc;

use message::Seq;

use super::shared::{Shared, hold};
use super::writer::capacity;
use crate::api::{Class, Keep};
use crate::disk::Disk;
use crate::error::{SyncError, TruncateError};
use crate::segment::SegmentHeader;

/// Prepares segments ahead of need and gives old ones up, on a thread that may wait.
///
/// Optional: without it an append makes the segment that it needs by itself, and waits for it.
pub struct Keeper<D: Disk> {
    shared: Arc<Shared<D>>,
}

/// What the segments that are ready take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Room for [`Class::Normal`].
    pub normal: u64,
    /// Room for [`Class::Reserve`]; includes `normal`.
    pub reserve: u64,
    /// Whether there was no room on the disk for another one when one was last wanted.
    pub is_full: bool,
}

/// A segment in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The number that its first record has or will have.
    pub first: Seq,
    /// What it takes on the disk.
    pub bytes: u64,
}

impl Extent {
    pub(super) fn of(header: &SegmentHeader) -> Self {
        Extent { first: header.first, bytes: header.bytes }
    }
}

impl<D: Disk> Keeper<D> {
    pub(super) fn new(shared: Arc<Shared<D>>) -> Self {
        Self { shared }
    }
}

impl<D: Disk> Keep for Keeper<D> {
    fn ready(&self) -> Ready {
        let options = &self.shared.options;
        let pool = hold(&self.shared.pool);
        let room = |class| pool.available(class, options) as u64 * capacity(options.segment_bytes);
        Ready { normal: room(Class::Normal), reserve: room(Class::Reserve), is_full: pool.full }
    }

    fn extents(&self) -> Vec<Extent> {
        self.shared.extents()
    }

    fn first(&self) -> Seq {
        self.shared.first()
    }

    fn newest(&self) -> Seq {
        self.shared.newest()
    }

    fn bytes(&self) -> u64 {
        hold(&self.shared.pool).bytes
    }

    fn covered(&self) -> Seq {
        self.shared.covered()
    }

    fn truncate_before(&self, seq: Seq) -> Result<Seq, TruncateError> {
        self.shared.truncate_before(seq)
    }

    /// Makes reserve and spare segments up to their number, as far as there is room, in the memory of old ones.
    ///
    /// Call it after opening, whenever a segment was filled, and now and then when the disk was full: appends
    /// do not ask the disk again by themselves once it was.
    fn keep(&self) -> Result<(), SyncError> {
        if self.shared.poisoned() {
            return Err(SyncError::Poisoned);
        }
        self.shared.let_go_of_old();
        hold(&self.shared.pool).full = false;
        self.shared.make_all().map_err(|error| {
            self.shared.poison();
            SyncError::Storage(error)
        })
    }
}
