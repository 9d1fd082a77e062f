//! Our log as a running server has it: its segments are recycled, none is made while it is measured.

use std::path::Path;

use log::{Batch, Class, Keep as _, Log, LogSyncer, Options, RealDisk, SegmentLog, Seq, Snapshots, Syncer};

/// After how many filled segments the oldest are given up.
const SEGMENTS_KEPT: u64 = 4;

/// A log whose records are given up soon after they were written.
pub(crate) struct Ring {
    pub(crate) log: SegmentLog<RealDisk>,
    syncer: LogSyncer<RealDisk>,
    segment_bytes: u64,
    /// What was appended since records were last given up.
    bytes: u64,
}

/// How large the parts of a measure are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// As large as the figures say.
    Full,
    /// Just large enough that every line runs.
    Tiny,
}

impl Ring {
    /// Opens a log in an empty folder and makes its spare segments.
    pub(crate) fn open(folder: &Path, scale: Scale) -> anyhow::Result<Self> {
        let ring = Ring::open_bare(folder, scale)?;
        ring.log.keeper().keep()?;
        Ok(ring)
    }

    /// Opens a log in an empty folder; segments are made when they are needed.
    pub(crate) fn open_bare(folder: &Path, scale: Scale) -> anyhow::Result<Self> {
        let options = options(scale);
        let segment_bytes = options.segment_bytes;
        let (log, _) = SegmentLog::open(RealDisk::new(folder)?, options)?;
        let syncer = log.syncer();
        Ok(Ring { log, syncer, segment_bytes, bytes: 0 })
    }

    /// Appends a batch, not yet durable.
    pub(crate) fn append(&mut self, batch: &mut Batch) -> anyhow::Result<()> {
        self.log.append(self.log.last(), batch, Class::Normal)?;
        self.bytes += batch.bytes();
        Ok(())
    }

    /// Makes everything durable that was appended.
    pub(crate) fn sync(&mut self) -> anyhow::Result<Seq> {
        Ok(self.syncer.sync()?)
    }

    /// Gives up the oldest records when enough were appended, so that their segments are used again.
    ///
    /// The snapshot that this takes is empty: folding the state is the work of another thread.
    pub(crate) fn recycle(&mut self, durable: Seq) -> anyhow::Result<()> {
        if self.bytes < SEGMENTS_KEPT * self.segment_bytes {
            return Ok(());
        }
        self.bytes = 0;
        self.log.snapshots().store(durable, |_| Ok(()))?;
        self.log.truncate_before(durable)?;
        Ok(())
    }
}

/// The sizes of a real bus, with spare segments for everything that is given up at once.
pub(crate) fn options(scale: Scale) -> Options {
    let options = Options::standard(0x5eed);
    match scale {
        Scale::Full => Options { spare_segments: 2 * SEGMENTS_KEPT as u32, ..options },
        Scale::Tiny => Options { segment_bytes: 1 << 20, record_bytes_max: 1 << 16, ..options },
    }
}
