//! The executor of the node's own steps: it decides when each runs, on a disk that fails and a clock that jumps.
//!
//! A turn decides what was asked and appends it; a sync makes it durable and lets the answers out. When anything goes
//! wrong with the disk the process stops; a new one starts from the newest snapshot and the tail of the log. When the
//! log refuses an append or does not say what became of it, the process goes on from what the log has. In some worlds
//! several appends are in flight, and a sync ends them one after the other.

mod fickle_log;
mod observer;
mod process;
mod start;
mod upkeep;

use std::collections::{BTreeMap, VecDeque};

use broker::{AgentKey, Delivery, Digest, Effect, EntryKey, Refusal, Reply, Settings, Time};
use log::{MemDisk, Options};
use message::{Kind, MessageId, Priority, Seq};

use crate::client::{Asked, Asker};
use crate::plant::Plant;
use crate::random::Dice;
use crate::request::Request;
use crate::step::{Crash, CrashPoint, DiskFault};
use crate::violation::Violation;
use crate::world::{Focus, World};

use fickle_log::AppendFault;
use process::Process;

/// What was asked and what came of it.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) asker: Asker,
    pub(crate) request: Request,
    pub(crate) outcome: Result<Reply, Refusal>,
    /// What the world should be told because of it.
    pub(crate) effects: Vec<Effect>,
    /// What the bus itself wrote because of it.
    pub(crate) notices: Vec<Notice>,
    /// The messages of agents that were accepted because of it, as the log has them.
    pub(crate) sent: Vec<MessageId>,
    /// Which dead letter was meant, where one was.
    pub(crate) dead: Option<DeadLetter>,
    pub(crate) now: Time,
    pub(crate) wall: Time,
    /// The last event that the broker held then.
    pub(crate) last: Seq,
    /// The last event that must be durable before it leaves.
    pub(crate) needs: Seq,
}

/// A dead letter as an operator sees it.
#[derive(Clone, Debug)]
pub(crate) struct DeadLetter {
    pub(crate) message: MessageId,
    pub(crate) recipient: String,
    pub(crate) entry: EntryKey,
    /// Those of the same message and recipient that are older.
    pub(crate) older: Vec<EntryKey>,
}

/// A message that the bus itself wrote, as the log has it.
#[derive(Clone, Debug)]
pub(crate) struct Notice {
    pub(crate) id: MessageId,
    pub(crate) kind: Kind,
    pub(crate) priority: Priority,
    /// Agents by number, groups by address.
    pub(crate) agents: Vec<AgentKey>,
    pub(crate) groups: Vec<String>,
    pub(crate) body: Vec<u8>,
}

/// What can be seen of the bus, in order.
#[derive(Clone, Debug)]
pub(crate) enum Seen {
    /// Something was carried out; nobody knows yet.
    Answered(Box<Answer>),
    /// Something was refused because there is no room on the disk; the broker was not asked.
    NoRoom(Request),
    /// Everything that the clock had made due was done.
    Elapsed { now: Time, wall: Time, effects: Vec<Effect>, notices: Vec<Notice>, last: Seq },
    /// A turn is over: who still waits, and where the broker is.
    TurnOver { waiting: Vec<Waiting>, last: Seq, now: Time, wall: Time },
    /// An answer left.
    Released(Box<Answer>),
    /// What was handed out, with the document that was read from the log for it.
    Handed { delivery: Box<Delivery>, body: Vec<u8> },
    /// Every record and what asks for every open task, with the documents as they were read from the log.
    Kept { records: Vec<Kept>, asked: Vec<(MessageId, Vec<u8>)> },
    /// Messages about replies left.
    Told(Vec<Effect>),
    /// The process is gone.
    Crashed,
    /// A process has started, with the log up to here, and before it did anything.
    Started { last: Seq, now: Time },
}

/// A record as it can be read.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) repo: AgentKey,
    pub(crate) collection: Box<str>,
    pub(crate) key: Box<str>,
    pub(crate) document: Vec<u8>,
    /// What it is known by, when it was written last, and the message that it is.
    pub(crate) stamp: (Digest, u64, Option<MessageId>),
}

/// Somebody who waits with credit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) asker: Asker,
    pub(crate) agent: AgentKey,
    pub(crate) session: broker::SessionKey,
    pub(crate) credit: u32,
    pub(crate) lease_ms: u64,
}

/// The machine on which nodes run, one after the other.
pub(crate) struct Driver {
    disk: MemDisk,
    options: Options,
    settings: Settings,
    /// Addresses of groups that there may be.
    groups: Vec<String>,
    /// How many appends may be in flight to a log that answers late; nothing where the log is the embedded one.
    in_flight_max: Option<usize>,
    retention: broker::Retention,
    plant: Option<Plant>,
    dice: Dice,
    clock: Clock,
    process: Option<Process>,
    /// What was asked and not yet looked at.
    inbox: VecDeque<(Asker, Asked)>,
    seen: Vec<Seen>,
    sync_fault: Option<(u64, DiskFault)>,
    write_fault: Option<(u64, DiskFault)>,
    slept: bool,
    /// Whether somebody else fills the disk.
    is_crowded: bool,
    /// Where each batch ends, and what was known to be durable when it was written.
    marks: Vec<(Seq, Seq)>,
    /// What the state looked like after each turn of the process before that may have survived.
    past: BTreeMap<Seq, Vec<u8>>,
}

/// Time as it is, and as the wall clock shows it.
#[derive(Clone, Copy, Debug)]
struct Clock {
    real: u64,
    wall_offset: i64,
}

/// Why a process stopped by itself.
pub(crate) enum Stop {
    /// The disk failed it; another process may start.
    Disk,
    /// Something that must never happen.
    Violation(Violation),
}

impl From<Violation> for Stop {
    fn from(violation: Violation) -> Self {
        Stop::Violation(violation)
    }
}

impl Driver {
    /// Makes a machine with an empty disk, and starts a node on it.
    pub(crate) fn new(world: &World, plant: Option<Plant>) -> Result<Self, Violation> {
        let mut options = Options::small(world.seed);
        // A turn is one batch, and a batch must fit into a segment. Small segments are filled, trimmed and recycled sooner.
        options.segment_bytes = if world.focus == Focus::Storage { 16 << 10 } else { 32 << 10 };
        options.plant = Plant::of_log(plant);
        let mut driver = Driver {
            disk: MemDisk::new(),
            options,
            settings: world.settings.clone(),
            groups: world.groups.iter().chain([&message::Address::All]).map(ToString::to_string).collect(),
            in_flight_max: world.in_flight_max,
            retention: world.retention,
            plant,
            dice: Dice::new(world.seed, 3),
            clock: Clock { real: 1_800_000_000_000, wall_offset: 0 },
            process: None,
            inbox: VecDeque::new(),
            seen: Vec::new(),
            sync_fault: None,
            write_fault: None,
            slept: false,
            is_crowded: false,
            marks: Vec::new(),
            past: BTreeMap::new(),
        };
        driver.start()?;
        Ok(driver)
    }

    /// Takes what was seen since the last time.
    pub(crate) fn take_seen(&mut self) -> Vec<Seen> {
        std::mem::take(&mut self.seen)
    }

    pub(crate) fn ask(&mut self, asker: Asker, asked: Asked) {
        self.inbox.push_back((asker, asked));
    }

    pub(crate) fn wall(&self) -> Time {
        self.clock.wall()
    }

    /// Returns the dead letters, as an operator sees them.
    pub(crate) fn dead(&self) -> Vec<(MessageId, EntryKey)> {
        self.process.as_ref().map(Process::dead).unwrap_or_default()
    }

    /// Lends the living broker, to be asked about what it holds.
    pub(crate) fn broker(&self) -> Option<&broker::Broker> {
        self.process.as_ref().map(Process::broker)
    }

    pub(crate) fn pass(&mut self, ms: u64) {
        self.clock.real += ms;
    }

    pub(crate) fn jump(&mut self, ms: i64) {
        self.clock.wall_offset += ms;
    }

    pub(crate) fn sleep(&mut self, ms: u64) {
        self.clock.real += ms;
        self.slept = true;
    }

    pub(crate) fn fill_disk(&mut self, bytes: u64) {
        let used: u64 = self.disk.files().iter().map(|(_, bytes)| bytes).sum();
        self.disk.set_capacity(Some(used + bytes));
        self.is_crowded = true;
    }

    pub(crate) fn free_disk(&mut self) -> Result<(), Violation> {
        self.disk.set_capacity(None);
        self.is_crowded = false;
        match &self.process {
            Some(process) => {
                let kept = process.keep();
                self.survive(kept)
            }
            None => self.start(),
        }
    }

    pub(crate) fn fail_sync(&mut self, after: u64, fault: DiskFault) {
        self.sync_fault = Some((after, fault));
    }

    pub(crate) fn fail_write(&mut self, after: u64, fault: DiskFault) {
        self.write_fault = Some((after, fault));
    }

    /// Works off what was asked and appends it.
    pub(crate) fn turn(&mut self) -> Result<(), Violation> {
        let decided = self.decide();
        let appended = decided.and_then(|()| self.append());
        self.survive(appended)
    }

    /// Makes the log durable and lets answers out.
    pub(crate) fn sync(&mut self) -> Result<(), Violation> {
        let synced = self.sync_log();
        let synced = synced.and_then(|()| self.release());
        let synced = synced.and_then(|()| self.commit_all());
        let marked = synced.and_then(|()| self.mark());
        self.survive(marked)
    }

    /// Lets the process die, and another start.
    pub(crate) fn crash(&mut self, crash: &Crash) -> Result<(), Violation> {
        let outcome = self.go_up_to(crash.at);
        if let Err(Stop::Violation(violation)) = outcome {
            return Err(violation);
        }
        self.die(crash.power);
        self.clock.real += crash.down_ms;
        if let Some(operation) = crash.again {
            let at = self.disk.operations() + operation;
            self.disk.fault_at(at, log::Fault::PowerOff);
        }
        self.start()
    }

    /// Brings everything to rest: no more faults, and everything durable.
    pub(crate) fn settle(&mut self) -> Result<(), Violation> {
        (self.sync_fault, self.write_fault) = (None, None);
        self.disk.clear_faults();
        self.free_disk()?;
        self.turn()?;
        self.sync()?;
        self.turn()?;
        self.sync()?;
        let read = self.read_records();
        self.survive(read)
    }

    fn go_up_to(&mut self, at: CrashPoint) -> Result<(), Stop> {
        match at {
            CrashPoint::Idle => Ok(()),
            CrashPoint::BeforeWrite => self.decide(),
            CrashPoint::AfterWrite => {
                self.decide()?;
                self.append()
            }
            CrashPoint::DuringSync => {
                self.decide()?;
                self.append()?;
                let operation = self.disk.operations() + self.dice.below(2);
                self.disk.fault_at(operation, log::Fault::PowerOff);
                self.sync_log()
            }
            CrashPoint::AfterSync => {
                self.decide()?;
                self.append()?;
                self.sync_log()
            }
        }
    }

    /// Lets a process that the disk failed stop, and another start.
    fn survive(&mut self, outcome: Result<(), Stop>) -> Result<(), Violation> {
        match outcome {
            Ok(()) => Ok(()),
            Err(Stop::Violation(violation)) => Err(violation),
            Err(Stop::Disk) => {
                let power = self.dice.percent(50).then(|| self.dice.draw());
                self.die(power);
                self.start()
            }
        }
    }

    fn die(&mut self, power: Option<u64>) {
        if let Some(process) = self.process.take() {
            let log = process.committer.log();
            let sent = log.sent();
            if sent > 0 {
                // Mostly all: what is written and not synced is what a power loss tears.
                log.let_arrive(if self.dice.percent(70) { sent } else { self.dice.index(sent + 1) });
            }
            self.past = process.states;
        }
        self.inbox.clear();
        self.slept = false;
        (self.sync_fault, self.write_fault) = (None, None);
        self.disk = match power {
            Some(seed) => self.disk.crash(seed),
            None => self.disk.copy(),
        };
        self.seen.push(Seen::Crashed);
    }

    /// Lets the log refuse the next append.
    pub(crate) fn refuse(&mut self) {
        if let Some(process) = &self.process {
            let fault = AppendFault::draw(&mut self.dice, self.in_flight_max);
            process.committer.log().fail_next(fault);
        }
    }

    fn driver_plant(&self) -> Option<node::driver::Plant> {
        Plant::of_driver(self.plant)
    }
}

impl Clock {
    fn wall(self) -> Time {
        Time(self.real.saturating_add_signed(self.wall_offset))
    }
}
