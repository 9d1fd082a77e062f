//! One life of the process: turns, syncs, and the answers that wait for them.

use std::collections::{BTreeMap, VecDeque};

use broker::{
    AgentKey, Broker, Command, Context, DeadView, Due, Effect, Effects, EntryKey, Event, GroupKey, Mailbox,
    Refusal, Reply, Target, Time,
};
use log::{
    AppendError, Batch, Class, Keep as _, Keeper, Log, LogReader, LogSnapshots, LogSyncer, MemDisk,
    ReadError, Reader,
};
use log::{SegmentLog, Syncer};
use message::Seq;

use super::{Answer, Clock, DeadLetter, Driver, Notice, Seen, Stop, Waiting};
use crate::client::{Asked, Asker};
use crate::plant::DriverPlant;
use crate::request::{Request, TakeWish};
use crate::step::DiskFault;
use crate::violation::{Promise, broken};

/// How much is done at once of what is due.
const DUE_MAX: usize = 1_000;
/// How often a turn looks again for what became due or ready by what it did; more would mean it never ends.
const ROUNDS_MAX: u32 = 200;
/// Room that a turn leaves for what follows from what it was asked.
const ROOM_BYTES: u64 = 10_000;

/// A living process.
pub(crate) struct Node {
    pub(super) log: SegmentLog<MemDisk>,
    pub(super) syncer: LogSyncer<MemDisk>,
    pub(super) reader: LogReader<MemDisk>,
    pub(super) snapshots: LogSnapshots<MemDisk>,
    pub(super) keeper: Keeper<MemDisk>,
    pub(crate) broker: Broker,
    pub(super) batch: Batch,
    pub(super) class: Class,
    /// What the bus itself has written since that was last looked at.
    pub(super) written: Vec<(Notice, Vec<GroupKey>)>,
    /// Who waits with credit, first come first.
    pub(super) waiting: Vec<Waiting>,
    /// Answers and what they wait for.
    pub(super) held: VecDeque<(Seq, Held)>,
    pub(super) durable: Seq,
    /// A broker folded in the background, as far as the last snapshot.
    pub(super) folded: Broker,
    /// What the living state looked like after each turn that is not known to be durable.
    pub(super) states: BTreeMap<Seq, Vec<u8>>,
    /// The bus's time when the process started, and when that was.
    pub(super) anchor: (Time, u64),
}

/// What somebody who waits was given.
enum Given {
    Nothing,
    /// Something, or a refusal that ends its wait.
    Something(Vec<Effect>),
}

/// Something that leaves when it may.
pub(super) enum Held {
    Answer(Box<Answer>),
    Effects(Vec<Effect>),
}

impl Node {
    pub(super) fn now(&self, clock: Clock) -> Time {
        self.anchor.0.plus_ms(clock.real - self.anchor.1)
    }

    pub(super) fn keep(&mut self) -> Result<(), Stop> {
        self.keeper.keep().map(|_| ()).map_err(|_| Stop::Disk)
    }

    pub(super) fn dead(&self) -> Vec<EntryKey> {
        self.broker.dead_letters().map(|dead| dead.entry).collect()
    }

    /// Takes what the bus itself has written, groups by their addresses.
    fn take_written(&mut self, addresses: &[String]) -> Vec<Notice> {
        let broker = &self.broker;
        let address = |group: GroupKey| {
            let found = addresses.iter().find(|address| broker.group(address) == Some(group));
            found.cloned().unwrap_or_else(|| "?".to_owned())
        };
        let written = self.written.drain(..);
        written
            .map(|(notice, groups)| Notice { groups: groups.into_iter().map(address).collect(), ..notice })
            .collect()
    }

    /// Finds which dead letter a request means.
    fn dead_letter(&self, request: &Request) -> Option<DeadLetter> {
        let (Request::RetryDead { entry } | Request::DropDead { entry }) = request else { return None };
        let letters: Vec<_> = self.broker.dead_letters().collect();
        let place = letters.iter().position(|dead| dead.entry == *entry)?;
        let meant = &letters[place];
        let is_same = |other: &&DeadView<'_>| other.id == meant.id && other.to == meant.to;
        let older = letters[..place].iter().filter(is_same).map(|dead| dead.entry).collect();
        Some(DeadLetter { message: meant.id, recipient: meant.to.clone(), entry: *entry, older })
    }

    /// Executes a command and puts its events into the batch.
    pub(super) fn execute(
        &mut self,
        command: &Command,
        cx: &mut Context<'_>,
        effects: &mut Effects,
    ) -> Result<Reply, Refusal> {
        let (batch, written) = (&mut self.batch, &mut self.written);
        self.broker.execute(cx, command, effects, &mut |_: Seq, at: Time, event: &Event<'_>| {
            written.extend(notice_of(event));
            batch.push_with(|buffer| event.encode(at, buffer));
        })
    }
}

impl Driver {
    /// Carries out what was asked, offers what is ready, and does what is due.
    pub(super) fn work(&mut self) -> Result<(), Stop> {
        if self.node.is_none() {
            return Ok(());
        }
        if std::mem::take(&mut self.slept) {
            self.carry_out(Asker::Operator, Request::Wake)?;
        }
        while let Some((asker, asked)) = self.inbox.pop_front() {
            match asked {
                Asked::Request(request) => {
                    self.carry_out(asker, request)?;
                }
                Asked::Credit { agent, session, credit, lease_ms } => {
                    let waiting = Waiting { asker, agent, session, credit, lease_ms };
                    let Some(node) = &mut self.node else { return Ok(()) };
                    node.waiting.push(waiting);
                    self.offer(&[Effect::Ready(Mailbox::Agent(agent))])?;
                }
            }
        }
        self.do_due()?;
        self.end_turn();
        let early = [DriverPlant::DuplicateBeforeDurable, DriverPlant::ClaimBeforeDurable];
        if self.driver_plant().is_some_and(|plant| early.contains(&plant)) {
            return self.release_up_to(Seq(0));
        }
        Ok(())
    }

    /// Says that a turn is over.
    pub(super) fn end_turn(&mut self) {
        let Some(node) = &self.node else { return };
        let (now, wall) = (node.now(self.clock), self.clock.wall());
        self.seen.push(Seen::TurnOver { waiting: node.waiting.clone(), last: node.broker.last(), now, wall });
    }

    /// Carries out one request, and then offers what became ready by it.
    pub(super) fn carry_out(&mut self, asker: Asker, request: Request) -> Result<(), Stop> {
        let effects = self.execute(asker, request)?;
        self.offer(&effects)
    }

    fn execute(&mut self, asker: Asker, request: Request) -> Result<Vec<Effect>, Stop> {
        let (plant, clock) = (self.driver_plant(), self.clock);
        let Some(node) = &mut self.node else { return Ok(Vec::new()) };
        if request.is_new_work() && node.log.room().normal < node.batch.bytes() + ROOM_BYTES {
            self.seen.push(Seen::NoRoom(request));
            return Ok(Vec::new());
        }
        if request.is_new_work() {
            node.class = Class::Normal;
        }
        let (now, wall) = (node.now(clock), clock.wall());
        let (dead, tick) = (node.dead_letter(&request), node.broker.next_tick(now));
        let before = node.broker.last();
        let mut effects = Effects::new();
        let mut cx = Context { now, wall, random: &mut self.dice };
        let skipped = plant == Some(DriverPlant::DropReturned) && matches!(request, Request::Return { .. });
        let outcome = match skipped {
            true => Ok(Reply::Done),
            false => node.execute(&request.command(tick), &mut cx, &mut effects),
        };
        let last = node.broker.last();
        let told = effects.clone();
        let notices = node.take_written(&self.groups);
        let answer = Answer { asker, request, outcome, effects, notices, dead, now, wall, last };
        self.seen.push(Seen::Answered(Box::new(answer.clone())));
        let is_claim =
            matches!(&answer.request, Request::Accept(sent) if sent.kind == message::Kind::TaskClaim);
        let at_once = match plant {
            Some(DriverPlant::DuplicateBeforeDurable) => before == last,
            Some(DriverPlant::ClaimBeforeDurable) => is_claim && answer.outcome.is_ok(),
            Some(_) | None => false,
        };
        let need = if at_once { Seq(0) } else { last };
        node.held.push_back((need, Held::Answer(Box::new(answer))));
        Ok(told)
    }

    /// Gives what is ready to those who wait for it, first come first.
    fn offer(&mut self, effects: &[Effect]) -> Result<(), Stop> {
        let mut ready: VecDeque<Mailbox> = ready(effects);
        let mut rounds = 0;
        while let Some(mailbox) = ready.pop_front() {
            rounds += 1;
            if rounds > ROUNDS_MAX {
                return Ok(broken(Promise::Answers, format_args!("what is ready never ends: {mailbox:?}"))?);
            }
            let mut index = 0;
            while let Some(waiting) = self.node.as_ref().and_then(|node| node.waiting.get(index).copied()) {
                let given = match may_take(mailbox, &waiting) {
                    true => self.give(index, &waiting)?,
                    false => Given::Nothing,
                };
                match given {
                    Given::Something(effects) => ready.extend(self::ready(&effects)),
                    Given::Nothing => index += 1,
                }
            }
        }
        Ok(())
    }

    /// Takes for somebody who waits, and lets it wait no longer if it was given all that it wanted.
    fn give(&mut self, index: usize, waiting: &Waiting) -> Result<Given, Stop> {
        let Waiting { asker, agent, session, credit, lease_ms } = *waiting;
        let wish = TakeWish { agent, session: Some(session), max: credit, bytes_max: u64::MAX, lease_ms };
        let effects = self.execute(asker, Request::Take(wish))?;
        let given = match self.seen.last() {
            Some(Seen::Answered(answer)) => match &answer.outcome {
                Ok(Reply::Taken(deliveries)) => deliveries.len() as u32,
                // The connection or the agent is gone, or the wish is one that is never granted.
                Ok(_) | Err(_) => credit,
            },
            _ => 0,
        };
        let Some(node) = &mut self.node else { return Ok(Given::Nothing) };
        if given == 0 {
            return Ok(Given::Nothing);
        }
        node.waiting[index].credit -= given.min(credit);
        if node.waiting[index].credit == 0 {
            node.waiting.remove(index);
        }
        Ok(Given::Something(effects))
    }

    /// Does what is due until nothing is, and offers what became ready by it.
    pub(super) fn do_due(&mut self) -> Result<(), Stop> {
        let clock = self.clock;
        let forgets_work = self.driver_plant() == Some(DriverPlant::ForgetWorkDue);
        for _ in 0..ROUNDS_MAX {
            let Some(node) = &mut self.node else { return Ok(()) };
            let (now, wall) = (node.now(clock), clock.wall());
            let mut due = node.broker.due(now, wall, DUE_MAX);
            if forgets_work {
                due.retain(|due| !matches!(due, Due::Work(_)));
            }
            if due.is_empty() {
                return Ok(());
            }
            let mut effects = Effects::new();
            for due in due {
                let mut cx = Context { now, wall, random: &mut self.dice };
                if let Err(refusal) = node.execute(&Command::Due(due), &mut cx, &mut effects) {
                    return Ok(broken(Promise::Answers, format_args!("{due:?} was refused: {refusal}"))?);
                }
            }
            let last = node.broker.last();
            node.held.push_back((last, Held::Effects(effects.clone())));
            let notices = node.take_written(&self.groups);
            self.seen.push(Seen::Elapsed { now, wall, effects: effects.clone(), notices, last });
            self.offer(&effects)?;
        }
        Ok(broken(Promise::Answers, format_args!("what is due never ends"))?)
    }

    /// Appends the turn to the log.
    pub(super) fn append(&mut self) -> Result<(), Stop> {
        let Some(node) = &mut self.node else { return Ok(()) };
        if node.batch.is_empty() {
            return Ok(());
        }
        if let Some((after, fault)) = self.write_fault.take() {
            self.disk.fault_at(self.disk.operations() + after, fault.of_log());
        }
        let last = node.broker.last();
        let class = std::mem::replace(&mut node.class, Class::Reserve);
        let expected = Seq(last.0 - node.batch.count());
        let appended = node.log.append(expected, &mut node.batch, class);
        node.batch.clear();
        match appended {
            Ok(appended) if appended == last => {}
            Ok(appended) => {
                return Ok(broken(
                    Promise::Durable,
                    format_args!("the log is at {appended}, the broker at {last}"),
                )?);
            }
            Err(AppendError::NoRoom { .. } | AppendError::Storage(_) | AppendError::Poisoned) => {
                return Err(Stop::Disk);
            }
            Err(error) => return Ok(broken(Promise::Durable, format_args!("append: {error}"))?),
        }
        self.marks.push((last, node.durable));
        let mut state = Vec::new();
        node.broker.snapshot(&mut state);
        node.states.insert(last, state);
        if self.driver_plant() == Some(DriverPlant::AckBeforeSync) {
            return self.release_up_to(last);
        }
        Ok(())
    }

    /// Makes what was appended durable.
    pub(super) fn sync_log(&mut self) -> Result<(), Stop> {
        let plant = self.driver_plant();
        if let Some((after, fault)) = self.sync_fault.take() {
            self.disk.fault_at(self.disk.operations() + after, fault.of_log());
        }
        let Some(node) = &mut self.node else { return Ok(()) };
        match node.syncer.sync() {
            Ok(durable) => node.durable = durable,
            Err(_) if plant == Some(DriverPlant::IgnoreSyncFailure) => node.durable = node.log.last(),
            Err(_) => return Err(Stop::Disk),
        }
        Ok(())
    }

    /// Lets out what may leave.
    pub(super) fn release(&mut self) -> Result<(), Stop> {
        let Some(node) = &mut self.node else { return Ok(()) };
        let durable = node.durable;
        // The newest durable state is kept: a snapshot is compared with it.
        let keep = node.states.range(..=durable).next_back().map_or(Seq(0), |(seq, _)| *seq);
        node.states.retain(|seq, _| *seq >= keep);
        self.release_up_to(durable)
    }

    fn release_up_to(&mut self, durable: Seq) -> Result<(), Stop> {
        let Some(node) = &mut self.node else { return Ok(()) };
        let (leaving, held) = node.held.drain(..).partition(|(need, _)| *need <= durable);
        node.held = held;
        let leaving: VecDeque<(Seq, Held)> = leaving;
        let reader = node.reader.clone();
        for (_, held) in leaving {
            match held {
                Held::Answer(answer) => self.let_out(&reader, answer)?,
                Held::Effects(effects) => self.seen.push(Seen::Told(effects)),
            }
        }
        Ok(())
    }

    /// Lets one answer out; documents are read only now, from the log.
    fn let_out(&mut self, reader: &LogReader<MemDisk>, answer: Box<Answer>) -> Result<(), Stop> {
        let deliveries = match &answer.outcome {
            Ok(Reply::Taken(deliveries)) => deliveries.clone(),
            Ok(_) | Err(_) => Vec::new(),
        };
        let told = answer.effects.clone();
        self.seen.push(Seen::Released(answer));
        for delivery in deliveries {
            let body = body(reader, delivery.body)?;
            self.seen.push(Seen::Handed { delivery: Box::new(delivery), body });
        }
        self.seen.push(Seen::Told(told));
        Ok(())
    }
}

impl DiskFault {
    fn of_log(self) -> log::Fault {
        match self {
            DiskFault::Error => log::Fault::Io,
            DiskFault::Full => log::Fault::Full,
            DiskFault::Interrupted => log::Fault::Interrupted,
            DiskFault::Short => log::Fault::Short,
        }
    }
}

/// Returns what the bus itself writes by an event, and the groups that it goes to.
fn notice_of(event: &Event<'_>) -> Option<(Notice, Vec<GroupKey>)> {
    let Event::Accepted(accepted) = event else { return None };
    if accepted.from != AgentKey::SYSTEM {
        return None;
    }
    let (mut agents, mut groups) = (Vec::new(), Vec::new());
    for target in &accepted.targets {
        match target {
            Target::Agent { agent, .. } | Target::Instead { agent, .. } | Target::Waiter { agent, .. } => {
                agents.push(*agent)
            }
            Target::Group { group, .. } => groups.push(*group),
            Target::Held { .. } => {}
        }
    }
    let (id, kind, priority) = (accepted.id, accepted.kind, accepted.priority);
    let body = accepted.body.to_vec();
    Some((Notice { id, kind, priority, agents, groups: Vec::new(), body }, groups))
}

/// Reads the document that an event carries.
pub(super) fn body(reader: &LogReader<MemDisk>, seq: Seq) -> Result<Vec<u8>, Stop> {
    let bytes = match reader.read(seq) {
        Ok(bytes) => bytes,
        Err(ReadError::Storage(_)) => return Err(Stop::Disk),
        Err(error) => return Ok(broken(Promise::Bodies, format_args!("body at {seq}: {error}"))?),
    };
    match Event::decode(&bytes) {
        Ok((_, Event::Accepted(accepted))) => Ok(accepted.body.into_owned()),
        Ok((_, Event::Amended { body, .. } | Event::Carried { body, .. })) => Ok(body.to_vec()),
        Ok((_, Event::RecordCarried { body, .. } | Event::TaskCarried { body, .. })) => Ok(body.to_vec()),
        Ok((_, Event::RecordSet(set))) => Ok(set.body.to_vec()),
        Ok((_, other)) => Ok(broken(Promise::Bodies, format_args!("no body at {seq}: {other:?}"))?),
        Err(error) => Ok(broken(Promise::Bodies, format_args!("event {seq}: {error}"))?),
    }
}

fn ready(effects: &[Effect]) -> VecDeque<Mailbox> {
    let mut ready = VecDeque::new();
    for effect in effects {
        if let Effect::Ready(mailbox) = effect
            && !ready.contains(mailbox)
        {
            ready.push_back(*mailbox);
        }
    }
    ready
}

/// Tells whether somebody may find something in a mailbox; of groups only the broker knows.
fn may_take(mailbox: Mailbox, waiting: &Waiting) -> bool {
    match mailbox {
        Mailbox::Agent(agent) => agent == waiting.agent,
        Mailbox::Session(session) => session == waiting.session,
        Mailbox::Group(_) => true,
        Mailbox::Nobody => false,
    }
}
