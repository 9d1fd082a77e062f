//! A short life of a log, driven by a seed, and what must be true of it after any accident.

use std::ops::ControlFlow;

use crate::{Batch, Class, Entry, Log, MemDisk, Opened, Options, Reader, SegmentLog, Seq, Snapshots, Syncer};

/// What the outside world knows of a log.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    /// The records of each batch that was handed to `append`, in order.
    pub(super) batches: Vec<Vec<Vec<u8>>>,
    /// The last record that a sync promised.
    pub(super) acked: u64,
    /// The newest snapshot that was stored.
    pub(super) snapshot: u64,
    /// Up to where records may have been given up.
    pub(super) trimmed: u64,
}

impl Model {
    /// Returns all records, numbered from 1.
    pub(super) fn records(&self) -> Vec<&Vec<u8>> {
        self.batches.iter().flatten().collect()
    }

    /// Returns the numbers of the records that close a batch.
    pub(super) fn ends(&self) -> Vec<u64> {
        let mut last = 0;
        let add = |batch: &Vec<Vec<u8>>| {
            last += batch.len() as u64;
            last
        };
        self.batches.iter().map(add).collect()
    }

    /// Forgets what the log does not hold any more after an accident, none of which was acknowledged.
    pub(super) fn cut(&mut self, last: Seq) {
        let mut left = last.0;
        self.batches.retain(|batch| {
            let keep = left >= batch.len() as u64 && left > 0;
            left = left.saturating_sub(batch.len() as u64);
            keep
        });
    }
}

/// A generator, the same everywhere.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Appends, syncs, takes snapshots and trims for some steps, until something fails; says whether it did.
pub(super) fn live(disk: &MemDisk, options: &Options, model: &mut Model, seed: u64, steps: u32) -> bool {
    let Ok((mut log, _)) = SegmentLog::open(disk.clone(), options.clone()) else { return false };
    let mut random = Random(seed);
    let mut batch = Batch::new();
    for step in 0..steps {
        let done = match random.below(10) {
            0..6 => append(&mut log, &mut batch, model, &mut random, step),
            6..8 => sync(&log, model),
            8 => snapshot(&log, model),
            _ => trim(&mut log, model),
        };
        if !done {
            return false;
        }
    }
    true
}

fn append(
    log: &mut SegmentLog<MemDisk>,
    batch: &mut Batch,
    model: &mut Model,
    random: &mut Random,
    step: u32,
) -> bool {
    batch.clear();
    let mut records = Vec::new();
    for index in 0..=random.below(4) {
        let length = usize::try_from(random.below(900)).unwrap();
        let mut record = format!("step {step} record {index} ").into_bytes();
        record.resize(record.len() + length, u8::try_from(random.below(256)).unwrap());
        batch.push(&record);
        records.push(record);
    }
    model.batches.push(records);
    log.append(log.last(), batch, Class::Normal).is_ok()
}

fn sync(log: &SegmentLog<MemDisk>, model: &mut Model) -> bool {
    match log.syncer().sync() {
        Ok(durable) => {
            model.acked = durable.0;
            true
        }
        Err(_) => false,
    }
}

fn snapshot(log: &SegmentLog<MemDisk>, model: &mut Model) -> bool {
    let ends = model.ends();
    let Some(at) = ends.into_iter().rfind(|end| *end <= model.acked) else { return true };
    if at <= model.snapshot {
        return true;
    }
    let state = state_at(model, at);
    let stored = log.snapshots().store(Seq(at), |to| to.write_all(&state));
    if stored.is_ok() {
        model.snapshot = at;
    }
    stored.is_ok()
}

fn trim(log: &mut SegmentLog<MemDisk>, model: &mut Model) -> bool {
    model.trimmed = model.trimmed.max(model.snapshot);
    log.truncate_before(Seq(model.snapshot + 1)).is_ok()
}

/// The state that a broker would fold: here simply a hash over all records up to a place.
pub(super) fn state_at(model: &Model, at: u64) -> Vec<u8> {
    let mut hasher = blake3::Hasher::new();
    for record in model.records().iter().take(usize::try_from(at).unwrap()) {
        hasher.update(record);
    }
    hasher.finalize().as_bytes().to_vec()
}

/// Opens what an accident left and compares it with what was promised; returns the log to go on with.
pub(super) fn check(
    disk: &MemDisk,
    options: &Options,
    model: &Model,
) -> Result<(SegmentLog<MemDisk>, Opened), String> {
    let (log, opened) = SegmentLog::open(disk.clone(), options.clone())
        .map_err(|error| format!("does not open: {error:?}"))?;
    if opened.last.0 < model.acked {
        return Err(format!("acknowledged {} but the log ends at {}", model.acked, opened.last));
    }
    if opened.first.0 > model.trimmed + 1 {
        return Err(format!("begins at {} though trimmed to {}", opened.first, model.trimmed));
    }
    if opened.last.0 > 0 && !model.ends().contains(&opened.last.0) {
        return Err(format!("ends at {}, in the middle of a batch", opened.last));
    }
    let records = model.records();
    let ends = model.ends();
    let mut next = opened.first.0;
    let mut wrong = None;
    let scanned = log.reader().scan(opened.first, opened.last, &mut |entry| {
        let right = match entry {
            Entry::Record { seq, bytes, last_of_batch } => {
                let at = usize::try_from(seq.0).unwrap() - 1;
                seq.0 == next
                    && records.get(at).is_some_and(|record| *record == bytes)
                    && last_of_batch == ends.contains(&seq.0)
            }
            Entry::Gap { .. } => false,
        };
        if !right {
            wrong = Some(format!("record {next} is not what was appended: {entry:?}"));
            return ControlFlow::Break(());
        }
        next += 1;
        ControlFlow::Continue(())
    });
    scanned.map_err(|error| format!("cannot be scanned: {error:?}"))?;
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    if next != opened.last.0 + 1 {
        return Err(format!("the scan ended at {next}"));
    }
    check_snapshot(&log, model)?;
    Ok((log, opened))
}

fn check_snapshot(log: &SegmentLog<MemDisk>, model: &Model) -> Result<(), String> {
    let loaded = log.snapshots().load().map_err(|error| format!("no snapshot: {error:?}"))?;
    let Some(mut snapshot) = loaded else {
        return if model.snapshot == 0 { Ok(()) } else { Err("the snapshot is gone".to_owned()) };
    };
    if snapshot.at.0 < model.snapshot {
        return Err(format!("the newest snapshot is {} and not {}", snapshot.at, model.snapshot));
    }
    let mut state = Vec::new();
    snapshot.bytes.read_to_end(&mut state).map_err(|error| error.to_string())?;
    if state != state_at(model, snapshot.at.0) {
        return Err("the snapshot is not what was stored".to_owned());
    }
    Ok(())
}
