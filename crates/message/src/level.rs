//! Levels: how urgent and how bad.

words! {
    /// How urgent a message is; a greater value is more urgent.
    pub enum Priority {
        /// Whenever there is time.
        Low = "low",
        /// The usual.
        Normal = "normal",
        /// Before the usual.
        High = "high",
        /// Before everything else.
        Critical = "critical",
    }
}

words! {
    /// How bad something is; a greater value is worse.
    pub enum Severity {
        /// Hardly matters.
        Low = "low",
        /// Should be looked at.
        Medium = "medium",
        /// Harms the work.
        High = "high",
        /// Stops the work.
        Critical = "critical",
    }
}
