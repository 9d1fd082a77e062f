//! Effects: what the world should be told after an event. They are let out only when the event is durable.

use message::{DeliveryId, MessageId, Stage};

use crate::mailbox::Mailbox;

/// What the world should be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Something waits here that may be taken now: by a connection, an agent, one member of a role, or each member
    /// of a topic or channel.
    Ready(Mailbox),
    /// A reply has come for somebody who waits for it. It is theirs to write out; what cannot be written is returned.
    Answered { message: MessageId, reply: MessageId, delivery: DeliveryId },
    /// Somebody who waits for a reply will get none.
    Unanswered { message: MessageId, stage: Stage },
}

/// Where effects are gathered.
pub type Effects = Vec<Effect>;
