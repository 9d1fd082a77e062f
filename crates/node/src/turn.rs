//! A turn: commands carried out one after the other on the one state, their events gathered into one batch.

use std::time::Duration;

use broker::{AgentKey, GroupKey, Reply, Take, TaskKey, Time};
use broker::{Broker, Command, Context, Document, Due, Effect, Effects, Mailbox, RecordChange, RecordWrite};
use log::Batch;
use message::{MessageId, Seq};

use crate::clock::SystemRandom;
use crate::counters::Counters;
use crate::failure::CallError;
use crate::mailman::{Awaited, Letter, Mailman, Waiting};
use crate::release::Outbox;

/// What the events of a command need besides the body that it carries.
const OVERHEAD_BYTES: u64 = 8 << 10;
/// What the event of a write needs besides its document: names, digests, the blobs to which it refers.
const WRITE_BYTES: u64 = 2 << 10;
/// How much that the clock made due is done in one turn.
const DUE_MAX: usize = 4_096;

/// The state and the clock, for as long as something is carried out.
pub struct Turn<'t> {
    pub(crate) broker: &'t mut Broker,
    pub(crate) batch: &'t mut Batch,
    pub(crate) mailman: &'t mut Mailman,
    pub(crate) random: &'t mut SystemRandom,
    pub(crate) effects: Effects,
    pub(crate) now: Time,
    pub(crate) wall: Time,
    /// The last event that must be durable before an answer leaves.
    pub(crate) needs: &'t mut Seq,
    pub(crate) counters: &'t Counters,
    /// How many bytes the batch may have with new work in it.
    pub(crate) room: u64,
    pub(crate) outbox: &'t Outbox,
}

impl Turn<'_> {
    /// Returns the state, to look at.
    pub fn broker(&self) -> &Broker {
        self.broker
    }

    /// Returns the bus's time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the wall clock's time.
    pub fn wall(&self) -> Time {
        self.wall
    }

    /// Tells whether a command would be refused now; nothing changes.
    pub fn check(&mut self, command: &Command) -> Result<(), CallError> {
        let mut cx = Context { now: self.now, wall: self.wall, random: self.random };
        self.broker.decide(&mut cx, command).map(drop).map_err(CallError::Refused)
    }

    /// Carries a command out. What it gives back may leave the node only as the result of the call that it is part of.
    pub fn execute(&mut self, command: &Command) -> Result<Reply, CallError> {
        if let Some(bytes) = growth(command) {
            let bytes = self.batch.bytes() + bytes + OVERHEAD_BYTES;
            if bytes > self.room {
                self.room = self.outbox.room_when_kept(bytes).bytes;
            }
            if bytes > self.room {
                return Err(CallError::NoRoom);
            }
        }
        let mut cx = Context { now: self.now, wall: self.wall, random: self.random };
        let (batch, needs, counters) = (&mut *self.batch, &mut *self.needs, self.counters);
        let mut write = |seq: Seq, at: Time, event: &broker::Event<'_>| {
            counters.happened.count(event);
            if event.needs_sync() {
                *needs = seq;
            }
            batch.push_with(|out| event.encode(at, out));
        };
        let reply = self.broker.execute(&mut cx, command, &mut self.effects, &mut write)?;
        self.now = cx.now;
        if let Command::Ack { delivery, .. } = command {
            self.counters.settle.add(self.since(delivery.unix_millis()));
        }
        Ok(reply)
    }

    /// Returns how long ago an id was made.
    fn since(&self, made_ms: Option<u64>) -> Duration {
        Duration::from_millis(made_ms.map_or(0, |made_ms| self.now.ms_since(Time(made_ms))))
    }

    /// Returns the task that an agent would be given next, of all that it may have or of one role.
    pub fn next_task(&mut self, agent: AgentKey, role: Option<GroupKey>) -> Option<TaskKey> {
        let cx = Context { now: self.now, wall: self.wall, random: self.random };
        self.broker.next_task(&cx, agent, role)
    }

    /// Waits for the reply to a message that was accepted with a wait.
    pub fn wait_for_reply(&mut self, message: MessageId) -> Awaited {
        self.mailman.wait_for_reply(message)
    }

    /// Hands out to an agent now.
    pub(crate) fn take(&mut self, take: &Take) -> Result<Vec<Letter>, CallError> {
        match self.execute(&Command::Take(take.clone()))? {
            Reply::Taken(deliveries) => {
                for delivery in &deliveries {
                    self.counters.dispatch.add(self.since(delivery.id.unix_millis()));
                }
                let letter = |delivery| Letter::new(take.agent, delivery);
                Ok(deliveries.into_iter().map(letter).collect())
            }
            Reply::Done
            | Reply::Agent(_)
            | Reply::Session { .. }
            | Reply::Accepted(_)
            | Reply::Stage(_)
            | Reply::Lease(_)
            | Reply::Changed(_) => Ok(Vec::new()),
        }
    }

    /// Hands somebody who waits whatever it may have now, as much as it has credit for.
    pub(crate) fn serve(&mut self, waiting: Waiting) {
        while let Some(wishes) = self.mailman.wishes_of(waiting) {
            let letters = self.take(&wishes.take()).unwrap_or_default();
            if letters.is_empty() {
                return;
            }
            self.mailman.deliver(waiting, letters);
        }
    }

    /// Hands what became ready to those who wait, and does what is due, until nothing is left to do or the turn is
    /// long enough.
    pub(crate) fn settle(&mut self, bytes_max: u64) {
        loop {
            self.hand_out();
            if self.batch.bytes() > bytes_max {
                return;
            }
            let due = self.broker.due(self.now, self.wall, DUE_MAX);
            if due.is_empty() {
                return;
            }
            for due in due {
                self.carry_out(due);
            }
        }
    }

    fn carry_out(&mut self, due: Due) {
        // What is due is never new work, and the broker refuses none of it.
        let done = self.execute(&Command::Due(due));
        debug_assert!(done.is_ok(), "{due:?}: {done:?}");
    }

    fn hand_out(&mut self) {
        let mut ready: Vec<Mailbox> = Vec::new();
        for effect in std::mem::take(&mut self.effects) {
            match effect {
                Effect::Ready(mailbox) => ready.push(mailbox),
                Effect::Answered { message, reply, delivery } => {
                    if let Some(agent) = self.broker.holder(delivery) {
                        self.mailman.answer(message, reply, (agent, delivery));
                    }
                }
                Effect::Unanswered { message, stage } => self.mailman.give_up(message, stage),
            }
        }
        ready.sort_unstable();
        ready.dedup();
        for mailbox in ready {
            for waiting in self.mailman.waiting_at(mailbox, self.broker) {
                self.serve(waiting);
            }
        }
    }
}

/// Returns how much a write adds to the log; nothing for one that removes.
fn written(write: &RecordWrite) -> Option<u64> {
    match &write.change {
        RecordChange::Set { document: Document::Here(body), .. } => Some(body.len() as u64 + WRITE_BYTES),
        RecordChange::Set { document: Document::OfMessage(_), .. } => Some(WRITE_BYTES),
        RecordChange::Remove => None,
    }
}

/// What a change of the shared state adds to the log, roughly.
const STATE_BYTES: u64 = 4_096;

/// Returns how much a command that brings new work adds to the log; nothing for one that finishes work.
fn growth(command: &Command) -> Option<u64> {
    match command {
        Command::Accept(accept) => Some(accept.body.len() as u64),
        Command::Amend { body, .. } => Some(body.len() as u64),
        Command::Register(register) => Some(register.profile.len() as u64),
        Command::Join { .. } | Command::RetryDead { .. } | Command::Fit { .. } => Some(0),
        Command::Equip { capabilities, .. } => Some(capabilities.iter().map(|text| text.len() as u64).sum()),
        Command::ChangeState(_) => Some(STATE_BYTES),
        Command::SetPresence { detail, .. } => Some(detail.len() as u64),
        Command::Commit(commit) => commit.writes.iter().filter_map(written).reduce(|one, other| one + other),
        Command::Remove { .. }
        | Command::Leave { .. }
        | Command::OpenSession { .. }
        | Command::CloseSession { .. }
        | Command::Restart
        | Command::Wake
        | Command::Retract { .. }
        | Command::Resume { .. }
        | Command::Take(_)
        | Command::Surface { .. }
        | Command::Ack { .. }
        | Command::Process { .. }
        | Command::Nack(_)
        | Command::Extend { .. }
        | Command::Return { .. }
        | Command::DropDead { .. }
        | Command::EndWait { .. }
        | Command::Due(_)
        | Command::Carry { .. }
        | Command::Tune(_)
        | Command::JudgeGate { .. } => None,
    }
}
