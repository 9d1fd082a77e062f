//! Starting: from the newest snapshot and the tail of the log to a running node.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use broker::{Command, Retention};
use log::{Batch, Cut, Log, Opened, Options, RealDisk, SegmentLog};
use message::Seq;
use tokio::sync::watch;

use crate::clock::{BusTime, Clock, SystemRandom};
use crate::commit_queue::CommitQueue;
use crate::counters::Counters;
use crate::driver::{
    Committer, Decider, Job, Keep, Loaded, Maintenance, RecentBodies, ReplyTo, Trimmer, load,
};
use crate::failure::StartError;
use crate::handle::Node;
use crate::maintenance_signal::MaintenanceSignal;
use crate::queue::JobQueue;
use crate::threads::{Shared, Stopped, maintain, make_durable, write};

/// The log that a server runs on.
pub(crate) type ServerLog = SegmentLog<RealDisk>;

/// Bytes of the log after which maintenance looks whether there is something to do.
const MAINTENANCE_BYTES: u64 = 1 << 20;

/// How a node is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the log is.
    pub folder: PathBuf,
    /// Limits and policies of the state.
    pub broker: broker::Settings,
    /// How much is remembered of what is over.
    pub retention: Retention,
    /// Sizes and limits of the log.
    pub log: Options,
    /// How much may be asked and not answered; who asks more waits.
    pub calls_max: usize,
    /// After how many bytes of the log a snapshot is taken.
    pub snapshot_bytes: u64,
    /// How much of the log is kept.
    pub keep: Keep,
    #[cfg(test)]
    pub(crate) hook: crate::driver::Hook,
}

/// What starting found.
#[derive(Debug)]
pub struct Started {
    /// The last record.
    pub last: Seq,
    /// The snapshot from which it was started.
    pub snapshot: Option<Seq>,
    /// How many records were applied after it.
    pub replayed: u64,
    /// What an interrupted write left at the end of the log and was cut.
    pub cut: Option<Cut>,
    /// Records that a salvage had left out.
    pub missing: Vec<(Seq, Seq)>,
    /// How many records after them fit nothing any more and were passed over.
    pub passed_over: u64,
}

/// Bytes of bodies that were written last and are kept in memory.
const RECENT_BYTES_MAX: usize = 32 << 20;
/// Memory with which the first batch begins.
const BATCH_BYTES: usize = 1 << 20;

impl Node {
    /// Opens the log and starts to work on it.
    pub fn start(settings: Settings, clock: Arc<dyn Clock>) -> Result<(Node, Started), StartError> {
        let disk = RealDisk::new(&settings.folder).map_err(StartError::Folder)?;
        let (log, opened) = SegmentLog::open(disk, settings.log.clone()).map_err(StartError::Log)?;
        let loaded = load(&log.snapshots(), &log.reader(), &settings.broker, log.last())?;
        let started = started(&opened, &loaded);
        let maintenance_bytes =
            MAINTENANCE_BYTES.min(settings.log.segment_bytes / 16).min(settings.snapshot_bytes / 16);
        let (counters, moved) = (Arc::<Counters>::default(), Arc::default());
        let recent = Arc::new(RecentBodies::new(RECENT_BYTES_MAX));
        let trimmer = Trimmer {
            keeper: log.keeper(),
            reader: log.reader(),
            moved: Arc::clone(&moved),
            counters: Arc::clone(&counters),
            followed: None,
            #[cfg(feature = "plants")]
            plant: None,
            #[cfg(test)]
            hook: settings.hook.clone(),
        };
        let maintenance = Maintenance {
            snapshots: log.snapshots(),
            trimmer,
            pace: Default::default(),
            at: loaded.snapshot.unwrap_or(Seq(0)),
            broker: settings.broker,
            retention: settings.retention,
            keep: settings.keep,
            snapshot_bytes: settings.snapshot_bytes,
            bytes: 0,
            flow: Default::default(),
            prepare: Box::new(|_| {}),
        };
        let (stop, stopped) = watch::channel(Stopped::Not);
        let time = BusTime::new(&*clock, loaded.broker.time());
        let reader = log.reader();
        let committer = Committer::new(log);
        let shared = Arc::new(Shared {
            queue: JobQueue::new(settings.calls_max),
            commits: CommitQueue::new(committer.log(), committer.free()),
            signal: MaintenanceSignal::new(maintenance_bytes),
            committer: Mutex::new(committer),
            clock,
            time,
            counters: Arc::clone(&counters),
            stopped: stop,
        });
        let batch = Batch::with_capacity(BATCH_BYTES);
        let decider = Decider::new(loaded.broker, batch, counters, Arc::clone(&recent));
        let decider = decider.timed(Arc::clone(&shared.clock));
        let node = Node::new(Arc::clone(&shared), reader, (moved, recent), stopped, settings.calls_max);
        // Sessions of the last life are gone, and memory may be set otherwise.
        let commands = vec![Command::Restart, Command::Tune(settings.retention)];
        let first = Job::Execute { commands, reply: ReplyTo::Nobody };
        shared.queue.push(first).expect("a queue that was just made is open");
        node.adopt(shared.spawn("log", make_durable));
        node.adopt(shared.spawn("maintenance", move |shared| maintain(shared, maintenance)));
        let random = SystemRandom::new();
        node.adopt(shared.spawn("writer", move |shared| write(shared, decider, random)));
        Ok((node, started))
    }
}

fn started(opened: &Opened, loaded: &Loaded) -> Started {
    Started {
        last: loaded.broker.last(),
        snapshot: loaded.snapshot,
        replayed: loaded.replayed,
        cut: opened.cut.clone(),
        missing: loaded.missing.clone(),
        passed_over: loaded.passed_over,
    }
}
