//! The half of a socket that reads.

use std::sync::Arc;

use broker::{Accept, AgentKey, Command, Receipted, Reply, Request, WithRecipients};
use gateway::socket::{Chunk, CloseFrame, Login, Next, Pings, SILENCE_TIME, Spoken, take_chunk};
use gateway::websocket::Frames;
use gateway::{Asking, Code, Hub, Principal, Problem, ReceiptHead, Submission};
use message::MessageId;
use node::{Awaited, CallError, Credit, Turn};
use smol_str::SmolStr;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;

use super::Receipts;
use super::frame::{Frame, Ordinary, What, owned};
use super::writer::Out;
use crate::deliveries::Settling;

/// Replies for which one socket waits at a time.
const WAITS_MAX: usize = 256;

/// What a frame asks for.
enum Op {
    Send { reference: Option<SmolStr>, send: Send },
    Note { reference: Option<SmolStr>, note: Command },
    Settle { reference: Option<SmolStr>, settling: Settling },
    Refused { reference: Option<SmolStr>, delivery: Option<Box<str>>, problem: Box<Problem> },
}

/// A document to accept.
enum Send {
    /// One of which all is told, and for whose reply somebody may wait.
    Full { command: Command, head: Box<ReceiptHead>, waits: bool },
    /// One of which it is told that it was accepted.
    Brief { command: Command },
}

/// What came of it.
pub(super) enum Done {
    Accepted(Box<Accepted>),
    Brief { reference: Option<SmolStr>, receipted: Receipted, stage: &'static str, _command: Command },
    Together(Together),
    Settled { reference: Option<SmolStr> },
    Refused { reference: Option<SmolStr>, delivery: Option<Box<str>>, problem: Box<Problem> },
}

/// Documents that were accepted one after the other and are told of together.
pub(super) struct Together {
    /// What the peer calls the last.
    pub(super) upto: Option<SmolStr>,
    pub(super) id: MessageId,
    pub(super) count: u64,
    /// What was read is let go by whoever writes the receipt: a turn has more to do.
    _commands: Vec<Command>,
}

/// A document that was accepted, with all that a full receipt says.
pub(super) struct Accepted {
    pub(super) reference: Option<SmolStr>,
    pub(super) head: ReceiptHead,
    pub(super) receipted: Receipted,
    pub(super) awaited: Option<Awaited>,
    /// Whether its sender waits for a reply.
    pub(super) waits: bool,
    _command: Command,
}

/// The reader's own.
pub(super) struct Reader {
    hub: Hub,
    receipts: Receipts,
    principal: Principal,
    agents: Arc<[AgentKey]>,
    credit: Credit,
    out: mpsc::Sender<Out>,
    waits: Arc<Semaphore>,
}

impl Reader {
    pub(super) fn new(
        hub: Hub,
        receipts: Receipts,
        login: &Login,
        credit: Credit,
        out: mpsc::Sender<Out>,
    ) -> Self {
        let (principal, agents) = (login.principal.clone(), Arc::from([login.agent.key]));
        let waits = Arc::new(Semaphore::new(WAITS_MAX));
        Reader { hub, receipts, principal, agents, credit, out, waits }
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
                let (ops, Chunk { pings, next }) = self.take(frames, &mut count);
                self.hand_over(ops).await?;
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
    fn take(&self, frames: &mut Frames, pings: &mut Pings) -> (Vec<Op>, Chunk) {
        let mut ops = Vec::new();
        let chunk = take_chunk(frames, pings, |spoken| match spoken {
            Spoken::Text(text) => ops.extend(self.read(text)),
            Spoken::NotText => ops.push(refused(None, Problem::new(Code::NotJson, "a frame is UTF-8"))),
            Spoken::Pong(_) => {}
        });
        (ops, chunk)
    }

    /// Hands what frames ask for to the node. Nothing when nobody writes any more.
    async fn hand_over(&mut self, ops: Vec<Op>) -> Option<()> {
        if ops.is_empty() {
            return Some(());
        }
        self.hub.count_frames(&self.principal, ops.len()).await;
        let place = self.out.clone().reserve_owned().await.ok()?;
        let (agents, receipts, waits) = (Arc::clone(&self.agents), self.receipts, Arc::clone(&self.waits));
        let count = ops.len();
        let work = move |turn: &mut Turn<'_>| {
            let mut done = Vec::with_capacity(if receipts == Receipts::Together { 1 } else { ops.len() });
            for op in ops {
                op.carry_out(turn, &agents).join(receipts, &mut done);
            }
            done
        };
        let started = self.hub.node().start_call(count, work, move |done| {
            place.send(Out::Done { done, waits });
        });
        started.await.ok()
    }

    /// Reads a frame. Credit needs no turn.
    fn read(&self, text: &str) -> Option<Op> {
        if let Some(op) = Ordinary::read(text).and_then(|frame| self.ordinary(frame)) {
            return Some(op);
        }
        let frame = match Frame::read(text) {
            Ok(frame) => frame,
            Err(problem) => return Some(refused(None, problem)),
        };
        match self.op(&frame) {
            Ok(op) => op,
            Err(problem) => Some(refused(owned(frame.reference()), problem)),
        }
    }

    /// Takes an ordinary frame; nothing if its document must be read after all.
    fn ordinary(&self, frame: Ordinary<'_>) -> Option<Op> {
        let reference = owned(frame.reference);
        match frame.what {
            What::Send(document) => match Submission::skimmed(&self.hub, &self.principal, document) {
                Ok(submission) => Some(Op::of(reference, submission?, self.receipts)),
                Err(problem) => Some(refused(reference, problem)),
            },
            What::Ack(delivery) => Some(Op::Settle { reference, settling: Settling::ack(delivery) }),
        }
    }

    fn op(&self, frame: &Frame<'_>) -> Result<Option<Op>, Problem> {
        let reference = owned(frame.reference());
        match frame.op() {
            "send" => Ok(Some(Op::of(reference, self.submission(frame)?, self.receipts))),
            what @ ("ack" | "nack" | "surfaced" | "extend") => {
                let settling = Settling::read(frame.delivery()?, what, &frame.fields()?)?;
                Ok(Some(Op::Settle { reference, settling }))
            }
            "credit" => {
                let missing = || Problem::bad_request("`credit` wants a number `n`");
                let more = frame.fields()?.number("n")?.ok_or_else(missing)?;
                self.credit.add(u32::try_from(more).unwrap_or(u32::MAX));
                Ok(None)
            }
            // A second login changes nothing.
            "auth" => Ok(None),
            other => Err(Problem::bad_request(format!(
                "there is no op {other:?}, only send, ack, nack, surfaced, extend, credit"
            ))),
        }
    }

    fn submission(&self, frame: &Frame<'_>) -> Result<Submission, Problem> {
        let (document, dialect) = (frame.document()?.as_bytes(), frame.dialect()?);
        if !frame.has_wishes() {
            return Submission::read(&self.hub, &self.principal, document, dialect, Asking::default());
        }
        let fields = frame.fields()?;
        let asking = Asking {
            key: fields.text("key")?,
            wait_ms: fields.duration_ms("wait")?,
            hold: fields.flag("hold")?.unwrap_or(false),
            trace: fields.text("trace")?,
        };
        Submission::read(&self.hub, &self.principal, document, dialect, asking)
    }
}

impl Op {
    /// Returns what is done with a document.
    fn of(reference: Option<SmolStr>, mut submission: Submission, receipts: Receipts) -> Self {
        if submission.is_for_the_bus() {
            return match submission.into_note() {
                Some(note) => Op::Note { reference, note },
                None => refused(reference, Problem::bad_request("it says nothing")),
            };
        }
        let waits = submission.waits();
        if receipts == Receipts::Full || waits {
            let (accept, head) = submission.into_parts();
            let (command, head) = (Command::Accept(accept), Box::new(head));
            return Op::Send { reference, send: Send::Full { command, head, waits } };
        }
        submission.accept.with_recipients = WithRecipients::IfRepeated;
        Op::Send { reference, send: Send::Brief { command: Command::Accept(submission.accept) } }
    }

    fn carry_out(self, turn: &mut Turn<'_>, agents: &[AgentKey]) -> Done {
        match self {
            Op::Send { reference, send } => send.carry_out(turn, reference),
            Op::Note { reference, note } => match turn.execute(&note) {
                Ok(_) => Done::Settled { reference },
                Err(error) => refuse(reference, error.into()),
            },
            Op::Settle { reference, settling } => match settling.carry_out(turn, agents) {
                Ok(Reply::Done | Reply::Agent(_) | Reply::Session { .. } | Reply::Accepted(_))
                | Ok(Reply::Taken(_) | Reply::Stage(_) | Reply::Lease(_) | Reply::Changed(_)) => {
                    Done::Settled { reference }
                }
                Err(problem) => {
                    let delivery = Some(settling.delivery.to_string().into_boxed_str());
                    Done::Refused { reference, delivery, problem: Box::new(problem) }
                }
            },
            Op::Refused { reference, delivery, problem } => Done::Refused { reference, delivery, problem },
        }
    }
}

impl Done {
    /// Puts it behind what came of other frames; of several that were merely accepted one thing is told, if the peer
    /// wants it so.
    fn join(self, receipts: Receipts, done: &mut Vec<Done>) {
        match self {
            Done::Brief { reference, receipted, _command, .. }
                if receipts == Receipts::Together && !receipted.duplicate =>
            {
                let (upto, id) = (reference, receipted.id);
                if let Some(Done::Together(together)) = done.last_mut() {
                    (together.upto, together.id) = (upto, id);
                    together.count += 1;
                    together._commands.push(_command);
                } else {
                    done.push(Done::Together(Together { upto, id, count: 1, _commands: vec![_command] }));
                }
            }
            Done::Accepted(_)
            | Done::Brief { .. }
            | Done::Together(_)
            | Done::Settled { .. }
            | Done::Refused { .. } => done.push(self),
        }
    }
}

impl Send {
    /// Has the broker accept it. What was read is let go by whoever writes the receipt: this thread has more to do.
    fn carry_out(self, turn: &mut Turn<'_>, reference: Option<SmolStr>) -> Done {
        match self {
            Send::Brief { command } => match accept(turn, &command) {
                Ok(receipted) => {
                    let stages = receipted.recipients.iter().map(|recipient| recipient.stage);
                    let stage = stages.min().map_or("stored", message::Stage::name);
                    Done::Brief { reference, receipted, stage, _command: command }
                }
                Err(error) => refuse(reference, error.into()),
            },
            Send::Full { command, head, waits } => match accept(turn, &command) {
                Ok(receipted) => {
                    // A repeat joins the wait of the one before it.
                    let is_open = receipted.wait_until.is_some() && receipted.answer.is_none();
                    let awaited = is_open.then(|| turn.wait_for_reply(receipted.id));
                    let (head, _command) = (*head, command);
                    Done::Accepted(Box::new(Accepted {
                        reference,
                        head,
                        receipted,
                        awaited,
                        waits,
                        _command,
                    }))
                }
                Err(error) => refuse(reference, error.into()),
            },
        }
    }
}

fn accept(turn: &mut Turn<'_>, command: &Command) -> Result<Receipted, CallError> {
    let reply = turn.execute(command)?;
    Box::<Accept>::answer(reply).ok_or(CallError::Unexpected)
}

fn refuse(reference: Option<SmolStr>, problem: Problem) -> Done {
    Done::Refused { reference, delivery: None, problem: Box::new(problem) }
}

fn refused(reference: Option<SmolStr>, problem: Problem) -> Op {
    Op::Refused { reference, delivery: None, problem: Box::new(problem) }
}
