//! Completions: what leaves the node when the batch that it rests on is durable.

use broker::{AgentKey, Command};
use message::{DeliveryId, MessageId, Stage};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use super::job::{Executed, ReplyTo, Taken};
use super::{Letter, Outcome};
use crate::failure::CallError;

/// Deliveries that reached nobody and go back.
pub type Returns = Vec<(AgentKey, DeliveryId)>;

/// Something that leaves when a batch is durable. Dropping it instead tells its caller that the node has stopped.
pub enum Completion {
    /// The outcomes of commands. The commands are freed when the outcomes have left: the writer has more to do.
    Executed { outcomes: Vec<Executed>, commands: Vec<Command>, to: ReplyTo },
    /// The answer to a query.
    Answer(Box<dyn Complete>),
    /// The answer to a take.
    Taken {
        taken: Result<Taken, CallError>,
        reply: oneshot::Sender<Result<Taken, CallError>>,
        permit: Option<OwnedSemaphorePermit>,
    },
    /// The id of a new subscriber.
    Subscribed { subscriber: super::SubscriberId, reply: oneshot::Sender<super::SubscriberId> },
    /// Letters for a caller that waited for the first that come.
    Once { agent: AgentKey, letters: Vec<Letter>, to: oneshot::Sender<Vec<Letter>> },
    /// Letters for a subscription.
    Stream { agent: AgentKey, letters: Vec<Letter>, to: mpsc::Sender<Letter> },
    /// A reply for those who wait for it.
    Replied { agent: AgentKey, reply: MessageId, delivery: DeliveryId, to: Vec<oneshot::Sender<Outcome>> },
    /// The end of a wait for a reply that does not come.
    Unanswered { stage: Stage, to: Vec<oneshot::Sender<Outcome>> },
}

/// A completion of a type that only its maker knows.
pub trait Complete: Send {
    /// Lets it leave.
    fn complete(self: Box<Self>);
}

impl Completion {
    /// Lets it leave. What could be given to nobody was never handed out, and is added to `returns`.
    pub fn complete(self, returns: &mut Returns) {
        match self {
            Completion::Executed { outcomes, commands, to } => {
                match to {
                    // A caller that has gone needs no answer.
                    ReplyTo::Caller { reply, .. } => drop(reply.send(outcomes)),
                    ReplyTo::Queue { slot, .. } => drop(slot.send(outcomes)),
                    ReplyTo::Nobody => {}
                }
                drop(commands);
            }
            Completion::Answer(answer) => answer.complete(),
            Completion::Taken { taken, reply, .. } => {
                if let Err(Ok(Taken::Letters(letters))) = reply.send(taken) {
                    returns.extend(letters.iter().map(given_back));
                }
            }
            Completion::Subscribed { subscriber, reply } => drop(reply.send(subscriber)),
            Completion::Once { agent, letters, to } => {
                if let Err(letters) = to.send(letters) {
                    returns.extend(letters.iter().map(|letter| (agent, letter.delivery.delivery)));
                }
            }
            Completion::Stream { agent, letters, to } => {
                for letter in letters {
                    if let Err(TrySendError::Full(letter) | TrySendError::Closed(letter)) =
                        to.try_send(letter)
                    {
                        returns.push((agent, letter.delivery.delivery));
                    }
                }
            }
            Completion::Replied { agent, reply, delivery, to } => {
                let outcome = Outcome::Reply { reply, delivery };
                let heard = to.into_iter().filter_map(|to| to.send(outcome).ok()).count();
                if heard == 0 {
                    returns.push((agent, delivery));
                }
            }
            Completion::Unanswered { stage, to } => {
                for to in to {
                    // A caller that has gone needs no answer.
                    let _gone = to.send(Outcome::Nothing { stage });
                }
            }
        }
    }
}

fn given_back(letter: &Letter) -> (AgentKey, DeliveryId) {
    (letter.agent, letter.delivery.delivery)
}
