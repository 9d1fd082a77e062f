//! The embedded log: segments on a disk.

mod keeper;
mod open;
mod pool;
mod reader;
#[cfg(any(test, feature = "plants"))]
mod recycled;
mod shared;
mod snapshots;
mod syncer;
mod tail;
mod trim;
mod writer;

use std::sync::Arc;

use message::Seq;

pub use keeper::{Extent, Keeper, Ready};
pub use open::{Cut, Opened};
pub use reader::LogReader;
pub use snapshots::LogSnapshots;
pub use syncer::LogSyncer;

use crate::api::{Class, Log, Room};
use crate::batch::Batch;
use crate::disk::Disk;
use crate::error::{AppendError, OpenError, TruncateError};
use crate::options::Options;
use shared::Shared;
use writer::Writer;

/// The log in segment files of one folder.
///
/// The folder stays taken until the log and all its handles are dropped.
pub struct SegmentLog<D: Disk> {
    shared: Arc<Shared<D>>,
    writer: Writer<D>,
}

impl<D: Disk> SegmentLog<D> {
    /// Opens the log in a folder, or makes one where there is none.
    pub fn open(disk: D, options: Options) -> Result<(Self, Opened), OpenError> {
        let (writer, opened) = open::open(disk, options)?;
        Ok((Self { shared: Arc::clone(&writer.shared), writer }, opened))
    }

    /// Returns the head of the chain over everything appended so far.
    pub fn chain(&self) -> [u8; 32] {
        self.writer.chain
    }
}

impl<D: Disk> Log for SegmentLog<D> {
    type Syncer = LogSyncer<D>;
    type Reader = LogReader<D>;
    type Snapshots = LogSnapshots<D>;
    type Keeper = Keeper<D>;

    fn first(&self) -> Seq {
        self.shared.first()
    }

    fn last(&self) -> Seq {
        self.shared.last()
    }

    fn room(&self) -> Room {
        self.writer.room()
    }

    fn append(&mut self, expected_last: Seq, batch: &mut Batch, class: Class) -> Result<Seq, AppendError> {
        self.writer.append(expected_last, batch, class)
    }

    fn syncer(&self) -> LogSyncer<D> {
        LogSyncer::new(Arc::clone(&self.shared))
    }

    fn reader(&self) -> LogReader<D> {
        LogReader::new(Arc::clone(&self.shared))
    }

    fn snapshots(&self) -> LogSnapshots<D> {
        LogSnapshots::new(Arc::clone(&self.shared))
    }

    fn keeper(&self) -> Keeper<D> {
        Keeper::new(Arc::clone(&self.shared))
    }

    fn mark(&mut self) -> Result<(), AppendError> {
        self.writer.mark()
    }

    fn truncate_before(&mut self, seq: Seq) -> Result<Seq, TruncateError> {
        self.shared.truncate_before(seq)
    }
}
