//! The status of a task, as a message states it.

words! {
    /// How far a task is.
    pub enum TaskStatus {
        /// Nobody has taken it.
        Pending = "pending",
        /// Somebody has taken it.
        Claimed = "claimed",
        /// It is being worked on.
        Running = "running",
        /// It waits for something.
        Blocked = "blocked",
        /// It is finished.
        Done = "done",
        /// It was tried and did not succeed.
        Failed = "failed",
        /// It was not taken.
        Rejected = "rejected",
        /// It is no longer wanted.
        Cancelled = "cancelled",
    }
}
