//! Opening a log and reading all of it, beside reading the same files and doing nothing with them.

use std::fs::{self, File};
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use anyhow::ensure;
use log::{Batch, Class, Entry, Log, Options, Reader, RealDisk, SegmentLog, Seq, Snapshots, Syncer};

use super::append::{RECORD_BYTES, records};
use crate::figures::{self, Series};
use crate::findings::Finding;
use crate::progress::progress;
use crate::ring::{self, Scale};
use crate::scratch::{self, Cache, Scratch};

const BATCH: u64 = 256;
/// The part of the log that comes after the snapshot.
const TAIL_SHARE: u64 = 100;
const PIECE_BYTES: usize = 1 << 20;

/// Seconds, by rounds.
#[derive(Default)]
struct Seconds {
    files: Vec<f64>,
    open: Vec<f64>,
    scan: Vec<f64>,
    open_with_snapshot: Vec<f64>,
}

/// Writes that many records, then opens and reads them again and again.
pub(crate) fn measure(
    scratch: &Scratch,
    records: u64,
    rounds: usize,
    scale: Scale,
) -> anyhow::Result<(Vec<Finding>, Cache)> {
    let folder = scratch.folder("read")?;
    let options = || Options { spare_segments: 1, ..ring::options(scale) };
    progress(format_args!("writing {records} records"));
    fill(&folder, records, options())?;
    let mut seconds = Seconds::default();
    let mut cache = Cache::Cold;
    for round in 1..=rounds {
        progress(format_args!("reading, round {round} of {rounds}"));
        cache = scratch::empty_cache(scale);
        let ((), files) = figures::once(|| read_files(&folder))?;
        seconds.files.push(files.as_secs_f64());
        scratch::empty_cache(scale);
        let (open, scan) = open_and_scan(&folder, records, options())?;
        seconds.open.push(open.as_secs_f64());
        seconds.scan.push(scan.as_secs_f64());
    }
    {
        let (log, _) = SegmentLog::open(RealDisk::new(&folder)?, options())?;
        let at = Seq((records - records / TAIL_SHARE) / BATCH * BATCH);
        log.snapshots().store(at, |_| Ok(()))?;
    }
    for _ in 0..rounds {
        scratch::empty_cache(scale);
        let (opened, took) = figures::once(|| {
            SegmentLog::open(RealDisk::new(&folder)?, options()).map_err(anyhow::Error::from)
        })?;
        ensure!(opened.1.snapshot.is_some(), "the snapshot was not found");
        seconds.open_with_snapshot.push(took.as_secs_f64());
    }
    Ok((seconds.findings(), cache))
}

impl Seconds {
    fn findings(self) -> Vec<Finding> {
        let both = self.open.iter().zip(&self.scan).map(|(open, scan)| open + scan);
        vec![
            Finding::new("the same files, read and dropped", "s", Series::of(self.files)),
            Finding::new("open and scan", "s", Series::of(both)),
            Finding::new("open, everything checked", "s", Series::of(self.open)),
            Finding::new("scan after that", "s", Series::of(self.scan)),
            Finding::new("open with a snapshot near the end", "s", Series::of(self.open_with_snapshot)),
        ]
    }
}

fn fill(folder: &Path, count: u64, options: Options) -> anyhow::Result<()> {
    let (mut log, _) = SegmentLog::open(RealDisk::new(folder)?, options)?;
    let mut syncer = log.syncer();
    let records = records();
    let mut batch = Batch::new();
    while log.last().0 < count {
        batch.clear();
        let wanted = (count - log.last().0).min(BATCH) as usize;
        for record in records.chunks(RECORD_BYTES).take(wanted) {
            batch.push(record);
        }
        log.append(log.last(), &mut batch, Class::Normal)?;
    }
    syncer.sync()?;
    log.mark()?;
    syncer.sync()?;
    Ok(())
}

fn open_and_scan(folder: &Path, count: u64, options: Options) -> anyhow::Result<(Duration, Duration)> {
    let ((log, opened), open) =
        figures::once(|| SegmentLog::open(RealDisk::new(folder)?, options).map_err(anyhow::Error::from))?;
    ensure!(opened.records_checked == count, "{} records were checked", opened.records_checked);
    let (bytes, scan) = figures::once(|| {
        let mut bytes = 0;
        log.reader().scan(Seq(1), log.last(), &mut |entry| {
            if let Entry::Record { bytes: record, .. } = entry {
                bytes += record.len() as u64;
            }
            ControlFlow::Continue(())
        })?;
        anyhow::Ok(bytes)
    })?;
    ensure!(bytes == count * RECORD_BYTES as u64, "{bytes} bytes of records were read");
    Ok((open, scan))
}

fn read_files(folder: &Path) -> anyhow::Result<()> {
    let mut piece = vec![0; PIECE_BYTES];
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|kind| kind == "spare") {
            continue;
        }
        let mut file = File::open(path)?;
        while file.read(&mut piece)? > 0 {}
    }
    Ok(())
}
