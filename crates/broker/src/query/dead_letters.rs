//! Queries about dead letters.

use message::{Kind, MessageId, Stage};

use crate::{AgentKey, DeadView, EntryKey, Time, Tried};

/// A dead letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadDetails {
    /// By which it is retried or dropped.
    pub entry: EntryKey,
    /// The message.
    pub id: MessageId,
    /// Who sent it.
    pub from: AgentKey,
    /// What it means.
    pub kind: Kind,
    /// To whom it went.
    pub to: String,
    /// How it ended.
    pub stage: Stage,
    /// When.
    pub at: Time,
    /// Why.
    pub reason: Box<str>,
    /// How often it was handed out.
    pub attempts: u32,
    /// Who was tried before.
    pub tried: Vec<Tried>,
}

/// Dead letters, the oldest first, and behind which place to go on; nothing after the last one.
#[derive(Clone, Debug)]
pub struct DeadPage {
    /// Behind which place the page begins.
    pub after: Option<u64>,
    /// How many dead letters are looked at.
    pub look_max: usize,
    /// How many are returned at most.
    pub max: usize,
    /// Only what these agents sent; everything if nothing is said.
    pub from: Option<Vec<AgentKey>>,
}

query!(DeadPage -> (Vec<DeadDetails>, Option<u64>), "dead-page", |this, state, _at| {
    let (mut found, mut last) = (Vec::new(), None);
    for (count, (place, dead)) in state.dead_behind(this.after).enumerate() {
        if found.len() == this.max || count == this.look_max {
            return (found, last);
        }
        last = Some(place);
        if this.from.as_ref().is_none_or(|from| from.contains(&dead.from)) {
            found.push(details(dead));
        }
    }
    (found, None)
});

/// The dead letters of one message.
#[derive(Clone, Copy, Debug)]
pub struct DeadOf {
    /// The message.
    pub message: MessageId,
}

query!(DeadOf -> Vec<DeadDetails>, "dead-of-message", |this, state, _at| {
    state.dead_of(this.message).map(details).collect()
});

fn details(view: DeadView<'_>) -> DeadDetails {
    DeadDetails {
        entry: view.entry,
        id: view.id,
        from: view.from,
        kind: view.kind,
        to: view.to,
        stage: view.stage,
        at: view.at,
        reason: view.reason.into(),
        attempts: view.attempts,
        tried: view.tried.into_iter().cloned().collect(),
    }
}
