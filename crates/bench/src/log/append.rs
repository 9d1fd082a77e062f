//! Durable appends: the three sides and what each does with a batch.

use anyhow::Context;
use log::{Batch, Log, Seq, SyncError, Syncer};

use super::sqlite::Sqlite;
use crate::engine::second::Second;
use crate::figures::{self, Pace, Timing};
use crate::raw::Raw;
use crate::ring::{Ring, Scale};
use crate::scratch::Scratch;

/// The size of a record.
pub(crate) const RECORD_BYTES: usize = 1024;
/// The largest batch.
const RECORDS_MAX: usize = 256;
/// Batches with which our ring and the bare file have gone round once.
const WARM_UP_BATCHES: u64 = 5_000;
/// Of these SQLite needs far fewer: its log is checkpointed every thousand pages.
const WARM_UP_TRANSACTIONS: u64 = 100;

/// Who writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Each batch is durable before the next is begun.
    Ours,
    /// A second thread syncs while the next batch is made, as in a server.
    Pair,
    Raw,
    Sqlite,
}

/// All who write, with what they write.
pub(crate) struct Sides {
    ours: Ours,
    pair: Pair,
    raw: Raw,
    sqlite: Sqlite,
    records: Vec<u8>,
}

struct Ours {
    ring: Ring,
    batch: Batch,
}

impl Side {
    pub(crate) const ALL: [Side; 4] = [Side::Ours, Side::Pair, Side::Raw, Side::Sqlite];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Side::Ours => "ours",
            Side::Pair => "ours, two threads",
            Side::Raw => "bare file",
            Side::Sqlite => "SQLite",
        }
    }
}

impl Sides {
    pub(crate) fn make(scratch: &Scratch, scale: Scale) -> anyhow::Result<Self> {
        Ok(Sides {
            ours: Ours::make(scratch, scale)?,
            pair: Pair::make(scratch, scale)?,
            raw: Raw::make(&scratch.folder("bare")?, scale)?,
            sqlite: Sqlite::make(&scratch.folder("sqlite")?).context("making the database")?,
            records: records(),
        })
    }

    /// Lets everybody reach the state in which they would be after a day.
    pub(crate) fn warm_up(&mut self, scale: Scale) -> anyhow::Result<()> {
        let (batches, transactions) = match scale {
            Scale::Full => (WARM_UP_BATCHES, WARM_UP_TRANSACTIONS),
            Scale::Tiny => (1, 1),
        };
        let sides = [
            (Side::Ours, batches),
            (Side::Pair, batches),
            (Side::Raw, batches),
            (Side::Sqlite, transactions),
        ];
        for (side, count) in sides {
            self.run(side, RECORDS_MAX, Pace::Passes(count), &mut Vec::new())?;
        }
        Ok(())
    }

    /// Writes batch after batch; notes how long each took.
    pub(crate) fn run(
        &mut self,
        side: Side,
        batch: usize,
        pace: Pace,
        commits_ms: &mut Vec<f64>,
    ) -> anyhow::Result<Timing> {
        let records = &self.records[..batch * RECORD_BYTES];
        let timing = figures::try_run(pace, batch, || {
            let ((), took) = figures::once(|| match side {
                Side::Ours => self.ours.write(records),
                Side::Pair => self.pair.write(records),
                Side::Raw => self.raw.write(records),
                Side::Sqlite => self.sqlite.write(records).context("writing to the database"),
            })?;
            commits_ms.push(took.as_secs_f64() * 1e3);
            anyhow::Ok(())
        })?;
        // The last sync of thousands ends after the time.
        self.pair.finish()?;
        Ok(timing)
    }
}

impl Ours {
    fn make(scratch: &Scratch, scale: Scale) -> anyhow::Result<Self> {
        Ok(Ours::with(Ring::open(&scratch.folder("log")?, scale)?))
    }

    fn with(ring: Ring) -> Self {
        Ours { ring, batch: Batch::with_capacity(RECORDS_MAX * (RECORD_BYTES + 64)) }
    }

    fn write(&mut self, records: &[u8]) -> anyhow::Result<()> {
        self.batch.clear();
        for record in records.chunks(RECORD_BYTES) {
            self.batch.push(record);
        }
        self.ring.append(&mut self.batch)?;
        let durable = self.ring.sync()?;
        self.ring.recycle(durable)
    }
}

/// Our log with a second thread that syncs; at most one sync is under way.
struct Pair {
    ring: Ring,
    batch: Batch,
    second: Second<(), Result<Seq, SyncError>>,
}

impl Pair {
    fn make(scratch: &Scratch, scale: Scale) -> anyhow::Result<Self> {
        let ring = Ring::open(&scratch.folder("pair")?, scale)?;
        let mut syncer = ring.log.syncer();
        let second = Second::start("sync", move |()| syncer.sync())?;
        Ok(Pair { ring, batch: Batch::with_capacity(RECORDS_MAX * (RECORD_BYTES + 64)), second })
    }

    fn write(&mut self, records: &[u8]) -> anyhow::Result<()> {
        self.batch.clear();
        for record in records.chunks(RECORD_BYTES) {
            self.batch.push(record);
        }
        self.ring.append(&mut self.batch)?;
        self.finish()?;
        self.second.ask(())
    }

    /// Waits for the sync that is under way.
    fn finish(&mut self) -> anyhow::Result<()> {
        match self.second.wait()? {
            Some(durable) => self.ring.recycle(durable?),
            None => Ok(()),
        }
    }
}

/// Appends batches on our side only.
pub(crate) fn work(scratch: &Scratch, batch: usize, passes: u64) -> anyhow::Result<()> {
    // Small segments would be recycled so often that little else is seen.
    let mut ours = Ours::with(Ring::open_bare(&scratch.folder("log")?, Scale::Full)?);
    let records = records();
    for _ in 0..passes {
        ours.write(&records[..batch * RECORD_BYTES])?;
    }
    Ok(())
}

/// The records of the largest batch, of bytes that nobody could compress.
pub(crate) fn records() -> Vec<u8> {
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut bytes = Vec::with_capacity(RECORDS_MAX * RECORD_BYTES);
    while bytes.len() < RECORDS_MAX * RECORD_BYTES {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes
}
