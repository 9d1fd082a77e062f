//! The handle that stores and loads snapshots.

use std::io::{self, Write};
use std::sync::Arc;

use message::Seq;

use super::reader::LogReader;
use super::shared::{Shared, hold};
use crate::api::{Snapshot, Snapshots};
use crate::disk::Disk;
use crate::error::{ReadError, SnapshotError};
use crate::folder::Folder;
use crate::frame::Chain;
#[cfg(any(test, feature = "plants"))]
use crate::plant::Plant;
use crate::snapshot_file::{self, UNFINISHED, snapshot_name};

/// How many snapshots are kept: should the newest be damaged, the one before it serves.
pub(super) const KEPT: usize = 2;

/// The snapshots of a [`SegmentLog`](crate::SegmentLog).
pub struct LogSnapshots<D: Disk> {
    shared: Arc<Shared<D>>,
}

impl<D: Disk> LogSnapshots<D> {
    pub(super) fn new(shared: Arc<Shared<D>>) -> Self {
        Self { shared }
    }

    fn check(&self, at: Seq) -> Result<(), SnapshotError> {
        let durable = self.shared.durable();
        #[cfg(any(test, feature = "plants"))]
        let durable = if self.shared.planted(Plant::SnapshotAhead) { self.shared.last() } else { durable };
        if at > durable {
            return Err(SnapshotError::Ahead { at, durable });
        }
        match hold(&self.shared.snapshots).last() {
            Some(newest) if *newest >= at => Err(SnapshotError::NotNewer { at, newest: *newest }),
            Some(_) | None => Ok(()),
        }
    }

    fn chain_at(&self, at: Seq) -> Result<Chain, SnapshotError> {
        match LogReader::new(Arc::clone(&self.shared)).chain_at(at) {
            Ok(Some(chain)) => Ok(chain),
            Ok(None) => Err(SnapshotError::NotABatchEnd { at }),
            Err(ReadError::Storage(error)) => Err(SnapshotError::Storage(error)),
            Err(ReadError::Damaged(damage)) => Err(SnapshotError::Damaged(damage)),
            Err(ReadError::Trimmed { .. } | ReadError::Beyond { .. } | ReadError::Missing { .. }) => {
                Err(SnapshotError::NotABatchEnd { at })
            }
        }
    }

    fn publish(&self, at: Seq) -> io::Result<()> {
        self.shared.disk.rename(UNFINISHED, &snapshot_name(at))?;
        self.shared.sync_folder()?;
        let mut kept = hold(&self.shared.snapshots);
        kept.push(at);
        while kept.len() > KEPT {
            let oldest = kept.remove(0);
            self.shared.disk.remove(&snapshot_name(oldest))?;
        }
        Ok(())
    }
}

impl<D: Disk> Snapshots for LogSnapshots<D> {
    fn store(
        &mut self,
        at: Seq,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), SnapshotError> {
        self.check(at)?;
        let chain = self.chain_at(at)?;
        let written = snapshot_file::write(&self.shared.disk, at, &chain, write);
        if let Err(error) = written {
            // It gives its room back. If that fails too, storing the next one or the next opening does it, and
            // the first failure is the one to tell.
            self.shared.disk.remove(UNFINISHED).unwrap_or_default();
            return Err(SnapshotError::Storage(error));
        }
        self.publish(at).map_err(SnapshotError::Storage)
    }

    fn load(&self) -> Result<Option<Snapshot>, SnapshotError> {
        let folder = Folder::list(&self.shared.disk).map_err(SnapshotError::Storage)?;
        let checked = hold(&self.shared.snapshot_checked).take();
        let mut damaged = Vec::new();
        for at in folder.snapshots.into_iter().rev() {
            // A start reads a big snapshot twice, to check and to use it, and not three times.
            let disk = &self.shared.disk;
            let file = if checked == Some(at) {
                snapshot_file::open_checked(disk, at)
            } else {
                snapshot_file::open(disk, at)
            };
            match file.map_err(SnapshotError::Storage)? {
                Ok(file) => {
                    return Ok(Some(Snapshot { at, bytes: Box::new(file.into_reader()), damaged }));
                }
                Err(_) => damaged.push(snapshot_name(at)),
            }
        }
        Ok(None)
    }
}
