//! A node as `Node::start` puts it together, on the checker's threads, and callers that check what they are told.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex as StdMutex, PoisonError as StdPoisonError};
use std::time::Duration;

use broker::{At, Broker, Command, Random, Register, Retention, Time};
use log::{Batch, Log as _, LogSyncer, MemDisk, Options, SegmentLog, Snapshots as _, Syncer as _};
use message::{AgentName, Seq};
use shuttle::rand::Rng;
use tokio::sync::{oneshot, watch};

use super::commit_queue::CommitQueue;
use super::failing_log::{FailingLog, Fault, FaultPlan, panic_quietly};
use super::maintenance_signal::{MaintenanceSignal, TrimRequest};
use super::queue::JobQueue;
use super::sync::{JoinHandle, Mutex, pause, wait_for};
use super::threads::{Shared, Stopped, maintain, make_durable, write};
use crate::clock::{BusTime, Clock};
use crate::driver::{
    Committer, Complete, Completion, Decider, Executed, Hook, Job, Keep, Maintenance, RecentBodies, ReplyTo,
    RunQuery, Trim, Trimmer, load,
};

/// Bytes of a body with which a batch is too large for the writer to make it durable itself.
const LARGE_BYTES: usize = 66 << 10;
/// The most appends in flight.
const IN_FLIGHT_MAX: usize = 3;
/// Bytes after which maintenance is woken.
const MAINTENANCE_BYTES: u64 = 64 << 10;

/// A running node. Copies are the same node.
#[derive(Clone)]
pub(super) struct Bus {
    shared: Arc<Shared<FailingLog>>,
    threads: Arc<StdMutex<Vec<JoinHandle<()>>>>,
    disk: MemDisk,
    /// Asked only for what is durable.
    syncer: Arc<LogSyncer<MemDisk>>,
    order: Arc<Order>,
    names: Arc<AtomicU64>,
    stopped: watch::Receiver<Stopped>,
    /// The last event of which somebody was told.
    told: Arc<AtomicU64>,
}

/// In which order completions were made and left.
#[derive(Default)]
struct Order {
    decided: AtomicU64,
    left: StdMutex<Vec<u64>>,
}

/// How much a caller writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// The writer may make it durable itself.
    Small,
    /// The log's thread makes it durable.
    Large,
}

impl Bus {
    /// Starts a node whose log allows one append in flight, as the embedded one does, or several.
    pub(super) fn start(fault: Option<(Fault, u64)>) -> Bus {
        let in_flight_max = shuttle::rand::thread_rng().gen_range(1..=IN_FLIGHT_MAX);
        let disk = MemDisk::new();
        let (inner, _) = SegmentLog::open(disk.clone(), options()).unwrap();
        let syncer = Arc::new(inner.syncer());
        let log = FailingLog::new(inner, FaultPlan::new(fault), in_flight_max);
        let loaded = load(&log.snapshots(), &log.reader(), &testkit::broker_settings(), log.last()).unwrap();
        let maintenance = maintenance(&log);
        let (stop, stopped) = watch::channel(Stopped::Not);
        let clock: Arc<dyn Clock> = Arc::new(StillClock);
        let time = BusTime::new(&*clock, loaded.broker.time());
        let committer = Committer::new(log);
        let shared = Arc::new(Shared {
            queue: JobQueue::new(100),
            commits: CommitQueue::new(committer.log(), committer.free()),
            signal: MaintenanceSignal::new(MAINTENANCE_BYTES),
            committer: Mutex::new(committer),
            clock,
            time,
            counters: Arc::default(),
            stopped: stop,
        });
        let recent = Arc::new(RecentBodies::new(0));
        let decider = Decider::new(loaded.broker, Batch::new(), Arc::default(), recent);
        let commands = vec![Command::Restart, Command::Tune(Retention::USUAL)];
        shared.queue.push(Job::Execute { commands, reply: ReplyTo::Nobody }).unwrap();
        let threads = vec![
            shared.spawn("log", make_durable),
            shared.spawn("maintenance", move |shared| maintain(shared, maintenance)),
            shared.spawn("writer", move |shared| write(shared, decider, Counting(0))),
        ];
        Bus {
            shared,
            threads: Arc::new(StdMutex::new(threads)),
            disk,
            syncer,
            order: Arc::default(),
            names: Arc::default(),
            stopped,
            told: Arc::default(),
        }
    }

    /// Writes something and waits for the answer; nothing when the node has stopped. The answer must rest on what is
    /// durable.
    pub(super) fn write(&self, size: Size) -> Option<()> {
        let (reply, replied) = oneshot::channel();
        self.push_write(size, reply)?;
        self.expect_durable(wait_for(replied)?)
    }

    /// Writes something and asks something behind it, and waits for the answers in the other order.
    pub(super) fn write_and_ask(&self, size: Size) -> Option<()> {
        let (reply, replied) = oneshot::channel();
        self.push_write(size, reply)?;
        self.ask(Ends::Well)?;
        self.expect_durable(wait_for(replied)?)
    }

    /// Writes something; where it was taken in, it must be answered.
    pub(super) fn expect_answer_if_taken(&self, size: Size) {
        let (reply, replied) = oneshot::channel();
        if self.push_write(size, reply).is_some() {
            wait_for(replied).expect("what was taken in is answered");
        }
    }

    fn push_write(&self, size: Size, reply: oneshot::Sender<Vec<Executed>>) -> Option<()> {
        let name = format!("agent-{}", self.names.fetch_add(1, Ordering::Relaxed));
        let profile = vec![b'x'; if size == Size::Large { LARGE_BYTES } else { 1 }];
        let register = Register { profile, ..Register::of(name.parse::<AgentName>().unwrap()) };
        let commands = vec![Command::Register(Box::new(register))];
        let reply = ReplyTo::Caller { reply, permit: None };
        self.shared.queue.push(Job::Execute { commands, reply }).ok()
    }

    fn expect_durable(&self, executed: Vec<Executed>) -> Option<()> {
        for Executed { outcome, last, .. } in executed {
            let durable = self.syncer.durable();
            assert!(durable >= last, "told what rests on {last}, and the log is durable up to {durable}");
            assert!(outcome.is_ok(), "{outcome:?}");
            self.told.fetch_max(last.0, Ordering::Relaxed);
        }
        Some(())
    }

    /// Asks something and waits for the answer, which notes when it leaves.
    pub(super) fn ask(&self, ends: Ends) -> Option<()> {
        let (reply, replied) = oneshot::channel();
        let (order, syncer) = (Arc::clone(&self.order), Arc::clone(&self.syncer));
        self.shared.queue.push(Job::Query(Box::new(Question { ends, order, syncer, reply }))).ok()?;
        wait_for(replied)
    }

    /// Asks for a trim and waits for what came of it; nothing when the node has stopped.
    pub(super) fn trim(&self) -> Option<Trim> {
        let (answer, answered) = oneshot::channel();
        let answer = Box::new(move |trim| {
            // Who asked may be gone.
            let _gone = answer.send(trim);
        });
        let keep = Keep { time: None, bytes: Some(1) };
        self.shared.signal.trim(TrimRequest { keep, is_trial: false, answer }).ok()?;
        wait_for(answered)
    }

    /// Follows the log until no more will be durable, as the history does. Returns up to where it came.
    pub(super) fn follow(&self) -> Seq {
        let mut at = Seq(0);
        while let Some(durable) = self.shared.commits.wait_beyond(at) {
            assert!(durable > at);
            at = durable;
        }
        at
    }

    /// Lets the disk be full from now on.
    pub(super) fn fill_disk(&self) {
        self.disk.set_capacity(Some(0));
    }

    /// Lets nothing more in; what was accepted is finished.
    pub(super) fn close(&self) {
        self.shared.queue.close();
    }

    /// Waits until all threads have ended, and returns why.
    pub(super) fn join(&self) -> Stopped {
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(StdPoisonError::into_inner));
        for thread in threads {
            thread.join().unwrap();
        }
        self.check();
        self.stopped.borrow().clone()
    }

    /// Waits until all threads have ended as they were asked to: the next start has nothing to replay.
    pub(super) fn join_closed(&self) {
        assert_eq!(self.join(), Stopped::Asked);
        let (log, _) = SegmentLog::open(self.disk.copy(), options()).unwrap();
        let at = log.snapshots().load().unwrap().map(|snapshot| snapshot.at);
        assert_eq!(at, Some(self.durable()), "the newest snapshot is not at the end");
        assert_eq!(log.last(), self.durable(), "something was decided and is not durable");
    }

    /// Checks that nothing was told too early, nothing left in another order, and nobody waits.
    fn check(&self) {
        let left = self.order.left.lock().unwrap_or_else(StdPoisonError::into_inner);
        assert!(left.is_sorted(), "completions left in the order {left:?}");
        assert!(self.shared.queue.drain().is_empty(), "a job is never carried out");
        assert!(self.shared.queue.push(Job::Note(Command::Restart)).is_err(), "a job is taken by nobody");
        // A power loss takes everything that was not synced.
        let (log, _) = SegmentLog::open(self.disk.crash_keeping(|_| false), options()).unwrap();
        let told = Seq(self.told.load(Ordering::Relaxed));
        assert!(log.last() >= told, "told what rests on {told}, and {} is left", log.last());
    }

    /// Returns up to where the log was known to be durable.
    pub(super) fn durable(&self) -> Seq {
        self.shared.commits.durable()
    }
}

/// How a question ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    Well,
    /// It panics while it is carried out.
    Deciding,
    /// It panics when its answer leaves.
    Leaving,
}

/// A question whose answer is that it has left.
struct Question {
    ends: Ends,
    order: Arc<Order>,
    syncer: Arc<LogSyncer<MemDisk>>,
    reply: oneshot::Sender<()>,
}

impl RunQuery for Question {
    fn run(self: Box<Self>, state: &Broker, _: At) -> Completion {
        if self.ends == Ends::Deciding {
            panic_quietly();
        }
        let number = self.order.decided.fetch_add(1, Ordering::Relaxed);
        Completion::Answer(Box::new(Leaving { question: *self, number, last: state.last() }))
    }

    fn name(&self) -> &'static str {
        "question"
    }
}

/// An answer on its way out.
struct Leaving {
    question: Question,
    number: u64,
    last: Seq,
}

impl Complete for Leaving {
    fn complete(self: Box<Self>) {
        let Leaving { question: Question { ends, order, syncer, reply }, number, last } = *self;
        pause();
        if ends == Ends::Leaving {
            panic_quietly();
        }
        assert!(syncer.durable() >= last, "an answer leaves before what it rests on is durable");
        order.left.lock().unwrap_or_else(StdPoisonError::into_inner).push(number);
        // Who asked may be gone.
        let _gone = reply.send(());
    }
}

/// A clock that stands still.
struct StillClock;

impl Clock for StillClock {
    fn steady(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn wall(&self) -> Time {
        Time(1_800_000_000_000)
    }
}

/// Numbers that are the same in every run, so that a schedule can be run again.
struct Counting(u64);

impl Random for Counting {
    fn next(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }
}

/// Returns a log that needs segments soon.
fn options() -> Options {
    let mut options = Options::small(1);
    (options.segment_bytes, options.first_segment_bytes) = (256 << 10, 8 << 10);
    (options.reserve_segments, options.record_bytes_max) = (1, 128 << 10);
    options
}

fn maintenance(log: &FailingLog) -> Maintenance<FailingLog> {
    let trimmer = Trimmer {
        keeper: log.keeper(),
        reader: log.reader(),
        moved: Arc::default(),
        counters: Arc::default(),
        followed: Some(Box::new(|| Some(Seq(u64::MAX / 2)))),
        #[cfg(feature = "plants")]
        plant: None,
        hook: Hook::default(),
    };
    Maintenance {
        snapshots: log.snapshots(),
        trimmer,
        pace: Default::default(),
        at: Seq(0),
        broker: testkit::broker_settings(),
        retention: Retention::USUAL,
        keep: Keep::WHOLE,
        snapshot_bytes: u64::MAX,
        bytes: 0,
        flow: Default::default(),
        prepare: Box::new(|_| {}),
    }
}
