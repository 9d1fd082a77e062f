//! What came of frames: the commands that they asked for, with what the peer is told of each.

use broker::{Accept, Receipted};
use gateway::{Problem, ReceiptHead};
use message::{DeliveryId, MessageId};
use node::{Awaited, Executed};
use smol_str::SmolStr;

use super::Receipts;

/// A frame that was read: what is told of it when its command, if it has one, was executed.
pub(super) enum Pending {
    /// A document of which all is told, and for whose reply somebody may wait.
    Full { reference: Option<SmolStr>, head: Box<ReceiptHead>, waits: bool },
    /// A document of which it is told that it was accepted.
    Brief { reference: Option<SmolStr> },
    /// Something that is merely done: a delivery settled, a note taken.
    Done { reference: Option<SmolStr>, delivery: Option<DeliveryId> },
    /// What was refused where it was read, and has no command.
    Refused { reference: Option<SmolStr>, problem: Box<Problem> },
}

/// What a peer is told.
pub(super) enum Outcome {
    Accepted(Box<Accepted>),
    Brief { reference: Option<SmolStr>, receipted: Receipted, stage: &'static str },
    Together(Together),
    Settled { reference: Option<SmolStr> },
    Refused { reference: Option<SmolStr>, delivery: Option<DeliveryId>, problem: Box<Problem> },
}

/// Documents that were accepted one after the other and are told of together.
pub(super) struct Together {
    /// What the peer calls the last.
    pub(super) upto: Option<SmolStr>,
    pub(super) id: MessageId,
    pub(super) count: u64,
}

/// A document that was accepted, with all that a full receipt says.
pub(super) struct Accepted {
    pub(super) reference: Option<SmolStr>,
    pub(super) head: ReceiptHead,
    pub(super) receipted: Receipted,
    pub(super) awaited: Option<Awaited>,
    /// Whether its sender waits for a reply.
    pub(super) waits: bool,
}

/// Returns what a peer is told of its frames, in their order. Of several documents that were merely accepted one thing
/// is told, if the peer wants it so.
pub(super) fn outcomes(pending: Vec<Pending>, executed: Vec<Executed>, receipts: Receipts) -> Vec<Outcome> {
    let is_together = receipts == Receipts::Together;
    let mut executed = executed.into_iter();
    let mut outcomes = Vec::with_capacity(if is_together { 1 } else { pending.len() });
    for pending in pending {
        let Some(outcome) = pending.outcome(&mut executed) else { continue };
        let is_new = matches!(&outcome, Outcome::Brief { receipted, .. } if !receipted.duplicate);
        match (outcomes.last_mut(), outcome) {
            (Some(Outcome::Together(together)), Outcome::Brief { reference, receipted, .. })
                if is_together && is_new =>
            {
                (together.upto, together.id) = (reference, receipted.id);
                together.count += 1;
            }
            (_, Outcome::Brief { reference, receipted, .. }) if is_together && is_new => {
                let together = Together { upto: reference, id: receipted.id, count: 1 };
                outcomes.push(Outcome::Together(together));
            }
            (_, outcome) => outcomes.push(outcome),
        }
    }
    outcomes
}

impl Pending {
    /// Returns what is told of it; takes what came of its command from those that were executed.
    fn outcome(self, executed: &mut impl Iterator<Item = Executed>) -> Option<Outcome> {
        let outcome = match self {
            Pending::Full { reference, head, waits } => {
                let mut executed = executed.next()?;
                let awaited = executed.awaited.take();
                match executed.answer::<Box<Accept>>() {
                    Ok(receipted) => {
                        let head = *head;
                        Outcome::Accepted(Box::new(Accepted { reference, head, receipted, awaited, waits }))
                    }
                    Err(error) => Outcome::refused(reference, error.into()),
                }
            }
            Pending::Brief { reference } => match executed.next()?.answer::<Box<Accept>>() {
                Ok(receipted) => {
                    let stages = receipted.recipients.iter().map(|recipient| recipient.stage);
                    let stage = stages.min().map_or("stored", message::Stage::name);
                    Outcome::Brief { reference, receipted, stage }
                }
                Err(error) => Outcome::refused(reference, error.into()),
            },
            Pending::Done { reference, delivery } => match executed.next()?.outcome {
                Ok(_) => Outcome::Settled { reference },
                Err(error) => {
                    Outcome::Refused { reference, delivery, problem: Box::new(Problem::from(error)) }
                }
            },
            Pending::Refused { reference, problem } => {
                Outcome::Refused { reference, delivery: None, problem }
            }
        };
        Some(outcome)
    }
}

impl Outcome {
    fn refused(reference: Option<SmolStr>, problem: Problem) -> Self {
        Outcome::Refused { reference, delivery: None, problem: Box::new(problem) }
    }
}
