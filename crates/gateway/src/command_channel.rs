//! Commands of a socket on their way to the node and back.
//!
//! The half of a socket that reads submits commands and goes on; the half that writes gets what came of them when that
//! is durable, in the order in which they were submitted, together with what the reading half noted of them. A place
//! for that is reserved before the node is asked, so the thread that makes things durable never waits for a peer that
//! reads slowly; the reading half does.

use broker::Command;
use node::Executed;
use tokio::sync::mpsc;

use crate::Hub;

/// The end that submits.
pub struct CommandSender<N> {
    executed: mpsc::Sender<Vec<Executed>>,
    notes: mpsc::Sender<N>,
}

/// The end that is told what came of it.
pub struct OutcomeReceiver<N> {
    executed: mpsc::Receiver<Vec<Executed>>,
    notes: mpsc::Receiver<N>,
}

/// Makes both ends; so many submissions may wait to be looked at.
pub fn command_channel<N>(waiting_max: usize) -> (CommandSender<N>, OutcomeReceiver<N>) {
    let (executed, outcomes) = mpsc::channel(waiting_max);
    // What was taken from the one queue and not yet from the other is one more.
    let (notes, noted) = mpsc::channel(waiting_max + 1);
    (CommandSender { executed, notes }, OutcomeReceiver { executed: outcomes, notes: noted })
}

impl<N> CommandSender<N> {
    /// Submits commands, and notes something of them. Nothing if nobody wants to know what comes of them, or the node
    /// has stopped.
    pub async fn submit(&self, hub: &Hub, commands: Vec<Command>, note: N) -> Option<()> {
        let slot = self.executed.clone().reserve_owned().await.ok()?;
        self.notes.send(note).await.ok()?;
        hub.node().submit(commands, slot).await.ok()
    }
}

impl<N> OutcomeReceiver<N> {
    /// Waits for what came of the next submission; nothing when no more are made.
    pub async fn next(&mut self) -> Option<(N, Vec<Executed>)> {
        let executed = self.executed.recv().await?;
        // It was noted before the commands were submitted.
        self.notes.try_recv().ok().map(|note| (note, executed))
    }

    /// Returns what came of the next submission, if that is known.
    pub fn try_next(&mut self) -> Option<(N, Vec<Executed>)> {
        let executed = self.executed.try_recv().ok()?;
        self.notes.try_recv().ok().map(|note| (note, executed))
    }
}
