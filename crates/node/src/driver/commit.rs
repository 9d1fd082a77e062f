//! Making batches durable: append, sync, and then let out what waited.

use log::{AppendError, Batch, Class, Keep as _, Log, SyncError, Syncer};
use message::Seq;

use super::{Completion, PendingBatch, Returns};
use crate::failure::describe;

/// Appends batches to the log and makes them durable.
pub struct Committer<L: Log> {
    log: L,
    syncer: L::Syncer,
    #[cfg(feature = "plants")]
    pub plant: Option<super::Plant>,
}

/// Batches that were appended and are not known to be durable.
pub struct Appended {
    completions: Vec<Vec<Completion>>,
    spares: Vec<Batch>,
    bytes: u64,
    /// The last event of them.
    last: Seq,
    needs: Seq,
}

/// Batches that are durable, as far as anybody needs it.
pub struct Committed {
    completions: Vec<Vec<Completion>>,
    pub(super) spares: Vec<Batch>,
    pub(super) bytes: u64,
    /// Up to where the log is durable.
    pub durable: Seq,
    /// What is left in the segment that is written to.
    pub(super) free: u64,
}

/// Why batches are not durable.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CommitError {
    /// Nothing of the batch is in the log: another writer has appended, or there is no room. The state holds events
    /// that the log does not: it must be loaded again.
    #[error("the log refused the batch: {0}")]
    Refused(String),
    /// Nobody knows whether the batch is in the log. The state must be loaded again from what the log then has.
    #[error("{0}")]
    Unknown(String),
}

impl<L: Log> Committer<L> {
    /// Takes a log over.
    pub fn new(log: L) -> Self {
        Committer {
            syncer: log.syncer(),
            log,
            #[cfg(feature = "plants")]
            plant: None,
        }
    }

    /// Lends the log.
    pub fn log(&self) -> &L {
        &self.log
    }

    /// Appends batches, in order.
    pub fn append(&mut self, batches: Vec<PendingBatch>) -> Result<Appended, CommitError> {
        let count = batches.len();
        let mut appended = Appended {
            completions: Vec::with_capacity(count),
            spares: Vec::with_capacity(count),
            bytes: 0,
            last: Seq(0),
            needs: Seq(0),
        };
        for pending in batches {
            let mut batch = pending.batch;
            appended.bytes += batch.bytes();
            appended.last = appended.last.max(pending.last);
            appended.needs = appended.needs.max(pending.needs);
            if !batch.is_empty() {
                let expected = Seq(pending.last.0 - batch.count());
                // Whether new work has room was decided with the batch; the reserve bears what was estimated too low.
                self.log.append(expected, &mut batch, Class::Reserve).map_err(|error| refused(&error))?;
            }
            batch.clear();
            appended.spares.push(batch);
            appended.completions.push(pending.completions);
        }
        #[cfg(feature = "plants")]
        if self.plant == Some(super::Plant::AckBeforeSync) {
            let early = std::mem::take(&mut appended.completions);
            early.into_iter().flatten().for_each(|early| early.complete(&mut Returns::new()));
        }
        Ok(appended)
    }

    /// Tells whether what was appended has to be synced before its completions leave.
    pub fn needs_sync(&self, appended: &Appended) -> bool {
        self.syncer.durable() < appended.needs
    }

    /// Waits until what was appended is durable, if anybody needs that. Appends are given in their order.
    pub fn sync(&mut self, appended: Appended) -> Result<Committed, CommitError> {
        let durable = match self.needs_sync(&appended) {
            false => self.syncer.durable(),
            true => self.sync_log(appended.last)?,
        };
        let Appended { completions, spares, bytes, .. } = appended;
        Ok(Committed { completions, spares, bytes, durable, free: self.free() })
    }

    fn sync_log(&mut self, upto: Seq) -> Result<Seq, CommitError> {
        let synced = self.syncer.sync_upto(upto);
        #[cfg(feature = "plants")]
        if synced.is_err() && self.plant == Some(super::Plant::IgnoreSyncFailure) {
            return Ok(self.log.last());
        }
        synced.map_err(|error| not_durable(&error))
    }

    /// Waits for the outcome of everything that was appended, so that it is known what the log has.
    pub fn settle(&mut self) -> Result<Seq, CommitError> {
        self.sync_log(self.log.last())
    }

    /// Makes everything that was appended durable, and notes in the log that it is, so that later damage to its end is
    /// told from a torn tail.
    pub fn finish(&mut self) -> Result<Seq, CommitError> {
        self.log.mark().map_err(|error| refused(&error))?;
        self.settle()
    }

    /// Returns up to where the log is known to be durable.
    pub fn durable(&self) -> Seq {
        self.syncer.durable()
    }

    /// Returns what is left in the segment that is written to.
    pub fn free(&self) -> u64 {
        self.log.room().reserve.saturating_sub(self.log.keeper().ready().reserve)
    }
}

impl Appended {
    /// Lets everything leave although it is not durable, by a planted fault.
    #[cfg(feature = "plants")]
    pub(super) fn leak(self) {
        let completions = self.completions.into_iter().flatten();
        completions.for_each(|completion| completion.complete(&mut Returns::new()));
    }
}

impl Committed {
    /// Lets everything leave that waited, and returns what could be given to nobody.
    pub fn release(self) -> Returns {
        let mut returns = Returns::new();
        for completion in self.completions.into_iter().flatten() {
            completion.complete(&mut returns);
        }
        returns
    }
}

fn refused(error: &AppendError) -> CommitError {
    match error {
        AppendError::Stale { .. }
        | AppendError::NoRoom { .. }
        | AppendError::RecordTooLarge { .. }
        | AppendError::BatchTooLarge { .. } => CommitError::Refused(describe(error)),
        AppendError::Poisoned | AppendError::Storage(_) => {
            CommitError::Unknown(format!("the log cannot be written: {}", describe(error)))
        }
    }
}

fn not_durable(error: &SyncError) -> CommitError {
    match error {
        SyncError::Stale { .. } => CommitError::Refused(describe(error)),
        SyncError::Poisoned | SyncError::Storage(_) => {
            CommitError::Unknown(format!("the log cannot be made durable: {}", describe(error)))
        }
    }
}
