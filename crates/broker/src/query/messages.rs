//! Queries about messages and deliveries.

use message::{DeliveryId, MessageId, RecipientReceipt};
use smol_str::SmolStr;

use crate::{AgentKey, MessageView, WaitingView};

/// What became of a message at each of its recipients. Nothing once the message is forgotten.
#[derive(Clone, Copy, Debug)]
pub struct ReceiptOf {
    /// The message.
    pub message: MessageId,
}

query!(ReceiptOf -> Option<Vec<RecipientReceipt>>, "receipt", |this, state, _at| state.receipt(this.message));

/// A message, while it is remembered.
#[derive(Clone, Copy, Debug)]
pub struct FindMessage {
    /// The message.
    pub message: MessageId,
}

query!(FindMessage -> Option<MessageView>, "message", |this, state, _at| state.look_into(this.message));

/// What an agent would be handed next, in order, and how many more there are.
#[derive(Clone, Copy, Debug)]
pub struct Inbox {
    /// The agent.
    pub agent: AgentKey,
    /// How many messages are returned at most.
    pub max: usize,
}

query!(Inbox -> (Vec<WaitingView>, u64), "inbox", |this, state, at| state.inbox(this.agent, at.wall, this.max));

/// What waits for an agent, the most urgent first and then the oldest, and how many more there are.
#[derive(Clone, Copy, Debug)]
pub struct Unread {
    /// The agent.
    pub agent: AgentKey,
    /// How many messages are put in order at most.
    pub max: usize,
}

query!(Unread -> (Vec<WaitingView>, u64), "unread", |this, state, at| state.unread(this.agent, at.wall, this.max));

/// The agent to which a delivery was handed out.
#[derive(Clone, Copy, Debug)]
pub struct DeliveryHolder {
    /// The delivery.
    pub delivery: DeliveryId,
}

query!(DeliveryHolder -> Option<AgentKey>, "delivery-holder", |this, state, _at| state.holder(this.delivery));

/// The messages that agents sent under ids of their own, while the ids are remembered.
#[derive(Clone, Debug)]
pub struct SentAs {
    /// Who sent it, and under which id.
    pub sent: Vec<(AgentKey, SmolStr)>,
}

query!(SentAs -> Vec<Option<MessageId>>, "sent-as", |this, state, _at| {
    this.sent.iter().map(|(agent, id)| state.sent_as(*agent, id)).collect()
});
