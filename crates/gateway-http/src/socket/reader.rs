//! The half of a socket that reads.

use broker::{Command, Request, WithRecipients};
use gateway::socket::{Chunk, CloseFrame, Login, Next, Pings, SILENCE_TIME, Spoken, take_chunk};
use gateway::websocket::Frames;
use gateway::{Asking, Code, CommandSender, Hub, Problem, Submission};
use node::Credit;
use smol_str::SmolStr;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::Receipts;
use super::frame::{Frame, Ordinary, What, owned};
use super::outcome::Pending;
use super::writer::Out;
use crate::deliveries::Settling;

/// What a frame asks for: a command, if it is not refused, and what is told of it.
struct Op {
    command: Option<Command>,
    pending: Pending,
}

/// The reader's own.
pub(super) struct Reader {
    hub: Hub,
    receipts: Receipts,
    login: Login,
    credit: Credit,
    command_sender: CommandSender<Vec<Pending>>,
    out: mpsc::Sender<Out>,
}

impl Reader {
    pub(super) fn new(
        hub: Hub,
        receipts: Receipts,
        login: Login,
        credit: Credit,
        command_sender: CommandSender<Vec<Pending>>,
        out: mpsc::Sender<Out>,
    ) -> Self {
        Reader { hub, receipts, login, credit, command_sender, out }
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
        self.hub.count_frames(&self.login.principal, ops.len()).await;
        let (mut commands, mut pending) = (Vec::with_capacity(ops.len()), Vec::with_capacity(ops.len()));
        for op in ops {
            commands.extend(op.command);
            pending.push(op.pending);
        }
        self.command_sender.submit(&self.hub, commands, pending).await
    }

    /// Reads a frame. Credit needs no command.
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
            What::Send(document) => match Submission::skimmed(&self.hub, &self.login.principal, document) {
                Ok(submission) => Some(Op::of(reference, submission?, self.receipts)),
                Err(problem) => Some(refused(reference, problem)),
            },
            What::Ack(delivery) => Some(self.settle(reference, &Settling::ack(delivery))),
        }
    }

    fn op(&self, frame: &Frame<'_>) -> Result<Option<Op>, Problem> {
        let reference = owned(frame.reference());
        match frame.op() {
            "send" => Ok(Some(Op::of(reference, self.submission(frame)?, self.receipts))),
            what @ ("ack" | "nack" | "surfaced" | "extend") => {
                let settling = Settling::read(frame.delivery()?, what, &frame.fields()?)?;
                Ok(Some(self.settle(reference, &settling)))
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

    fn settle(&self, reference: Option<SmolStr>, settling: &Settling) -> Op {
        let command = settling.request(self.login.agent.key).into_command();
        let pending = Pending::Done { reference, delivery: Some(settling.delivery) };
        Op { command: Some(command), pending }
    }

    fn submission(&self, frame: &Frame<'_>) -> Result<Submission, Problem> {
        let (document, dialect) = (frame.document()?.as_bytes(), frame.dialect()?);
        if !frame.has_wishes() {
            return Submission::read(&self.hub, &self.login.principal, document, dialect, Asking::default());
        }
        let fields = frame.fields()?;
        let asking = Asking {
            key: fields.text("key")?,
            wait_ms: fields.duration_ms("wait")?,
            hold: fields.flag("hold")?.unwrap_or(false),
            trace: fields.text("trace")?,
        };
        Submission::read(&self.hub, &self.login.principal, document, dialect, asking)
    }
}

impl Op {
    /// Returns what is done with a document.
    fn of(reference: Option<SmolStr>, mut submission: Submission, receipts: Receipts) -> Self {
        if submission.is_for_the_bus() {
            return match submission.into_note() {
                Some(note) => {
                    Op { command: Some(note), pending: Pending::Done { reference, delivery: None } }
                }
                None => refused(reference, Problem::bad_request("it says nothing")),
            };
        }
        let waits = submission.waits();
        if receipts == Receipts::Full || waits {
            let (accept, head) = submission.into_parts();
            let pending = Pending::Full { reference, head: Box::new(head), waits };
            return Op { command: Some(Command::Accept(accept)), pending };
        }
        submission.accept.with_recipients = WithRecipients::IfRepeated;
        Op { command: Some(Command::Accept(submission.accept)), pending: Pending::Brief { reference } }
    }
}

fn refused(reference: Option<SmolStr>, problem: Problem) -> Op {
    Op { command: None, pending: Pending::Refused { reference, problem: Box::new(problem) } }
}
