//! Stages of a receipt, and the ways in which a recipient can be reached.

words! {
    /// How far a message has come with one recipient, ordered by advancement.
    ///
    /// The stages under way come first, then the ends without an answer, worst first, then the good ends. So the
    /// least of several says what is still under way, else what went wrong, else what all have reached.
    pub enum Stage {
        /// Checked and taken in.
        Accepted = "accepted",
        /// Durable.
        Stored = "stored",
        /// Handed to a gateway or session.
        Dispatched = "dispatched",
        /// Put before the model.
        Surfaced = "surfaced",
        /// Given up: refused or exhausted.
        Dead = "dead",
        /// Its time ran out.
        Expired = "expired",
        /// Its sender took it back.
        Withdrawn = "withdrawn",
        /// Handed out at most once, and nobody knows whether it arrived.
        Unconfirmed = "unconfirmed",
        /// The recipient has it.
        Acknowledged = "acknowledged",
        /// The recipient has replied.
        Answered = "answered",
    }
}

words! {
    /// How a recipient can be reached, the most direct way first.
    pub enum Reachability {
        /// Through a connected socket.
        Socket = "socket",
        /// Through a watcher that wakes it.
        Watcher = "watcher",
        /// Through a runner that starts it.
        Runner = "runner",
        /// When it looks into its inbox by itself.
        Poll = "poll",
        /// By nobody now.
        Nobody = "nobody",
    }
}

impl Stage {
    /// Tells whether the delivery is settled; only an answer can still follow.
    pub fn is_end(self) -> bool {
        match self {
            Stage::Accepted | Stage::Stored | Stage::Dispatched | Stage::Surfaced => false,
            Stage::Dead
            | Stage::Expired
            | Stage::Withdrawn
            | Stage::Unconfirmed
            | Stage::Acknowledged
            | Stage::Answered => true,
        }
    }
}
