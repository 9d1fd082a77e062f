//! The handle that makes batches durable.

use std::sync::Arc;

use message::Seq;

use super::shared::{Shared, SyncFailure};
use crate::api::Syncer;
use crate::disk::Disk;
use crate::error::SyncError;

/// Makes the batches of a [`SegmentLog`](crate::SegmentLog) durable.
pub struct LogSyncer<D: Disk> {
    shared: Arc<Shared<D>>,
}

impl<D: Disk> LogSyncer<D> {
    pub(super) fn new(shared: Arc<Shared<D>>) -> Self {
        Self { shared }
    }
}

impl<D: Disk> Syncer for LogSyncer<D> {
    fn sync(&mut self) -> Result<Seq, SyncError> {
        self.shared.sync().map_err(|failure| match failure {
            SyncFailure::Earlier => SyncError::Poisoned,
            SyncFailure::Now(error) => SyncError::Storage(error),
        })
    }

    fn durable(&self) -> Seq {
        self.shared.durable()
    }
}
