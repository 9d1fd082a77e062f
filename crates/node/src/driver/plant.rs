//! Planted faults: wrong behaviours of the driver that can be switched on, for the simulation to find.

macro_rules! plants {
    ($($plant:ident = $name:literal, $summary:literal;)*) => {
        /// A wrong behaviour.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Plant {
            $(#[doc = $summary] $plant,)*
        }

        impl Plant {
            /// All of them.
            pub const ALL: &'static [Plant] = &[$(Plant::$plant),*];

            /// Returns the name by which the command line knows it.
            pub fn name(self) -> &'static str {
                match self { $(Plant::$plant => $name),* }
            }

            /// Says in one line what is wrong.
            pub fn summary(self) -> &'static str {
                match self { $(Plant::$plant => $summary),* }
            }
        }
    };
}

plants! {
    AckBeforeSync = "ack-before-sync", "answers leave before the log is synced";
    DuplicateBeforeDurable = "duplicate-before-durable", "answers that append nothing leave at once";
    SnapshotUnsynced = "snapshot-unsynced", "a snapshot is folded ahead of what is durable";
    SnapshotForgets = "snapshot-forgets", "a snapshot is marked with a later place than it was folded to";
    DropReturned = "drop-returned", "what was never written is not put back, though the caller is told so";
    TrimWithoutCarry = "trim-without-carry", "the log is trimmed without carrying living bodies forward";
    TrimRecords = "trim-records", "the log is trimmed without carrying the documents of records forward";
    TrimTasks = "trim-tasks", "the log is trimmed without carrying forward what asks for open tasks";
    ForgetRestart = "forget-restart", "after a restart nobody says that connections are gone";
    IgnoreSyncFailure = "ignore-sync-failure", "a failed sync is taken for a good one";
    ClaimBeforeDurable = "claim-before-durable", "who claims a task is told so before that is durable";
    ForgetWorkDue = "forget-work-due", "nobody looks at the clock for work: claims, gates and help never end";
    SkipBusyReset = "skip-busy-reset", "after a failure the log stays marked as being written to";
    ForgetBehindFailure = "forget-behind-failure", "callers of batches behind a failed one are never answered";
    KeepAfterRefusal = "keep-after-refusal", "after a refused append the state keeps events that the log has not";
    ReleaseOutOfOrder = "release-out-of-order", "completions of the newest append in flight leave first";
    KeepBehindRefused = "keep-behind-refused", "what was appended behind a refused append is released as if durable";
    ReloadTooEarly = "reload-too-early", "the state is loaded again while appends before a refused one are in flight";
    StaleRecentBody = "stale-recent-body", "recent bodies are filed under the place before their own";
}
