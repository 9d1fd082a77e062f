//! Jobs: what is asked of the one writer.

use broker::{At, Broker, Command, Query, Reply, Request};
use message::Seq;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use super::completion::Complete;
use super::{Completion, Letter, SubscriberId};
use crate::failure::CallError;
use crate::subscription::Wishes;

/// Something to be done with the state.
pub enum Job {
    /// Executes commands in order.
    Execute { commands: Vec<Command>, reply: ReplyTo },
    /// Executes a command whose outcome nobody relies on.
    Note(Command),
    /// Looks at the state.
    Query(Box<dyn RunQuery>),
    /// Hands out what waits; if nothing does, the caller waits for it.
    Take(Take),
    /// Hands out what comes, as much as there is credit for; there is none at first.
    Subscribe { wishes: Wishes, letters: mpsc::Sender<Letter>, reply: oneshot::Sender<SubscriberId> },
    /// Lets a subscriber have more.
    Credit { subscriber: SubscriberId, more: u32 },
    /// Forgets a subscriber, and returns what it was handed and did not read.
    Unsubscribe { subscriber: SubscriberId, unread: super::Returns },
}

/// A wish to be given messages now, or when the first come.
pub struct Take {
    /// What is wanted.
    pub wishes: Wishes,
    /// Whether the caller waits where nothing is there.
    pub waits: bool,
    /// Answered at once: what there was, or under which id the caller waits.
    pub reply: oneshot::Sender<Result<Taken, CallError>>,
    /// Gets the letters that come later.
    pub letters: oneshot::Sender<Vec<Letter>>,
    /// Given back with the reply.
    pub permit: Option<OwnedSemaphorePermit>,
}

/// What a take found.
pub enum Taken {
    /// These.
    Letters(Vec<Letter>),
    /// Nothing yet.
    Waiting(SubscriberId),
}

/// What came of a command.
#[derive(Debug)]
pub struct Executed {
    /// What it gave back.
    pub outcome: Result<Reply, CallError>,
    /// The wait for the reply to a message that was accepted with one.
    pub awaited: Option<super::Awaited>,
    /// The last event of the state after it.
    pub last: Seq,
}

impl Executed {
    /// Returns the answer to a command, as the type of its request says.
    pub fn answer<R: Request>(self) -> Result<R::Answer, CallError> {
        R::answer(self.outcome?).ok_or(CallError::Unexpected)
    }
}

/// Where the outcomes of commands go.
pub enum ReplyTo {
    /// To a caller that waits.
    Caller { reply: oneshot::Sender<Vec<Executed>>, permit: Option<OwnedSemaphorePermit> },
    /// Into a place that was reserved in a queue of bounded length.
    Queue { slot: mpsc::OwnedPermit<Vec<Executed>>, permit: Option<OwnedSemaphorePermit> },
    /// Nowhere.
    Nobody,
}

/// A query with its reply channel, whatever its type.
pub trait RunQuery: Send {
    /// Runs it, and returns what leaves when everything that it saw is durable.
    fn run(self: Box<Self>, state: &Broker, at: At) -> Completion;

    /// Returns the name under which its time is measured.
    fn name(&self) -> &'static str;
}

/// A query and who asked it.
pub struct QueryJob<Q: Query> {
    /// What is asked.
    pub query: Q,
    /// Who asked.
    pub reply: oneshot::Sender<Q::Answer>,
    /// Given back with the reply.
    pub permit: Option<OwnedSemaphorePermit>,
}

impl<Q: Query> RunQuery for QueryJob<Q> {
    fn run(self: Box<Self>, state: &Broker, at: At) -> Completion {
        let QueryJob { query, reply, permit, .. } = *self;
        Completion::Answer(Box::new(QueryAnswer::<Q> {
            answer: query.run(state, at),
            reply,
            _permit: permit,
        }))
    }

    fn name(&self) -> &'static str {
        Q::NAME
    }
}

/// The answer to a query, on its way to who asked.
struct QueryAnswer<Q: Query> {
    answer: Q::Answer,
    reply: oneshot::Sender<Q::Answer>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl<Q: Query> Complete for QueryAnswer<Q> {
    fn complete(self: Box<Self>) {
        // A caller that has gone needs no answer.
        drop(self.reply.send(self.answer));
    }
}
