//! One life of the process: the node's own steps, in the order that the plan says, and what its callers are told.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use broker::{Broker, Command, DeadView, Effect, EntryKey, Event, GroupKey, Reply};
use log::{Keep as _, Log as _, LogReader, MemDisk, ReadError, Reader};
use message::{DeliveryId, MessageId, Seq};
use node::driver::{
    Awaited, CommitError, Committer, Decider, Executed, InFlight, Job, Letter, Maintenance, Moved, Next,
    Outcome, Pipeline, RecentBodies, ReplyTo, Room, Source, SubscriberId, Take, Taken, Tick, Work,
};
use node::{CallError, Wishes};
use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};

use super::fickle_log::FickleLog;
use super::observer::{Records, What};
use super::{Answer, Clock, DeadLetter, Driver, Notice, Seen, Stop, Waiting};
use crate::client::{Asked, Asker};
use crate::request::{Request, TakeWish};
use crate::violation::{Promise, Violation, broken, ensure};

/// Letters that a subscription holds; more than is ever handed out at once here.
const LETTERS_MAX: usize = 1_024;

/// A living process.
pub(crate) struct Process {
    pub(super) decider: Decider,
    pub(super) committer: Committer<FickleLog>,
    pub(super) pipeline: Pipeline,
    /// Nothing while it is at work.
    pub(super) maintenance: Option<Maintenance<FickleLog>>,
    pub(super) reader: LogReader<MemDisk>,
    pub(super) recent: Arc<RecentBodies>,
    pub(super) moved: Arc<Moved>,
    pub(super) records: Records,
    pub(super) work: Work,
    /// What was appended, its outcome not asked for yet.
    pub(super) in_flight: InFlight,
    /// How many steps were decided.
    pub(super) steps: u64,
    /// Who asked for the jobs that wait, in their order.
    pub(super) queued: VecDeque<Queued>,
    /// Callers that wait for an answer.
    pub(super) callers: Vec<Caller>,
    pub(super) subscribers: Vec<Subscriber>,
    /// Callers that wait for replies.
    pub(super) awaiting: Vec<(MessageId, Awaited)>,
    /// What was handed to subscribers, by the deliveries in it.
    pub(super) takes: HashMap<DeliveryId, Box<Answer>>,
    /// What the state looked like after each step that is not known to be durable.
    pub(super) states: BTreeMap<Seq, Vec<u8>>,
    /// The bus's time when the process started, and when that was.
    pub(super) anchor: (broker::Time, u64),
}

/// A job that waits, and who asked for it.
pub(super) struct Queued {
    asker: Asker,
    request: Option<Request>,
    dead: Option<DeadLetter>,
    reply: Receiver,
}

/// A caller whose job was carried out.
pub(super) struct Caller {
    /// What it is to be told; nothing where that is not looked at.
    answer: Option<Box<Answer>>,
    /// The step in which that was decided.
    step: u64,
    reply: Receiver,
}

/// Where an answer arrives.
pub(super) enum Receiver {
    Executed(oneshot::Receiver<Vec<Executed>>),
    Taken(oneshot::Receiver<Result<Taken, CallError>>),
    Subscribed { waiting: Waiting, id: oneshot::Receiver<SubscriberId>, letters: mpsc::Receiver<Letter> },
    Nowhere,
}

/// A subscription.
pub(super) struct Subscriber {
    id: SubscriberId,
    waiting: Waiting,
    letters: mpsc::Receiver<Letter>,
}

impl Process {
    pub(super) fn broker(&self) -> &Broker {
        self.decider.broker()
    }

    pub(super) fn now(&self, clock: Clock) -> broker::Time {
        self.anchor.0.plus_ms(clock.real - self.anchor.1)
    }

    pub(super) fn tick(&self, clock: Clock) -> Tick {
        Tick { now: self.now(clock), wall: clock.wall() }
    }

    pub(super) fn keep(&self) -> Result<(), Stop> {
        self.committer.log().keeper().keep().map_err(|_| Stop::Disk)
    }

    pub(super) fn dead(&self) -> Vec<(MessageId, EntryKey)> {
        self.broker().dead_letters().map(|dead| (dead.id, dead.entry)).collect()
    }

    fn room(&self) -> Room {
        let log = self.committer.log();
        self.pipeline.room(log.keeper().ready(), log.room().batch_bytes_max)
    }

    /// Adds a job and who asked for it.
    pub(super) fn push(&mut self, asker: Asker, request: Request) {
        let dead = self.dead_letter(&request);
        let (job, reply) = if let Request::Take(wish) = &request {
            let ((reply, replied), (letters, _)) = (oneshot::channel(), oneshot::channel());
            let take = Take { wishes: wishes(wish), waits: false, reply, letters, permit: None };
            (Job::Take(take), Receiver::Taken(replied))
        } else {
            let (reply, replied) = oneshot::channel();
            let (commands, reply) = (vec![request.command()], ReplyTo::Caller { reply, permit: None });
            (Job::Execute { commands, reply }, Receiver::Executed(replied))
        };
        self.work.jobs.push_back(job);
        self.queued.push_back(Queued { asker, request: Some(request), dead, reply });
    }

    /// Adds commands of the process itself.
    pub(super) fn push_own(&mut self, commands: Vec<Command>) -> oneshot::Receiver<Vec<Executed>> {
        let (reply, replied) = oneshot::channel();
        self.work.jobs.push_back(Job::Execute { commands, reply: ReplyTo::Caller { reply, permit: None } });
        let (asker, reply) = (Asker::Operator, Receiver::Nowhere);
        self.queued.push_back(Queued { asker, request: None, dead: None, reply });
        replied
    }

    fn subscribe(&mut self, waiting: Waiting) {
        let ((letters, come), (reply, id)) = (mpsc::channel(LETTERS_MAX), oneshot::channel());
        let wish = TakeWish {
            agent: waiting.agent,
            session: Some(waiting.session),
            max: u32::MAX,
            bytes_max: u64::MAX,
            lease_ms: waiting.lease_ms,
        };
        self.work.jobs.push_back(Job::Subscribe { wishes: wishes(&wish), letters, reply });
        let reply = Receiver::Subscribed { waiting, id, letters: come };
        self.queued.push_back(Queued { asker: waiting.asker, request: None, dead: None, reply });
    }

    /// Finds which dead letter a request means.
    fn dead_letter(&self, request: &Request) -> Option<DeadLetter> {
        let (Request::RetryDead { entry, .. } | Request::DropDead { entry, .. }) = request else {
            return None;
        };
        let letters: Vec<_> = self.broker().dead_letters().collect();
        let place = letters.iter().position(|dead| dead.entry == *entry)?;
        let meant = &letters[place];
        let is_same = |other: &&DeadView<'_>| other.id == meant.id && other.to == meant.to;
        let older = letters[..place].iter().filter(is_same).map(|dead| dead.entry).collect();
        Some(DeadLetter { message: meant.id, recipient: meant.to.clone(), entry: *entry, older })
    }

    /// Finds who asked for what was executed, and what it was; nothing where the model does not see it.
    fn asked(
        &self,
        jobs: &mut [Option<Queued>],
        source: Source,
        command: &Command,
    ) -> Option<(Asker, Request, Option<DeadLetter>)> {
        let by_itself = || own(command).map(|request| (Asker::Operator, request, None));
        match source {
            Source::Job(index) => match &mut jobs[index] {
                Some(Queued { asker, request: Some(request), dead, .. }) => {
                    Some((*asker, request.clone(), dead.take()))
                }
                Some(_) | None => by_itself(),
            },
            Source::Subscriber(id) => {
                let found = self.subscribers.iter().find(|subscriber| subscriber.id == id)?;
                let Command::Take(take) = command else { return None };
                Some((found.waiting.asker, Request::Take(TakeWish::of(take)), None))
            }
            Source::Driver | Source::Due => by_itself(),
        }
    }

    /// Returns who waits with credit.
    fn waiting(&self) -> Vec<Waiting> {
        let with_credit = self.decider.dispatcher().waiting();
        let of = |id: SubscriberId| self.subscribers.iter().find(|subscriber| subscriber.id == id);
        let waiting = with_credit.iter().filter_map(|(id, wishes)| Some((of(*id)?, wishes.max)));
        waiting.map(|(subscriber, credit)| Waiting { credit, ..subscriber.waiting }).collect()
    }
}

impl Driver {
    /// Decides what was asked, what became ready and what is due: one or more batches.
    pub(super) fn decide(&mut self) -> Result<(), Stop> {
        if let Some(process) = &mut self.process {
            process.work.slept |= std::mem::take(&mut self.slept);
        }
        while let Some((asker, asked)) = self.inbox.pop_front() {
            let Some(process) = &mut self.process else { return Ok(()) };
            match asked {
                Asked::Request(request) => {
                    // These are made from the state that is there when they are carried out.
                    let is_exact = matches!(request, Request::RetryDead { .. } | Request::DropDead { .. });
                    if is_exact {
                        self.step()?;
                    }
                    let Some(process) = &mut self.process else { return Ok(()) };
                    process.push(asker, request);
                    if is_exact {
                        self.step()?;
                    }
                }
                Asked::Credit { agent, session, credit, lease_ms } => {
                    process.subscribe(Waiting { asker, agent, session, credit, lease_ms });
                }
            }
        }
        self.step()
    }

    /// Runs steps of the decider until no job is left.
    pub(super) fn step(&mut self) -> Result<(), Stop> {
        loop {
            let clock = self.clock;
            let Some(process) = &mut self.process else { return Ok(()) };
            let (tick, room, count) = (process.tick(clock), process.room(), process.work.jobs.len());
            let pipeline = &mut process.pipeline;
            let batch =
                process.decider.step(&mut process.work, tick, &mut self.dice, room, || pipeline.batch());
            process.work.slept = false;
            let done = count - process.work.jobs.len();
            self.note_step(done)?;
            let Some(process) = &mut self.process else { return Ok(()) };
            if let Some(batch) = batch {
                let mut state = Vec::new();
                process.broker().snapshot(&mut state);
                process.states.insert(batch.last, state);
                drop(process.pipeline.push(batch));
            }
            let (waiting, last) = (process.waiting(), process.broker().last());
            self.seen.push(Seen::TurnOver { waiting, last, now: tick.now, wall: tick.wall });
            let Some(process) = &self.process else { return Ok(()) };
            if process.work.jobs.is_empty() && process.work.returns.is_empty() {
                return Ok(());
            }
            if done == 0 && count > 0 {
                return Ok(broken(Promise::Answers, format_args!("a job is never carried out"))?);
            }
        }
    }

    /// Tells the model what a step did, and remembers who waits for what came of it.
    fn note_step(&mut self, done: usize) -> Result<(), Stop> {
        let Some(process) = &mut self.process else { return Ok(()) };
        let mut jobs: Vec<Option<Queued>> = process.queued.drain(..done).map(Some).collect();
        let mut answers: HashMap<usize, Box<Answer>> = HashMap::new();
        for record in process.records.take() {
            let notices = with_addresses(record.notices, process.decider.broker(), &self.groups);
            match record.what {
                What::Elapsed { now, wall, effects, last } => {
                    self.seen.push(Seen::Elapsed { now, wall, effects, notices, last });
                }
                What::NoRoom(Source::Job(index)) => {
                    if let Some(request) = jobs[index].as_ref().and_then(|job| job.request.clone()) {
                        self.seen.push(Seen::NoRoom(request));
                    }
                }
                What::NoRoom(_) => {}
                What::Executed { source, command, outcome, effects, now, wall, last, needs } => {
                    let Some((asker, request, dead)) = process.asked(&mut jobs, source, &command) else {
                        continue;
                    };
                    let outcome = *outcome;
                    let sent = record.sent;
                    let answer = Answer {
                        asker,
                        request,
                        outcome,
                        effects,
                        notices,
                        sent,
                        dead,
                        now,
                        wall,
                        last,
                        needs,
                    };
                    self.seen.push(Seen::Answered(Box::new(answer.clone())));
                    match source {
                        Source::Job(index) => drop(answers.insert(index, Box::new(answer))),
                        Source::Subscriber(_) => {
                            if let Ok(Reply::Taken(deliveries)) = &answer.outcome {
                                for delivery in deliveries {
                                    process.takes.insert(delivery.delivery, Box::new(answer.clone()));
                                }
                            }
                        }
                        Source::Driver | Source::Due => {}
                    }
                }
            }
        }
        for (index, job) in jobs.into_iter().enumerate() {
            if let Some(Queued { reply, .. }) = job {
                process.callers.push(Caller { answer: answers.remove(&index), step: process.steps, reply });
            }
        }
        process.steps += 1;
        Ok(())
    }

    /// Appends the batches that wait, unless as many appends as may be are in flight.
    pub(super) fn append(&mut self) -> Result<(), Stop> {
        if let Some((after, fault)) = self.write_fault.take() {
            self.disk.fault_at(self.disk.operations() + after, fault.of_log());
        }
        let Some(process) = &mut self.process else { return Ok(()) };
        let Next::Batches(batches) = process.pipeline.take_next() else { return Ok(()) };
        let ends: Vec<Seq> = batches.iter().filter(|it| !it.batch.is_empty()).map(|it| it.last).collect();
        match process.committer.append(batches) {
            Ok(appended) => {
                let durable = process.pipeline.durable();
                self.marks.extend(ends.into_iter().map(|end| (end, durable)));
                process.in_flight.push(appended);
                self.release()
            }
            Err(error) => {
                let before = process.in_flight.len();
                self.append_failed(&error, before)
            }
        }
    }

    /// Waits for the outcome of the oldest append in flight, and lets out what waited for it.
    pub(super) fn sync_log(&mut self) -> Result<(), Stop> {
        if let Some((after, fault)) = self.sync_fault.take() {
            self.disk.fault_at(self.disk.operations() + after, fault.of_log());
        }
        let Some(process) = &mut self.process else { return Ok(()) };
        let Some(appended) = process.in_flight.pop() else { return Ok(()) };
        match process.committer.sync(appended) {
            Ok(mut committed) => {
                process.pipeline.advance(&mut committed);
                process.work.returns.extend(committed.release());
                process.pipeline.end_commit();
                if process.pipeline.wants_reload() { self.reload() } else { Ok(()) }
            }
            Err(error) => {
                process.in_flight.give_up();
                self.append_failed(&error, 0)
            }
        }
    }

    /// The log does not have an append, or does not say so. So many before it are still in flight; when they have ended
    /// the state is loaded again. Where the disk failed the process ends.
    fn append_failed(&mut self, error: &CommitError, before: usize) -> Result<(), Stop> {
        let Some(process) = &mut self.process else { return Ok(()) };
        let goes_on = match error {
            CommitError::Refused(_) => !self.is_crowded,
            CommitError::Unknown(_) => process.committer.log().has_lost_an_answer(),
        };
        if !goes_on {
            return self.fail(error);
        }
        drop(process.pipeline.refuse(before));
        if process.pipeline.wants_reload() { self.reload() } else { Ok(()) }
    }

    /// Makes everything durable that was decided.
    pub(super) fn commit_all(&mut self) -> Result<(), Stop> {
        loop {
            self.append()?;
            let Some(process) = &self.process else { return Ok(()) };
            if process.in_flight.is_empty() {
                return Ok(());
            }
            self.sync_log()?;
            self.release()?;
        }
    }

    /// The log failed: callers are answered, and the process ends.
    fn fail(&mut self, error: &CommitError) -> Result<(), Stop> {
        let Some(process) = &mut self.process else { return Ok(()) };
        drop(std::mem::take(&mut process.in_flight));
        let (_, batches) = process.pipeline.fail(&error.clone().into());
        drop(batches);
        // The writer may be deciding a batch meanwhile, and hands it over before it learns of the failure.
        let (clock, room) = (self.clock, process.room());
        let (tick, pipeline) = (process.tick(clock), &mut process.pipeline);
        let late = process.decider.step(&mut process.work, tick, &mut self.dice, room, || pipeline.batch());
        drop(process.records.take());
        if let Some(late) = late {
            drop(process.pipeline.push(late));
        }
        let is_over = matches!(process.pipeline.take_next(), Next::End);
        ensure(is_over, Promise::Stops, format_args!("after a failure the log's thread waits for ever"))?;
        process.work.jobs.clear();
        let queued = std::mem::take(&mut process.queued);
        let callers = std::mem::take(&mut process.callers).into_iter().map(|caller| caller.reply);
        for mut reply in callers.chain(queued.into_iter().map(|queued| queued.reply)) {
            let is_answered = match &mut reply {
                Receiver::Executed(reply) => !matches!(reply.try_recv(), Err(TryRecvError::Empty)),
                Receiver::Taken(reply) => !matches!(reply.try_recv(), Err(TryRecvError::Empty)),
                Receiver::Subscribed { id, .. } => !matches!(id.try_recv(), Err(TryRecvError::Empty)),
                Receiver::Nowhere => true,
            };
            ensure(is_answered, Promise::Stops, format_args!("after a failure a caller is never answered"))?;
        }
        Err(Stop::Disk)
    }

    /// Lets out what may leave: tells the model what callers and subscribers were told.
    pub(super) fn release(&mut self) -> Result<(), Stop> {
        let Some(process) = &mut self.process else { return Ok(()) };
        let durable = process.pipeline.durable();
        // The newest durable state is kept: a snapshot is compared with it.
        let keep = process.states.range(..=durable).next_back().map_or(Seq(0), |(seq, _)| *seq);
        process.states.retain(|seq, _| *seq >= keep);
        let out = process.hear_callers()?;
        let mut handed: Vec<DeliveryId> = Vec::new();
        for subscriber in &mut process.subscribers {
            while let Ok(letter) = subscriber.letters.try_recv() {
                handed.push(letter.delivery.delivery);
            }
        }
        let takes: Vec<Box<Answer>> = handed.iter().filter_map(|id| process.takes.remove(id)).collect();
        let mut told = Vec::new();
        process.awaiting.retain_mut(|(message, awaited)| match awaited.try_outcome() {
            Ok(None) => true,
            Ok(Some(Outcome::Reply { reply, delivery })) => {
                told.push(Effect::Answered { message: *message, reply, delivery });
                false
            }
            Ok(Some(Outcome::Nothing { .. })) | Err(_) => false,
        });
        for answer in out {
            let deliveries = match &answer.outcome {
                Ok(Reply::Taken(deliveries)) => deliveries.iter().map(|it| it.delivery).collect(),
                Ok(_) | Err(_) => Vec::new(),
            };
            self.let_out(Box::new(answer), &deliveries)?;
        }
        for (answer, delivery) in takes.into_iter().zip(handed) {
            self.let_out(answer, &[delivery])?;
        }
        self.seen.push(Seen::Told(told));
        Ok(())
    }

    /// Lets one answer out, with the documents of what was handed out.
    fn let_out(&mut self, answer: Box<Answer>, deliveries: &[DeliveryId]) -> Result<(), Stop> {
        let mut handed = Vec::new();
        if let (Ok(Reply::Taken(all)), Some(process)) = (&answer.outcome, &self.process) {
            for delivery in all.iter().filter(|it| deliveries.contains(&it.delivery)) {
                let body = process.body(delivery.body)?;
                handed.push(Seen::Handed { delivery: Box::new(delivery.clone()), body });
            }
        }
        self.seen.push(Seen::Released(answer));
        self.seen.append(&mut handed);
        Ok(())
    }
}

impl Process {
    /// Returns the answers that have arrived at callers, which must be those that were decided first. What they wait
    /// for then is remembered.
    fn hear_callers(&mut self) -> Result<Vec<Answer>, Violation> {
        let mut out = Vec::new();
        let mut waiting = Vec::new();
        for caller in std::mem::take(&mut self.callers) {
            let Caller { answer, step, mut reply } = caller;
            let is_told = match &mut reply {
                Receiver::Executed(reply) => match reply.try_recv() {
                    Ok(executed) => {
                        for Executed { outcome, awaited, .. } in executed {
                            if let (Ok(Reply::Accepted(receipted)), Some(awaited)) = (outcome, awaited) {
                                self.awaiting.push((receipted.id, awaited));
                            }
                        }
                        true
                    }
                    Err(TryRecvError::Empty) => false,
                    Err(TryRecvError::Closed) => continue,
                },
                Receiver::Taken(reply) => match reply.try_recv() {
                    Ok(_) => true,
                    Err(TryRecvError::Empty) => false,
                    Err(TryRecvError::Closed) => continue,
                },
                Receiver::Subscribed { id, .. } => match id.try_recv() {
                    Ok(id) => {
                        let Receiver::Subscribed { waiting, letters, .. } = reply else { continue };
                        self.work.jobs.push_back(Job::Credit { subscriber: id, more: waiting.credit });
                        let (asker, reply) = (waiting.asker, Receiver::Nowhere);
                        self.queued.push_back(Queued { asker, request: None, dead: None, reply });
                        self.subscribers.push(Subscriber { id, waiting, letters });
                        continue;
                    }
                    Err(TryRecvError::Empty) => false,
                    Err(TryRecvError::Closed) => continue,
                },
                Receiver::Nowhere => continue,
            };
            if !is_told {
                waiting.push(Caller { answer, step, reply });
                continue;
            }
            let overtaken = waiting.first().is_some_and(|first: &Caller| first.step < step);
            ensure(!overtaken, Promise::Answers, format_args!("an answer leaves before an earlier one"))?;
            out.extend(answer.map(|answer| *answer));
        }
        self.callers = waiting;
        Ok(out)
    }

    /// Reads the document that an event carries, as the node does: from memory, else from the log.
    pub(super) fn body(&self, place: Seq) -> Result<Vec<u8>, Stop> {
        if let Some(Some(body)) = self.recent.get_many(&[place]).pop() {
            return Ok(body.to_vec());
        }
        match self.reader.read(place) {
            Ok(bytes) => body_of(&bytes, place),
            Err(ReadError::Trimmed { .. }) => {
                let now = self.moved.now(&[place])[0];
                let bytes = self.reader.read(now).map_err(|_| Stop::Disk)?;
                body_of(&bytes, now)
            }
            Err(ReadError::Storage(_)) => Err(Stop::Disk),
            Err(error) => Ok(broken(Promise::Bodies, format_args!("body at {place}: {error}"))?),
        }
    }
}

fn body_of(record: &[u8], seq: Seq) -> Result<Vec<u8>, Stop> {
    match Event::decode(record) {
        Ok((_, Event::Accepted(accepted))) => Ok(accepted.body.into_owned()),
        Ok((_, Event::Amended { body, .. } | Event::Carried { body, .. })) => Ok(body.to_vec()),
        Ok((_, Event::RecordCarried { body, .. } | Event::TaskCarried { body, .. })) => Ok(body.to_vec()),
        Ok((_, Event::RecordSet(set))) => Ok(set.body.to_vec()),
        Ok((_, other)) => Ok(broken(Promise::Bodies, format_args!("no body at {seq}: {other:?}"))?),
        Err(error) => Ok(broken(Promise::Bodies, format_args!("event {seq}: {error}"))?),
    }
}

/// Returns a command of the process itself as the model knows it; nothing if the model does not see it.
fn own(command: &Command) -> Option<Request> {
    if let Command::Tune(retention) = command {
        return Some(Request::Tune(*retention));
    }
    if let Command::Return { agent, delivery } = command {
        return Some(Request::Return { agent: *agent, delivery: *delivery });
    }
    match matches!(command, Command::Restart) {
        true => Some(Request::Restart),
        false => matches!(command, Command::Wake).then_some(Request::Wake),
    }
}

fn wishes(wish: &TakeWish) -> Wishes {
    Wishes {
        agent: wish.agent,
        session: wish.session,
        max: wish.max,
        bytes_max: wish.bytes_max,
        lease_ms: wish.lease_ms,
        by: "sim".into(),
    }
}

/// Names the groups of what the bus itself has written by their addresses.
fn with_addresses(
    notices: Vec<(Notice, Vec<GroupKey>)>,
    broker: &Broker,
    addresses: &[String],
) -> Vec<Notice> {
    let address = |group: GroupKey| {
        let found = addresses.iter().find(|address| broker.group(address) == Some(group));
        found.cloned().unwrap_or_else(|| "?".to_owned())
    };
    let named = |(notice, groups): (Notice, Vec<GroupKey>)| Notice {
        groups: groups.into_iter().map(address).collect(),
        ..notice
    };
    notices.into_iter().map(named).collect()
}

impl TakeWish {
    fn of(take: &broker::Take) -> Self {
        TakeWish {
            agent: take.agent,
            session: take.session,
            max: take.max,
            bytes_max: take.bytes_max,
            lease_ms: take.lease_ms,
        }
    }
}

impl crate::step::DiskFault {
    fn of_log(self) -> log::Fault {
        use crate::step::DiskFault;
        match self {
            DiskFault::Error => log::Fault::Io,
            DiskFault::Full => log::Fault::Full,
            DiskFault::Interrupted => log::Fault::Interrupted,
            DiskFault::Short => log::Fault::Short,
        }
    }
}
