//! A transaction: commands executed one after the other on the one state, their events gathered into one batch.

use std::time::Duration;

use broker::{Accept, Random, Reply, Sign, Take, Time};
use broker::{Broker, Command, Context, Due, Effect, Effects, Mailbox, RecordChange, RecordWrite};
use bytes::Bytes;
use log::Batch;
use message::{MessageId, Seq};

#[cfg(feature = "simulation")]
use super::decide::{Observed, Observer, Source};
use super::dispatch::{Awaited, Dispatcher, Letter, SubscriberId};
use super::job::Executed;
use crate::clock::Clock;
use crate::counters::Counters;
use crate::failure::CallError;

/// What the events of a command need besides the body that it carries.
pub(super) const OVERHEAD_BYTES: u64 = 8 << 10;
/// What the event of a write needs besides its document: names, digests, the blobs to which it refers.
const WRITE_BYTES: u64 = 2 << 10;
/// How much that the clock made due is done at a time.
const DUE_MAX: usize = 4_096;

/// The state and the clock, while jobs are carried out.
pub(super) struct Transaction<'t> {
    pub(super) broker: &'t mut Broker,
    pub(super) batch: &'t mut Batch,
    pub(super) dispatcher: &'t mut Dispatcher,
    pub(super) random: &'t mut dyn Random,
    pub(super) effects: Effects,
    pub(super) now: Time,
    pub(super) wall: Time,
    /// The last event that must be durable before a completion leaves.
    pub(super) needs: &'t mut Seq,
    pub(super) counters: &'t Counters,
    /// How many bytes the batch may have with new work in it.
    pub(super) room: u64,
    /// Bodies that were written, for those who read them soon.
    pub(super) bodies: &'t mut Vec<(Seq, Bytes)>,
    pub(super) stopwatch: Option<&'t dyn Clock>,
    #[cfg(feature = "plants")]
    pub(super) plant: Option<super::Plant>,
    #[cfg(feature = "simulation")]
    pub(super) observer: &'t mut Option<Box<dyn Observer>>,
    #[cfg(feature = "simulation")]
    pub(super) source: Source,
}

impl Transaction<'_> {
    /// Executes a command. What it gives back may leave only with the completion of the job that it is part of.
    pub(super) fn execute(&mut self, command: &Command) -> Result<Reply, CallError> {
        let outcome = self.try_execute(command);
        if outcome.is_ok()
            && let Command::Ack { delivery, .. } = command
        {
            self.counters.settle.add(self.since(delivery.unix_millis()));
        }
        outcome
    }

    fn try_execute(&mut self, command: &Command) -> Result<Reply, CallError> {
        let room_wanted = growth(command).map_or(0, |bytes| self.batch.bytes() + bytes + OVERHEAD_BYTES);
        if room_wanted > self.room {
            #[cfg(feature = "simulation")]
            self.observe(Observed::NoRoom { source: self.source, command });
            return Err(CallError::NoRoom);
        }
        #[cfg(feature = "plants")]
        if self.plant == Some(super::Plant::DropReturned) && matches!(command, Command::Return { .. }) {
            self.observe_done(command);
            return Ok(Reply::Done);
        }
        #[cfg(feature = "simulation")]
        let effects_before = self.effects.len();
        let mut cx = Context { now: self.now, wall: self.wall, random: self.random };
        let (batch, needs, counters, bodies) =
            (&mut *self.batch, &mut *self.needs, self.counters, &mut *self.bodies);
        #[cfg(feature = "simulation")]
        let observer = &mut *self.observer;
        let mut write = |seq: Seq, at: Time, event: &broker::Event<'_>| {
            counters.happened.count(event);
            if event.needs_sync() {
                *needs = seq;
            }
            if let broker::Event::Accepted(accepted) = event
                && let Some(body) = body_in(command, &accepted.body)
            {
                bodies.push((seq, body.clone()));
            }
            #[cfg(feature = "simulation")]
            if let Some(observer) = observer {
                observer.event(seq, at, event);
            }
            batch.push_with(|out| event.encode(at, out));
        };
        let outcome = self.broker.execute(&mut cx, command, &mut self.effects, &mut write);
        self.now = cx.now;
        #[cfg(feature = "simulation")]
        self.observe_executed(command, &outcome, effects_before);
        Ok(outcome?)
    }

    /// Executes a command, and begins to wait for the reply to a message whose sender does.
    pub(super) fn execute_and_await(&mut self, command: &Command) -> Executed {
        let outcome = self.execute(command);
        // A repeat joins the wait of the one before it.
        let awaited = match &outcome {
            Ok(Reply::Accepted(receipted))
                if receipted.wait_until.is_some() && receipted.answer.is_none() =>
            {
                Some(self.wait_for_reply(receipted.id))
            }
            Ok(_) | Err(_) => None,
        };
        Executed { outcome, awaited, last: self.broker.last() }
    }

    #[cfg(feature = "simulation")]
    pub(super) fn observe(&mut self, observed: Observed<'_>) {
        if let Some(observer) = &mut *self.observer {
            observer.observe(observed);
        }
    }

    #[cfg(feature = "simulation")]
    fn observe_executed(
        &mut self,
        command: &Command,
        outcome: &Result<Reply, broker::Refusal>,
        effects_before: usize,
    ) {
        let (source, now, wall) = (self.source, self.now, self.wall);
        let (last, needs) = (self.broker.last(), *self.needs);
        if let Some(observer) = &mut *self.observer {
            let effects = &self.effects[effects_before..];
            observer.observe(Observed::Executed {
                source,
                command,
                outcome,
                effects,
                now,
                wall,
                last,
                needs,
            });
        }
    }

    /// Tells the observer that a command was executed which a planted fault leaves out.
    #[cfg(feature = "plants")]
    fn observe_done(&mut self, command: &Command) {
        #[cfg(feature = "simulation")]
        self.observe_executed(command, &Ok(Reply::Done), self.effects.len());
        let _ = command;
    }

    /// Returns how long ago an id was made.
    fn since(&self, made_ms: Option<u64>) -> Duration {
        Duration::from_millis(made_ms.map_or(0, |made_ms| self.now.ms_since(Time(made_ms))))
    }

    /// Waits for the reply to a message that was accepted with a wait.
    pub(super) fn wait_for_reply(&mut self, message: MessageId) -> Awaited {
        self.dispatcher.wait_for_reply(message)
    }

    /// Hands out to an agent now.
    pub(super) fn take(&mut self, take: &Take) -> Result<Vec<Letter>, CallError> {
        let Reply::Taken(deliveries) = self.execute(&Command::Take(take.clone()))? else {
            return Err(CallError::Unexpected);
        };
        for delivery in &deliveries {
            self.counters.dispatch.add(self.since(delivery.id.unix_millis()));
        }
        Ok(deliveries.into_iter().map(|delivery| Letter::new(take.agent, delivery)).collect())
    }

    /// Hands a subscriber whatever it may have now, as much as it has credit for.
    pub(super) fn serve(&mut self, subscriber: SubscriberId) {
        while let Some(wishes) = self.dispatcher.wishes_of(subscriber) {
            #[cfg(feature = "simulation")]
            let before = std::mem::replace(&mut self.source, Source::Subscriber(subscriber));
            let taken = self.take(&wishes.take());
            #[cfg(feature = "simulation")]
            {
                self.source = before;
            }
            match taken {
                Ok(letters) if letters.is_empty() => return,
                Ok(letters) => self.dispatcher.deliver(subscriber, letters),
                // Its session or its agent is gone, or it asks for what is never granted: it will never get anything.
                Err(_) => return self.dispatcher.end_stream(subscriber),
            }
        }
    }

    /// Hands what became ready to those who wait, and does what is due, until nothing is left to do or the batch is
    /// long enough.
    pub(super) fn settle(&mut self, bytes_max: u64) {
        loop {
            self.dispatch();
            if self.batch.bytes() > bytes_max {
                return;
            }
            #[cfg_attr(not(feature = "plants"), expect(unused_mut, reason = "a plant takes some out"))]
            let mut due = self.broker.due(self.now, self.wall, DUE_MAX);
            #[cfg(feature = "plants")]
            if self.plant == Some(super::Plant::ForgetWorkDue) {
                due.retain(|due| !matches!(due, Due::Work(_)));
            }
            if due.is_empty() {
                return;
            }
            let before = self.broker.last();
            self.elapse(due);
            if self.broker.last() == before {
                // It would be due again at once, for ever.
                return;
            }
        }
    }

    /// Does what the clock made due.
    fn elapse(&mut self, due: Vec<Due>) {
        #[cfg(feature = "simulation")]
        let (before, effects_before) = (std::mem::replace(&mut self.source, Source::Due), self.effects.len());
        for due in due {
            // What is due is never new work, and the broker refuses none of it.
            let done = self.execute(&Command::Due(due));
            debug_assert!(done.is_ok(), "{due:?}: {done:?}");
        }
        #[cfg(feature = "simulation")]
        {
            self.source = before;
            let (now, wall, last) = (self.now, self.wall, self.broker.last());
            if let Some(observer) = &mut *self.observer {
                let effects = &self.effects[effects_before..];
                observer.observe(Observed::Elapsed { now, wall, effects, last });
            }
        }
    }

    /// Gives what became ready to those who wait for it.
    fn dispatch(&mut self) {
        let mut ready: Vec<Mailbox> = Vec::new();
        for effect in std::mem::take(&mut self.effects) {
            match effect {
                Effect::Ready(mailbox) => ready.push(mailbox),
                Effect::Answered { message, reply, delivery } => {
                    if let Some(agent) = self.broker.holder(delivery) {
                        self.dispatcher.answer(message, reply, (agent, delivery));
                    }
                }
                Effect::Unanswered { message, stage } => self.dispatcher.give_up(message, stage),
            }
        }
        ready.sort_unstable();
        ready.dedup();
        for mailbox in ready {
            for subscriber in self.dispatcher.waiting_at(mailbox, self.broker) {
                self.serve(subscriber);
            }
        }
    }
}

/// Returns the body that an event has from a command, as the command holds it; nothing if the broker wrote it.
fn body_in<'c>(command: &'c Command, body: &[u8]) -> Option<&'c Bytes> {
    // The event borrows it, so it lies at the same place.
    let is_it = |accept: &&Accept| std::ptr::eq::<[u8]>(&*accept.body, body);
    let accept = if let Command::Commit(commit) = command {
        commit.writes.iter().filter_map(submitted).find(is_it)
    } else if let Command::Accept(accept) = command {
        Some(&**accept).filter(is_it)
    } else {
        None
    };
    accept.map(|accept| &accept.body)
}

/// Returns the message that a record is.
fn submitted(write: &RecordWrite) -> Option<&Accept> {
    match &write.change {
        RecordChange::Set { submit, .. } => submit.as_deref(),
        RecordChange::Remove => None,
    }
}

/// Returns how much accepting a message adds to the log, with what it carries.
fn accepted(accept: &Accept) -> u64 {
    let carried = signed(accept.sign.as_deref()) + accept.update.as_ref().map_or(0, |_| STATE_BYTES);
    accept.body.len() as u64 + carried
}

/// Returns how much a write adds to the log at most; nothing for one that removes. A document that is the body of a
/// message is stored once while the message is open; the message may be over as soon as it is accepted.
fn written(write: &RecordWrite) -> Option<u64> {
    match &write.change {
        RecordChange::Set { document, submit, .. } => {
            let message = submit.as_ref().map_or(0, |accept| accepted(accept) + WRITE_BYTES);
            Some(document.len() as u64 + WRITE_BYTES + message)
        }
        RecordChange::Remove => None,
    }
}

/// What a change of the shared state or a claim adds to the log, roughly.
const STATE_BYTES: u64 = 4_096;

/// Returns how much what an agent says of itself adds to the log.
fn signed(sign: Option<&Sign>) -> u64 {
    sign.and_then(|sign| sign.detail.as_ref()).map_or(0, |detail| detail.len() as u64)
}

/// Returns how much a command that brings new work adds to the log; nothing for one that finishes work.
pub(super) fn growth(command: &Command) -> Option<u64> {
    match command {
        Command::Accept(accept) => Some(accepted(accept)),
        Command::Amend { body, .. } => Some(body.len() as u64),
        Command::Register(register) => Some(register.profile.len() as u64),
        Command::Join { .. } | Command::RetryDead { .. } => Some(0),
        Command::Sign { sign, .. } => Some(signed(Some(sign))),
        Command::Equip { capabilities, .. } => Some(capabilities.iter().map(|text| text.len() as u64).sum()),
        Command::ChangeState(_) | Command::Claim(_) => Some(STATE_BYTES),
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
