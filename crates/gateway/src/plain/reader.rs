//! The half of a plain socket that reads.

use std::sync::{Arc, Mutex, PoisonError};

use broker::Command;
use dialect::Name;
use json::{Limits, Shallow};
use message::NativeId;
use node::{Credit, Executed};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::ledger::{Ledger, Written};
use super::writer::Out;
use super::{Manner, shown_in};
use crate::socket::{Chunk, CloseFrame, Login, Next, Pings, SILENCE_TIME, Spoken, take_chunk};
use crate::websocket::Frames;
use crate::{Asking, Code, CommandSender, Hub, Principal, Problem, Submission};

/// What a frame asks for.
enum Op {
    /// Has a document accepted or noted; it is refused under its id.
    Submit { command: Command, id: Option<NativeId> },
    /// Settles what was written before a ping.
    Settle { written: Vec<Written> },
    /// Nothing: the document was refused where it was read.
    Refused(Refusal),
}

/// A frame whose commands are executed: what is told if they are refused.
pub(super) enum Pending {
    /// A document that is refused under its id.
    Document { id: Option<NativeId> },
    /// So many deliveries that are settled. They may have ended meanwhile; then there is nothing to settle.
    Settled { count: usize },
    /// A document that was refused where it was read.
    Refused(Refusal),
}

/// A document that was refused: its id, where it has one, and why.
pub(super) type Refusal = (Option<Box<str>>, Box<Problem>);

/// The reader's own.
pub(super) struct Reader {
    hub: Hub,
    manner: Manner,
    principal: Principal,
    credit: Credit,
    ledger: Arc<Mutex<Ledger>>,
    command_sender: CommandSender<Vec<Pending>>,
    out: mpsc::Sender<Out>,
}

/// What some frames ask for.
struct Asked {
    ops: Vec<Op>,
    /// For how many frames the peer answers.
    cost: usize,
    chunk: Chunk,
}

impl Reader {
    pub(super) fn new(
        hub: Hub,
        manner: Manner,
        login: &Login,
        credit: Credit,
        ledger: Arc<Mutex<Ledger>>,
        command_sender: CommandSender<Vec<Pending>>,
        out: mpsc::Sender<Out>,
    ) -> Self {
        let principal = login.principal.clone();
        Reader { hub, manner, principal, credit, ledger, command_sender, out }
    }

    /// Reads until the peer or the writer is gone.
    pub(super) async fn run(&mut self, mut frames: Frames) {
        let bye = self.read_all(&mut frames).await;
        // The writer may be gone already.
        drop(self.out.send(Out::Bye(bye)).await);
    }

    async fn read_all(&mut self, frames: &mut Frames) -> Option<CloseFrame> {
        let mut count = Pings::new();
        loop {
            let more = tokio::select! {
                more = timeout(SILENCE_TIME, frames.more()) => more,
                // Who cannot be written to is not listened to: what it holds goes back at once.
                () = self.out.closed() => return None,
            };
            more.ok()?.ok()?;
            loop {
                let Asked { ops, cost, chunk: Chunk { pings, next } } = self.take(frames, &mut count);
                self.hand_over(ops, cost).await?;
                for payload in pings {
                    self.out.send(Out::Pong(payload)).await.ok()?;
                }
                match next {
                    Next::Here => {}
                    Next::ToCome => break,
                    Next::Over(bye) => return Some(bye),
                }
            }
        }
    }

    /// Reads what has come, a chunk of frames at most.
    fn take(&self, frames: &mut Frames, pings: &mut Pings) -> Asked {
        let (mut ops, mut cost) = (Vec::new(), 0);
        let chunk = take_chunk(frames, pings, |spoken| {
            cost += 1;
            match spoken {
                Spoken::Text(text) => ops.extend(self.read(text)),
                Spoken::NotText => ops.push(refused(None, Problem::new(Code::NotJson, "a frame is UTF-8"))),
                Spoken::Pong(payload) => {
                    if let Some(op) = self.settle(payload) {
                        ops.push(op);
                        // We asked for it.
                        cost -= 1;
                    }
                }
            }
        });
        Asked { ops, cost: cost + chunk.pings.len(), chunk }
    }

    /// Hands what frames ask for to the node. Nothing when nobody writes any more.
    async fn hand_over(&mut self, ops: Vec<Op>, cost: usize) -> Option<()> {
        if cost > 0 {
            self.hub.count_frames(&self.principal, cost).await;
        }
        if ops.is_empty() {
            return Some(());
        }
        let (mut commands, mut pending) = (Vec::with_capacity(ops.len()), Vec::with_capacity(ops.len()));
        for op in ops {
            pending.push(op.submit(self.manner.by, &mut commands));
        }
        self.command_sender.submit(&self.hub, commands, pending).await
    }

    /// Reads a frame. A second login changes nothing.
    fn read(&self, text: &str) -> Option<Op> {
        let dialect: Name = self.manner.dialect;
        let read =
            Submission::read(&self.hub, &self.principal, text.as_bytes(), Some(dialect), Asking::default());
        match read {
            Ok(mut submission) => {
                let id = submission.native_id.take();
                let command = if submission.is_for_the_bus() {
                    submission.into_note()?
                } else {
                    // A reply comes like every other document, so nobody waits for it.
                    Command::Accept(submission.without_waiting().accept)
                };
                Some(Op::Submit { command, id })
            }
            Err(_) if shown_in(text).is_some() => None,
            Err(problem) => Some(refused(id_in(text, self.manner.id_key), problem)),
        }
    }

    fn settle(&self, pong: &[u8]) -> Option<Op> {
        let written = self.ledger.lock().unwrap_or_else(PoisonError::into_inner).settle(pong)?;
        self.credit.add(u32::try_from(written.len()).unwrap_or(u32::MAX));
        Some(Op::Settle { written })
    }
}

impl Op {
    /// Adds its commands to those that are outcome_receiver, and returns what is told of them.
    fn submit(self, by: &str, commands: &mut Vec<Command>) -> Pending {
        match self {
            Op::Submit { command, id } => {
                commands.push(command);
                Pending::Document { id }
            }
            Op::Settle { written } => {
                let count = written.len();
                let acks = written.into_iter();
                commands.extend(acks.map(|(agent, delivery)| Command::Ack {
                    agent,
                    delivery,
                    by: by.into(),
                }));
                Pending::Settled { count }
            }
            Op::Refused(refusal) => Pending::Refused(refusal),
        }
    }
}

/// Returns what was refused of some frames, in their order.
pub(super) fn refusals(pending: Vec<Pending>, executed: Vec<Executed>) -> Vec<Refusal> {
    let mut executed = executed.into_iter();
    let refused = pending.into_iter().filter_map(|pending| match pending {
        Pending::Document { id } => {
            let error = executed.next()?.outcome.err()?;
            Some((id.map(|id| Box::from(id.as_str())), Box::new(error.into())))
        }
        Pending::Settled { count } => {
            executed.by_ref().take(count).for_each(drop);
            None
        }
        Pending::Refused(refusal) => Some(refusal),
    });
    refused.collect()
}

fn refused(id: Option<Box<str>>, problem: Problem) -> Op {
    Op::Refused((id, Box::new(problem)))
}

/// Returns the id of a document that could not be read, if it has one.
fn id_in(text: &str, key: &str) -> Option<Box<str>> {
    let mut members = Shallow::of(text).ok()?;
    while let Some((name, value)) = members.next_member().ok()? {
        if name == key {
            let value = json::parse_str(value, Limits::DOCUMENT).ok()?;
            let id = value.as_str()?.parse::<NativeId>().ok()?;
            return Some(Box::from(id.as_str()));
        }
    }
    None
}
