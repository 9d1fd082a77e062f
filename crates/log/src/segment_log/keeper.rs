//! The handle that prepares segments ahead of need.

use std::sync::Arc;

use super::shared::{Shared, hold};
use crate::disk::Disk;
use crate::error::SyncError;

/// Prepares segments ahead of need, on a thread that may wait.
///
/// Optional: without it an append makes the segment that it needs by itself, and waits for it.
pub struct Keeper<D: Disk> {
    shared: Arc<Shared<D>>,
}

impl<D: Disk> Keeper<D> {
    pub(super) fn new(shared: Arc<Shared<D>>) -> Self {
        Self { shared }
    }

    /// Makes reserve and spare segments up to their number, as far as there is room.
    ///
    /// Call it after opening, whenever a segment was filled, and now and then when the disk was full: appends
    /// do not ask the disk again by themselves once it was.
    pub fn keep(&self) -> Result<(), SyncError> {
        if self.shared.poisoned() {
            return Err(SyncError::Poisoned);
        }
        hold(&self.shared.pool).full = false;
        self.shared.make_all().map_err(|error| {
            self.shared.poison();
            SyncError::Storage(error)
        })
    }
}
