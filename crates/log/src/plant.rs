//! Wrong behaviours, switched on to prove that the simulation finds them.

/// One planted fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// Recovery does not compare the generation of a frame, so a recycled segment's old frames are read.
    AcceptRecycledFrame,
    /// A sync answers without syncing.
    SkipSync,
    /// The folder is not synced after a file was made, renamed or removed.
    SkipDirSync,
    /// Records are visible without the frame that commits their batch.
    AckTornBatch,
    /// A snapshot may be ahead of what is durable.
    SnapshotAhead,
    /// The old segment is not synced when a new one begins.
    SkipRollSync,
    /// A sync that failed answers as if all were well.
    IgnoreFailedSync,
    /// Any hole is taken for a torn tail, also before acknowledged records.
    CutAnyHole,
    /// What was found on opening counts as durable without being written again.
    SkipReopenSync,
    /// Records are given up that no snapshot holds.
    TrimAhead,
}

impl Plant {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::AcceptRecycledFrame,
        Self::SkipSync,
        Self::SkipDirSync,
        Self::AckTornBatch,
        Self::SnapshotAhead,
        Self::SkipRollSync,
        Self::IgnoreFailedSync,
        Self::CutAnyHole,
        Self::SkipReopenSync,
        Self::TrimAhead,
    ];
}

impl Plant {
    /// Returns the name by which a command line knows it.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// Says in one line what is wrong.
    pub fn summary(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::AcceptRecycledFrame => (
                "accept-recycled-frame",
                "recovery does not compare the generation of a frame, so a recycled segment's old frames are read",
            ),
            Self::SkipSync => ("skip-sync", "a sync answers without syncing"),
            Self::SkipDirSync => {
                ("skip-dir-sync", "the folder is not synced after a file was made, renamed or removed")
            }
            Self::AckTornBatch => {
                ("ack-torn-batch", "records are visible without the frame that commits their batch")
            }
            Self::SnapshotAhead => ("snapshot-ahead", "a snapshot may be ahead of what is durable"),
            Self::SkipRollSync => ("skip-roll-sync", "the old segment is not synced when a new one begins"),
            Self::IgnoreFailedSync => {
                ("ignore-failed-sync", "a sync that failed answers as if all were well")
            }
            Self::CutAnyHole => {
                ("cut-any-hole", "any hole is taken for a torn tail, also before acknowledged records")
            }
            Self::SkipReopenSync => (
                "skip-reopen-sync",
                "what was found on opening counts as durable without being written again",
            ),
            Self::TrimAhead => ("trim-ahead", "records are given up that no snapshot holds"),
        }
    }
}
