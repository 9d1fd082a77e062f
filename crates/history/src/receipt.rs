//! Receipts: what became of a message with each recipient, as the broker told it while it remembered.

use message::{Address, Reachability, RecipientReceipt, Stage, StageEntry};

use crate::delivery::{Delivery, End, Mailbox, State, Step};
use crate::letter::Letter;
use crate::registry::Registry;
use crate::row::{Row, waiting_members};

/// A message and what became of it with each recipient.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipted {
    /// The message.
    pub row: Row,
    /// Each recipient's part.
    pub recipients: Vec<RecipientReceipt>,
}

impl Receipted {
    pub(crate) fn new(letter: &Letter, registry: &Registry) -> Self {
        let shown = letter.deliveries.iter().filter(|delivery| delivery.shown_stage().is_some());
        let mut recipients: Vec<_> = shown.map(|delivery| recipient(letter, delivery, registry)).collect();
        recipients.extend(
            waiting_members(letter, registry)
                .map(|agent| stored(letter, registry.agent_address(agent), registry.reachability(agent))),
        );
        Receipted { row: Row::new(letter, registry), recipients }
    }
}

fn recipient(letter: &Letter, delivery: &Delivery, registry: &Registry) -> RecipientReceipt {
    let (address, reachability) = match (delivery.recipient(), &delivery.mailbox) {
        (Some(agent), _) => (registry.agent_address(agent), registry.reachability(agent)),
        (None, Mailbox::Group(group)) => {
            (registry.address(*group).parse().unwrap_or(Address::All), Reachability::Nobody)
        }
        (None, Mailbox::Name(name)) => (name.parse().unwrap_or(Address::All), Reachability::Nobody),
        (None, Mailbox::Agent(_) | Mailbox::Session(..)) => (Address::All, Reachability::Nobody),
    };
    let mut receipt = stored(letter, address, reachability);
    receipt.stage = delivery.stage();
    receipt.attempts = delivery.attempts;
    let ladder = &delivery.ladder;
    let end = match delivery.state {
        State::Done(End::Acknowledged) | State::Dead(End::Acknowledged) => Some(Stage::Acknowledged),
        State::Done(_) | State::Dead(_) => Some(delivery.stage()),
        State::Waiting | State::Held | State::Post | State::Out => None,
    };
    let answered = (delivery.stage() == Stage::Answered).then_some(Stage::Answered);
    let steps = [
        (Some(Stage::Dispatched), &ladder.dispatched),
        (Some(Stage::Surfaced), &ladder.surfaced),
        (end, &ladder.ended),
        (answered, &ladder.answered),
    ];
    receipt.stages.extend(steps.into_iter().filter_map(|(stage, step)| Some(entry(stage?, step.as_ref()?))));
    // An answer may come before its question is acknowledged.
    receipt.stages.sort_by_key(|step| step.at);
    receipt
}

/// Makes the receipt of a recipient for whom a message waits.
fn stored(letter: &Letter, agent: Address, reachability: Reachability) -> RecipientReceipt {
    let mut receipt = RecipientReceipt::new(agent, reachability);
    receipt.stage = Stage::Stored;
    let at = letter.at.timestamp();
    receipt.stages = vec![StageEntry::new(Stage::Accepted, at), StageEntry::new(Stage::Stored, at)];
    receipt
}

fn entry(stage: Stage, step: &Step) -> StageEntry {
    let mut entry = StageEntry::new(stage, step.at.timestamp());
    entry.by = Some(step.by.to_string()).filter(|by| !by.is_empty());
    entry
}
