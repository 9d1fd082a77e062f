//! Starting: from the newest snapshot and the tail of the log to a running node.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use broker::{Broker, Command, DecodeError, Event, Misfit, Retention};
use log::{Batch, Cut, Entry, Log, Opened, Options, ReadError, Reader, RealDisk, SegmentLog, Snapshots};
use message::Seq;
use tokio::sync::watch;

use crate::clock::{BusTime, Clock, SystemRandom};
use crate::counters::Counters;
use crate::failure::StartError;
use crate::handle::Node;
use crate::mailman::Mailman;
use crate::release::{Outbox, Releaser};
use crate::trim::{Keep, Pace, Trimmer};
use crate::upkeep::Upkeep;
use crate::writer::{Asked, Queue, Writer};

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
}

/// A state made from a snapshot and the records after it.
pub(crate) struct Folded {
    pub(crate) broker: Broker,
    pub(crate) snapshot: Option<Seq>,
    pub(crate) replayed: u64,
    pub(crate) missing: Vec<(Seq, Seq)>,
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
        let (counters, bell, moved) = (Arc::new(Counters::default()), Arc::default(), Arc::default());
        let node = Node::new(
            (Arc::clone(&queue), Arc::clone(&outbox), Arc::clone(&bell)),
            (log.reader(), Arc::clone(&moved)),
            stopped,
            (Arc::clone(&clock), Arc::clone(&counters)),
            settings.calls_max,
        );
        let time = BusTime::new(&*clock, folded.broker.time());
        let trimmer = Trimmer {
            keeper: log.keeper(),
            reader: log.reader(),
            queue: Arc::clone(&queue),
            outbox: Arc::clone(&outbox),
            moved,
            counters: Arc::clone(&counters),
            clock: Arc::clone(&clock),
            time: time.clone(),
            followed: None,
            #[cfg(test)]
            hook: settings.hook.clone(),
        };
        let retention = settings.retention;
        let upkeep = Upkeep {
            snapshots: log.snapshots(),
            settings,
            outbox: Arc::clone(&outbox),
            trimmer,
            pace: Pace::default(),
            at: folded.snapshot.unwrap_or(Seq(0)),
            bell: Arc::clone(&bell),
        };
        let mut writer = Writer {
            time,
            broker: folded.broker,
            queue: Arc::clone(&queue),
            outbox: Arc::clone(&outbox),
            clock: Arc::clone(&clock),
            random: SystemRandom::new(),
            mailman: Mailman::new(Arc::clone(&queue)),
            counters: Arc::clone(&counters),
            batch: Batch::with_capacity(1 << 20),
            bell: Arc::clone(&bell),
            needs: log.last(),
        };
        queue.push(first_job(retention)).expect("a queue that was just made is open");
        let releaser = Releaser { log, outbox: Arc::clone(&outbox), clock, looked_for_room: None, counters };
        node.adopt(spawn("log", move || releaser.run()));
        node.adopt(spawn("upkeep", move || upkeep.run()));
        node.adopt(spawn("writer", move || {
            let ended = writer.run();
            queue.close();
            // Who still waits for an answer gets none.
            drop(queue.drain());
            outbox.close();
            bell.close();
            if let Err(fatal) = ended {
                // Nobody may be left to hear it.
                drop(stop.send(Some(fatal.to_string())));
            }
        }));
        Ok((node, started))
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

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> thread::JoinHandle<()> {
    let named = thread::Builder::new().name(name.to_owned()).spawn(work);
    named.expect("a machine that cannot start a thread cannot run a node")
}

fn started(opened: &Opened, folded: &Folded) -> Started {
    Started {
        last: folded.broker.last(),
        snapshot: folded.snapshot,
        replayed: folded.replayed,
        cut: opened.cut.clone(),
        missing: folded.missing.clone(),
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
    let mut folded = Folded { broker, snapshot: at, replayed: 0, missing: Vec::new() };
    folded.replay(reader, upto)?;
    Ok(folded)
}

/// Why a replay ended early.
enum Stumble {
    Record(Seq, DecodeError),
    Misfit(Misfit),
}

impl Folded {
    fn replay(&mut self, reader: &impl Reader, upto: Seq) -> Result<(), StartError> {
        let mut stumble = None;
        let mut effects = Vec::new();
        let from = Seq(self.broker.last().0 + 1);
        let visited = reader.scan(from, upto, &mut |entry| match self.apply(entry, &mut effects) {
            Ok(()) => ControlFlow::Continue(()),
            Err(found) => {
                stumble = Some(found);
                ControlFlow::Break(())
            }
        });
        match stumble {
            Some(Stumble::Record(seq, source)) => Err(StartError::Record { seq, source }),
            Some(Stumble::Misfit(misfit)) => Err(StartError::Misfit(misfit)),
            None => visited.map_err(read_error),
        }
    }

    fn apply(&mut self, entry: Entry<'_>, effects: &mut broker::Effects) -> Result<(), Stumble> {
        match entry {
            Entry::Record { seq, bytes, .. } => {
                let (at, event) = Event::decode(bytes).map_err(|error| Stumble::Record(seq, error))?;
                self.replayed += 1;
                effects.clear();
                self.broker.apply(seq, at, &event, effects).map_err(Stumble::Misfit)
            }
            Entry::Gap { first, last } => {
                self.missing.push((first, last));
                Ok(())
            }
        }
    }
}

fn read_error(error: ReadError) -> StartError {
    StartError::Read(error)
}

impl Asked {
    /// Tells whether nothing was asked.
    pub(crate) fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.returns.is_empty()
    }
}
