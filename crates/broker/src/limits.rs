//! Limits and policies that the broker is given. There is no default here: whoever starts it chooses.

/// Everything that can be set.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is refused.
    pub limits: Limits,
    /// How failures are tried again.
    pub retries: Retries,
    /// After how many turns without a human or another task a conversation is warned about.
    pub turns_warn: u32,
    /// After how many it is parked, if ever.
    pub turns_park: Option<u32>,
}

/// What is refused, and from where on.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Registered agents.
    pub agents_max: u64,
    /// Roles, topics and channels.
    pub groups_max: u64,
    /// Memberships of one agent.
    pub memberships_max: u64,
    /// Open connections of one agent.
    pub sessions_max: u64,
    /// Other names of one agent.
    pub aliases_max: u64,
    /// Recipients that one message names.
    pub recipients_max: usize,
    /// Fallbacks that one message names.
    pub fallbacks_max: usize,
    /// Forwards of one message.
    pub hops_max: u8,
    /// Bytes of one message's body.
    pub body_bytes_max: u64,
    /// Messages that wait for one recipient, posts of a topic or channel included.
    pub queue_max: u64,
    /// Bytes that wait for one recipient.
    pub queue_bytes_max: u64,
    /// Messages that nobody has settled, all together.
    pub messages_max: u64,
    /// Their bytes.
    pub bytes_max: u64,
    /// Messages held for names that nobody has.
    pub held_max: u64,
    /// How long they are held at most, in milliseconds.
    pub held_ms_max: u64,
    /// The shortest lease, in milliseconds.
    pub lease_ms_min: u64,
    /// The longest lease, in milliseconds.
    pub lease_ms_max: u64,
    /// Bytes of a reason, of the name of a gateway and the like.
    pub text_bytes_max: usize,
    /// Messages in one answer to a take.
    pub take_max: u32,
    /// Records of all repositories together.
    pub records_max: u64,
    /// Tasks, those that are over and remembered included.
    pub tasks_max: u64,
}

/// How failures are tried again.
#[derive(Clone, Debug)]
pub struct Retries {
    /// The first pause, in milliseconds.
    pub base_ms: u64,
    /// By how much each further pause is longer, when it grows exponentially.
    pub multiplier: f64,
    /// The longest pause, in milliseconds.
    pub pause_ms_max: u64,
    /// Retries at most, whatever a message asks for.
    pub retries_max: u32,
    /// Retries of a message that does not say.
    pub retries: u32,
    /// Whether chance shortens the pauses, so that not everybody comes back at once.
    pub jitter: bool,
}

/// How much is remembered of what is over. Part of the state, because it decides what applying an event forgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Ids of one sender that are known again.
    pub known_per_sender_max: u64,
    /// Ids that are known again, all together.
    pub known_max: u64,
    /// For how long they are known, in milliseconds.
    pub known_ms: u64,
    /// For how long a message without an id is known by what it says.
    pub content_ms: u64,
    /// Settled messages whose receipts are at hand.
    pub settled_max: u64,
    /// Dead letters that are kept.
    pub dead_max: u64,
}

impl Retention {
    /// What a state remembers before it is told otherwise.
    pub const USUAL: Retention = Retention {
        known_per_sender_max: 100_000,
        known_max: 4_000_000,
        known_ms: 24 * 60 * 60 * 1_000,
        content_ms: 60_000,
        settled_max: 16_384,
        dead_max: 100_000,
    };
}
