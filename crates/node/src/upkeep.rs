//! Upkeep behind the writer: segments made ready, snapshots folded from the log.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use log::{Keeper, Log, LogReader, LogSnapshots, RealDisk, SegmentLog, Snapshots};
use message::Seq;

use crate::release::Outbox;
use crate::start::{Settings, fold};

/// What the upkeep thread works with.
pub(crate) struct Upkeep {
    keeper: Keeper<RealDisk>,
    snapshots: LogSnapshots<RealDisk>,
    reader: LogReader<RealDisk>,
    settings: Settings,
    outbox: Arc<Outbox>,
    /// The last snapshot.
    at: Seq,
    /// Rings with the number of bytes that were appended; closed when the writer is gone.
    woken: Receiver<u64>,
}

impl Upkeep {
    pub(crate) fn new(
        log: &SegmentLog<RealDisk>,
        settings: &Settings,
        at: Option<Seq>,
        outbox: Arc<Outbox>,
        woken: Receiver<u64>,
    ) -> Self {
        Upkeep {
            keeper: log.keeper(),
            snapshots: log.snapshots(),
            reader: log.reader(),
            settings: settings.clone(),
            outbox,
            at: at.unwrap_or(Seq(0)),
            woken,
        }
    }

    /// Keeps house until the writer is gone. A failure here is the next append's or the next start's to report:
    /// without a fresh snapshot a start takes longer, nothing else.
    pub(crate) fn run(mut self) {
        drop(self.keeper.keep());
        self.outbox.kept();
        let mut bytes = 0;
        while let Ok(appended) = self.woken.recv() {
            drop(self.keeper.keep());
            bytes += appended;
            if bytes >= self.settings.snapshot_bytes && self.take_snapshot().is_some() {
                bytes = 0;
            }
        }
        // The writer has stopped and everything is durable: the next start has nothing to replay.
        self.take_snapshot();
    }

    /// Folds what is durable since the last snapshot into a new one, by the same rules as the writer.
    fn take_snapshot(&mut self) -> Option<()> {
        let durable = self.outbox.durable();
        if durable <= self.at {
            return None;
        }
        let folded = fold(&self.snapshots, &self.reader, &self.settings.broker, durable).ok()?;
        let mut bytes = Vec::new();
        folded.broker.snapshot(&mut bytes);
        self.snapshots.store(durable, |out| out.write_all(&bytes)).ok()?;
        self.at = durable;
        Some(())
    }
}
