//! Restart: a log full of messages that wait, read back into a broker, with a snapshot and without.

use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, ensure};
use broker::{Broker, Effects, Event};
use log::{Batch, Class, Entry, Log, Options, Reader, RealDisk, SegmentLog, Seq, Snapshots, Syncer};
use serde_json::{Value, json};

use super::bus::Bus;
use super::load::{Crowd, Tasks, settings};
use crate::figures;
use crate::ring::{self, Scale};

const CROWD: Crowd = Crowd { senders: 20, recipients: 100 };
const TASKS: Tasks = Tasks::Half(4_096);
/// Records of one batch.
const BATCH: u64 = 256;
/// Behind the snapshot comes one part in so many.
const TAIL_SHARE: u64 = 100;

/// How long the steps of a snapshot took.
pub(crate) struct Written {
    pub(crate) bytes: usize,
    pub(crate) encode: Duration,
    pub(crate) store: Duration,
}

/// Writes a log in which so many messages wait, and the snapshot that belongs near its end.
pub(crate) struct Prepared {
    snapshot: Vec<u8>,
    at: Seq,
    encode: Duration,
}

/// Fills a log with messages that wait; the snapshot is kept aside.
pub(crate) fn prepare(folder: &Path, count: u64, scale: Scale) -> anyhow::Result<Prepared> {
    let (mut log, _) = SegmentLog::open(RealDisk::new(folder)?, options(scale))?;
    let mut batch = Batch::new();
    let mut bus = Bus::new(CROWD, TASKS, &mut |_, at, event| batch.push_with(|out| event.encode(at, out)))?;
    append(&mut log, &mut batch)?;
    let mut prepared = None;
    let before = (count - count / TAIL_SHARE) / BATCH * BATCH;
    let mut waiting = 0;
    while waiting < count {
        if waiting == before {
            let mut snapshot = Vec::new();
            let at = log.last();
            let ((), encode) = figures::once(|| {
                bus.broker.snapshot(&mut snapshot);
                anyhow::Ok(())
            })?;
            prepared = Some(Prepared { snapshot, at, encode });
        }
        let wanted = (count - waiting).min(BATCH);
        bus.fill(wanted, &mut |_, at, event| batch.push_with(|out| event.encode(at, out)))?;
        append(&mut log, &mut batch)?;
        waiting += wanted;
    }
    let mut syncer = log.syncer();
    syncer.sync()?;
    log.mark()?;
    syncer.sync()?;
    prepared.context("there are too few messages for a snapshot")
}

/// Puts the snapshot into the log's folder.
pub(crate) fn store(folder: &Path, prepared: &Prepared, scale: Scale) -> anyhow::Result<Written> {
    let (log, _) = SegmentLog::open(RealDisk::new(folder)?, options(scale))?;
    let ((), store) =
        figures::once(|| log.snapshots().store(prepared.at, |out| out.write_all(&prepared.snapshot)))?;
    Ok(Written { bytes: prepared.snapshot.len(), encode: prepared.encode, store })
}

/// Does what a server does when it starts, and tells how long each step took, in seconds.
pub(crate) fn restart(folder: &Path, count: u64, scale: Scale) -> anyhow::Result<Value> {
    let processor_before = figures::processor_seconds().unwrap_or_default();
    let open = || SegmentLog::open(RealDisk::new(folder)?, options(scale)).map_err(anyhow::Error::from);
    let ((log, _), open) = figures::once(open)?;
    let (loaded, load) = figures::once(|| load(&log))?;
    let (mut broker, restore) = figures::once(|| {
        anyhow::Ok(match loaded {
            Some(bytes) => Broker::restore(settings(), &bytes)?,
            None => Broker::new(settings()),
        })
    })?;
    let from = broker.last();
    let ((), replay) = figures::once(|| replay(&log, &mut broker))?;
    let processor = figures::processor_seconds().unwrap_or_default() - processor_before;
    let counts = broker.counts();
    ensure!(counts.messages == count, "{} of {count} messages wait", counts.messages);
    let total = open + load + restore + replay;
    // A process that ends need not give its memory back bit by bit, and a server never does.
    std::mem::forget(broker);
    Ok(json!({
        "open": open.as_secs_f64(), "load": load.as_secs_f64(), "restore": restore.as_secs_f64(),
        "replay": replay.as_secs_f64(), "total": total.as_secs_f64(),
        "processor": processor, "replayed": log.last().0 - from.0,
    }))
}

fn options(scale: Scale) -> Options {
    Options { spare_segments: 1, ..ring::options(scale) }
}

fn append(log: &mut SegmentLog<RealDisk>, batch: &mut Batch) -> anyhow::Result<()> {
    log.append(log.last(), batch, Class::Normal)?;
    batch.clear();
    Ok(())
}

fn load(log: &SegmentLog<RealDisk>) -> anyhow::Result<Option<Vec<u8>>> {
    let Some(mut snapshot) = log.snapshots().load()? else { return Ok(None) };
    let mut bytes = Vec::new();
    snapshot.bytes.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn replay(log: &SegmentLog<RealDisk>, broker: &mut Broker) -> anyhow::Result<()> {
    let mut effects = Effects::new();
    let mut failure = None;
    let from = Seq(broker.last().0 + 1);
    log.reader().scan(from, log.last(), &mut |entry| {
        let Entry::Record { seq, bytes, .. } = entry else { return ControlFlow::Break(()) };
        let applied = Event::decode(bytes)
            .map_err(anyhow::Error::from)
            .and_then(|(at, event)| Ok(broker.apply(seq, at, &event, &mut effects)?));
        effects.clear();
        match applied {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    match failure {
        Some(error) => Err(error.context("replaying the log")),
        None => Ok(()),
    }
}
