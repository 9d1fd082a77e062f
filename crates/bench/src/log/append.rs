//! Durable appends: the three sides and what each does with a batch.

use anyhow::Context;
use log::Batch;

use super::sqlite::Sqlite;
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
    Ours,
    Raw,
    Sqlite,
}

/// All who write, with what they write.
pub(crate) struct Sides {
    ours: Ours,
    raw: Raw,
    sqlite: Sqlite,
    records: Vec<u8>,
}

struct Ours {
    ring: Ring,
    batch: Batch,
}

impl Side {
    pub(crate) const ALL: [Side; 3] = [Side::Ours, Side::Raw, Side::Sqlite];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Side::Ours => "ours",
            Side::Raw => "bare file",
            Side::Sqlite => "SQLite",
        }
    }
}

impl Sides {
    pub(crate) fn make(scratch: &Scratch, scale: Scale) -> anyhow::Result<Self> {
        Ok(Sides {
            ours: Ours::make(scratch, scale)?,
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
        for (side, count) in [(Side::Ours, batches), (Side::Raw, batches), (Side::Sqlite, transactions)] {
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
        figures::try_run(pace, batch, || {
            let ((), took) = figures::once(|| match side {
                Side::Ours => self.ours.write(records),
                Side::Raw => self.raw.write(records),
                Side::Sqlite => self.sqlite.write(records).context("writing to the database"),
            })?;
            commits_ms.push(took.as_secs_f64() * 1e3);
            Ok(())
        })
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
