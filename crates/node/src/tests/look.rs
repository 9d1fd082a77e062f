//! Looks at the state that only tests need: by code, which runs in the writer's transaction.

use broker::{At, Broker};
use tokio::sync::oneshot;

use crate::driver::{Complete, Completion, Job, RunQuery};
use crate::{CallError, Node};

/// Looks at the state, and answers as a query does.
pub(super) async fn look<R: Send + 'static>(
    node: &Node,
    work: impl FnOnce(&Broker) -> R + Send + 'static,
) -> Result<R, CallError> {
    look_and_then(node, work, |_| ()).await
}

/// The same, and runs more code when the answer leaves.
pub(super) async fn look_and_then<R: Send + 'static>(
    node: &Node,
    work: impl FnOnce(&Broker) -> R + Send + 'static,
    then: impl FnOnce(&R) + Send + 'static,
) -> Result<R, CallError> {
    let (reply, replied) = oneshot::channel();
    node.push(Job::Query(Box::new(Look { work, then, reply })))?;
    replied.await.map_err(|_| CallError::Stopped)
}

struct Look<W, T, R> {
    work: W,
    then: T,
    reply: oneshot::Sender<R>,
}

impl<R, W, T> RunQuery for Look<W, T, R>
where
    R: Send + 'static,
    W: FnOnce(&Broker) -> R + Send + 'static,
    T: FnOnce(&R) + Send + 'static,
{
    fn run(self: Box<Self>, state: &Broker, _at: At) -> Completion {
        let Look { work, then, reply } = *self;
        Completion::Answer(Box::new(Looked { answer: work(state), then, reply }))
    }

    fn name(&self) -> &'static str {
        "test"
    }
}

struct Looked<R, T> {
    answer: R,
    then: T,
    reply: oneshot::Sender<R>,
}

impl<R: Send, T: FnOnce(&R) + Send> Complete for Looked<R, T> {
    fn complete(self: Box<Self>) {
        (self.then)(&self.answer);
        drop(self.reply.send(self.answer));
    }
}
