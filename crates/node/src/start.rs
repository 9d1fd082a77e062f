//! Starting: from the newest snapshot and the tail of the log to a running node.

use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use broker::{Broker, Command, Fold, FoldError, Retention};
use log::{Batch, Cut, Entry, Log, Opened, Options, Reader, RealDisk, SegmentLog, Snapshots};
use message::Seq;
use tokio::sync::watch;

use crate::bell::Bell;
use crate::clock::{BusTime, Clock, SystemRandom};
use crate::counters::Counters;
use crate::failure::{Fatal, StartError};
use crate::handle::Node;
use crate::mailman::Mailman;
use crate::release::{Outbox, Releaser};
use crate::trim::{Keep, Pace, Trimmer};
use crate::upkeep::Upkeep;
use crate::writer::{Asked, Queue, Seat, Writer};

/// Bytes of the log after which the upkeep looks whether there is something to do.
const RING_BYTES: u64 = 1 << 20;

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
    pub(crate) hook: crate::trim::Hook,
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

/// A state made from a snapshot and the records after it.
pub(crate) struct Folded {
    pub(crate) broker: Broker,
    pub(crate) snapshot: Option<Seq>,
    pub(crate) replayed: u64,
    pub(crate) missing: Vec<(Seq, Seq)>,
    pub(crate) passed_over: u64,
}

impl Node {
    /// Opens the log and starts to work on it.
    pub fn start(settings: Settings, clock: Arc<dyn Clock>) -> Result<(Node, Started), StartError> {
        let disk = RealDisk::new(&settings.folder).map_err(StartError::Folder)?;
        let (log, opened) = SegmentLog::open(disk, settings.log.clone()).map_err(StartError::Log)?;
        let folded = fold(&log.snapshots(), &log.reader(), &settings.broker, log.last())?;
        let started = started(&opened, &folded);
        let (stop, stopped) = watch::channel(None);
        let (queue, outbox) = (Arc::new(Queue::default()), Arc::new(Outbox::new(&log)));
        let ring_bytes = RING_BYTES.min(settings.log.segment_bytes / 16).min(settings.snapshot_bytes / 16);
        let bell = Arc::new(Bell::new(ring_bytes));
        let (counters, moved) = (Arc::new(Counters::default()), Arc::default());
        let time = BusTime::new(&*clock, folded.broker.time());
        let trimmer = Trimmer {
            keeper: log.keeper(),
            reader: log.reader(),
            queue: Arc::clone(&queue),
            outbox: Arc::clone(&outbox),
            moved: Arc::clone(&moved),
            counters: Arc::clone(&counters),
            clock: Arc::clone(&clock),
            time: time.clone(),
            followed: None,
            #[cfg(test)]
            hook: settings.hook.clone(),
        };
        let (retention, calls_max) = (settings.retention, settings.calls_max);
        let reading = (log.reader(), Arc::clone(&moved));
        let upkeep = Upkeep {
            snapshots: log.snapshots(),
            settings,
            outbox: Arc::clone(&outbox),
            trimmer,
            pace: Pace::default(),
            at: folded.snapshot.unwrap_or(Seq(0)),
            bell: Arc::clone(&bell),
        };
        let last = log.last();
        let releaser = Releaser::new(log, Arc::clone(&outbox), Arc::clone(&clock), Arc::clone(&counters));
        let releaser = Arc::new(Mutex::new(releaser));
        let writer = Writer {
            time,
            broker: folded.broker,
            queue: Arc::clone(&queue),
            outbox: Arc::clone(&outbox),
            clock: Arc::clone(&clock),
            random: SystemRandom::new(),
            mailman: Mailman::new(Arc::clone(&queue)),
            counters: Arc::clone(&counters),
            batch: Batch::with_capacity(1 << 20),
            releaser: Arc::clone(&releaser),
            bell: Arc::clone(&bell),
            needs: last,
        };
        let seat = Arc::new(Mutex::new(Some(writer)));
        let post = (Arc::clone(&queue), Arc::clone(&outbox), Arc::clone(&bell));
        let node = Node::new(Arc::clone(&seat), post, reading, stopped, (clock, counters), calls_max);
        queue.push(first_job(retention)).expect("a queue that was just made is open");
        let ends = Ends { queue: Arc::clone(&queue), outbox: Arc::clone(&outbox), bell, seat, stop };
        node.adopt(ends.spawn("log", move |_| Releaser::run(&releaser, &outbox)));
        node.adopt(ends.spawn("upkeep", move |_| upkeep.run()));
        node.adopt(ends.spawn("writer", move |seat| Writer::run(seat, &queue)));
        Ok((node, started))
    }
}

/// What ends when one of the node's threads does.
#[derive(Clone)]
struct Ends {
    queue: Arc<Queue>,
    outbox: Arc<Outbox>,
    bell: Arc<Bell>,
    seat: Arc<Seat>,
    stop: watch::Sender<Option<String>>,
}

impl Ends {
    /// Starts a thread. When it ends, for whatever reason, the others end too, and every caller is answered.
    fn spawn(
        &self,
        name: &str,
        work: impl FnOnce(&Seat) -> Result<(), Fatal> + Send + 'static,
    ) -> thread::JoinHandle<()> {
        let ends = self.clone();
        let named = thread::Builder::new().name(name.to_owned()).spawn(move || {
            let run = AssertUnwindSafe(|| work(&ends.seat));
            let ended = panic::catch_unwind(run).unwrap_or(Err(Fatal::Panicked));
            ends.end(ended.err());
        });
        named.expect("a machine that cannot start a thread cannot run a node")
    }

    /// Ends the node: nothing more is accepted, and callers that still wait learn that it has stopped.
    fn end(self, fatal: Option<Fatal>) {
        if let Some(fatal) = fatal {
            // What failed first is the reason; the other threads merely found it.
            let reason = self.outbox.fail(&fatal).to_string();
            let is_new = self.stop.send_if_modified(|stop| {
                let is_new = stop.is_none();
                stop.get_or_insert_with(|| reason.clone());
                is_new
            });
            if is_new {
                tracing::error!("the node stops: {reason}");
            }
        }
        self.queue.close();
        drop(self.queue.drain());
        drop(self.seat.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.outbox.close();
        self.bell.close();
    }
}

/// What a new life begins with: connections are gone, and memory may be set otherwise.
fn first_job(retention: Retention) -> crate::writer::Job {
    Box::new(move |turn| {
        drop(turn.execute(&Command::Restart));
        drop(turn.execute(&Command::Tune(retention)));
        None
    })
}

fn started(opened: &Opened, folded: &Folded) -> Started {
    Started {
        last: folded.broker.last(),
        snapshot: folded.snapshot,
        replayed: folded.replayed,
        cut: opened.cut.clone(),
        missing: folded.missing.clone(),
        passed_over: folded.passed_over,
    }
}

/// Makes the state after a record: the newest snapshot, and what came after it.
pub(crate) fn fold(
    snapshots: &impl Snapshots,
    reader: &impl Reader,
    settings: &broker::Settings,
    upto: Seq,
) -> Result<Folded, StartError> {
    let snapshot = snapshots.load().map_err(StartError::Snapshots)?;
    let at = snapshot.as_ref().map(|snapshot| snapshot.at);
    let broker = match snapshot {
        Some(mut snapshot) => {
            let mut bytes = Vec::new();
            snapshot.bytes.read_to_end(&mut bytes).map_err(StartError::Folder)?;
            let restored = Broker::restore(settings.clone(), &bytes);
            restored.map_err(|source| StartError::Snapshot { at: snapshot.at, source })?
        }
        None => Broker::new(settings.clone()),
    };
    replay(broker, reader, upto, at)
}

/// Folds the records after a snapshot into its state.
fn replay(
    broker: Broker,
    reader: &impl Reader,
    upto: Seq,
    snapshot: Option<Seq>,
) -> Result<Folded, StartError> {
    let from = Seq(broker.last().0 + 1);
    let mut fold = Fold::new(broker);
    let (mut replayed, mut missing, mut failed) = (0, Vec::new(), None);
    let visited = reader.scan(from, upto, &mut |entry| {
        let folded = match entry {
            Entry::Record { seq, bytes, .. } => {
                replayed += 1;
                fold.apply(seq, bytes).map_err(|error| (seq, error))
            }
            Entry::Gap { first, last } => {
                missing.push((first, last));
                fold.pass(last);
                Ok(())
            }
        };
        failed = folded.err();
        if failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match failed {
        Some((seq, FoldError::Record(source))) => Err(StartError::Record { seq, source }),
        Some((_, FoldError::Misfit(misfit))) => Err(StartError::Misfit(misfit)),
        None => {
            visited.map_err(StartError::Read)?;
            let passed_over = fold.passed_over();
            Ok(Folded { broker: fold.into_broker(), snapshot, replayed, missing, passed_over })
        }
    }
}

impl Asked {
    /// Tells whether nothing was asked.
    pub(crate) fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.returns.is_empty()
    }
}
