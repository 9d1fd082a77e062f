//! A message as a list shows it.

use message::{Address, Dialect, Guarantee, Kind, MessageId, Priority, Seq, Stage, Timestamp};

use crate::delivery::{Delivery, Mailbox, State};
use crate::letter::Letter;
use crate::registry::Registry;

/// A message as a list shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Where it was accepted.
    pub seq: Seq,
    /// Its id.
    pub id: MessageId,
    /// The id that its sender gave.
    pub native_id: Option<String>,
    /// When it was accepted.
    pub at: Timestamp,
    /// The language in which it came.
    pub dialect: Dialect,
    /// What it means.
    pub kind: Kind,
    /// Who sent it, by name; `?` if the log no longer tells.
    pub from: String,
    /// To whom it was sent.
    pub to: Vec<Address>,
    /// The conversation.
    pub thread: Option<String>,
    /// The task.
    pub task: Option<String>,
    /// What it answers, as its sender wrote it.
    pub reply_to: Option<String>,
    /// How urgent it is.
    pub priority: Priority,
    /// How hard the bus tries.
    pub guarantee: Guarantee,
    /// How far it has come with the recipient with whom it is least advanced.
    pub stage: Stage,
    /// Where its body lies in the log.
    pub body: Seq,
    /// Whether it was sent to a topic, a channel or everyone, so that everybody may read it.
    pub has_public_target: bool,
}

impl Row {
    pub(crate) fn new(letter: &Letter, registry: &Registry) -> Self {
        Row {
            seq: letter.seq,
            id: letter.id,
            native_id: letter.native_id.clone(),
            at: letter.at.timestamp(),
            dialect: letter.dialect,
            kind: letter.kind,
            from: registry.name(letter.from).to_owned(),
            to: letter.to.split(' ').filter_map(|address| address.parse().ok()).collect(),
            thread: letter.thread.clone(),
            task: letter.task.clone(),
            reply_to: letter.reply_to.clone(),
            priority: letter.priority,
            guarantee: letter.guarantee,
            stage: stage(letter, registry),
            body: letter.body,
            has_public_target: letter.flags.is_public,
        }
    }
}

/// Returns the posts of a message that still wait for members of their topic, the newest first, with the members.
pub(crate) fn waiting_members(
    letter: &Letter,
    registry: &Registry,
) -> impl Iterator<Item = broker::AgentKey> {
    let posts =
        letter.deliveries.iter().rev().filter_map(|delivery| match (&delivery.mailbox, delivery.state) {
            (Mailbox::Group(group), State::Post) => Some((*group, delivery.number)),
            _ => None,
        });
    let has_it = |agent| letter.deliveries.iter().any(|delivery| delivery.recipient() == Some(agent));
    posts
        .flat_map(|(group, number)| registry.behind(group, number))
        .filter(move |agent| *agent != letter.from && !(letter.flags.is_several && has_it(*agent)))
}

fn stage(letter: &Letter, registry: &Registry) -> Stage {
    let stages = letter.deliveries.iter().filter_map(Delivery::shown_stage);
    let waiting = waiting_members(letter, registry).map(|_| Stage::Stored).take(1);
    stages.chain(waiting).min().unwrap_or(Stage::Stored)
}
