//! Appending, syncing, reading, snapshots and preparing segments at the same time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use crate::Keep as _;
use crate::{Batch, Class, Log, Options, ReadError, Reader, RealDisk, SegmentLog, Seq, Snapshots, Syncer};

const RECORDS: u64 = 6_000;

fn record(seq: u64) -> Vec<u8> {
    vec![u8::try_from(seq % 251).unwrap(); usize::try_from(seq % 400).unwrap()]
}

#[test]
fn readers_and_the_syncer_work_beside_the_writer() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        segment_bytes: 64 << 10,
        first_segment_bytes: 64 << 10,
        record_bytes_max: 4096,
        ..Options::standard(1)
    };
    let (mut log, _) = SegmentLog::open(RealDisk::new(folder.path()).unwrap(), options).unwrap();
    let (mut syncer, reader, keeper, mut snapshots) =
        (log.syncer(), log.reader(), log.keeper(), log.snapshots());
    let (durable, done) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let (wake, woken) = sync_channel::<()>(1);
        let (durable, done) = (&durable, &done);
        scope.spawn(move || {
            while woken.recv().is_ok() {
                durable.store(syncer.sync().unwrap().0, Ordering::Release);
            }
        });
        scope.spawn(move || {
            let mut seq = 1;
            while seq <= RECORDS {
                match reader.read(Seq(seq)) {
                    Ok(bytes) => assert_eq!(bytes, record(seq)),
                    Err(ReadError::Beyond { .. }) => {
                        thread::yield_now();
                        continue;
                    }
                    Err(ReadError::Trimmed { first, .. }) => {
                        seq = first.0;
                        continue;
                    }
                    Err(error) => panic!("record {seq}: {error:?}"),
                }
                seq += 1;
            }
        });
        scope.spawn(move || {
            while !done.load(Ordering::Acquire) {
                keeper.keep().unwrap();
                // Every record is a batch of its own here.
                let at = Seq(durable.load(Ordering::Acquire));
                if at.0 > 0 && snapshots.load().unwrap().is_none_or(|newest| newest.at < at) {
                    snapshots.store(at, |to| to.write_all(b"state")).unwrap();
                }
                keeper.truncate_before(Seq(at.0.saturating_sub(600))).unwrap();
            }
        });
        let mut batch = Batch::new();
        for seq in 1..=RECORDS {
            batch.clear();
            batch.push(&record(seq));
            log.append(Seq(seq - 1), &mut batch, Class::Normal).unwrap();
            wake.try_send(()).unwrap_or_default();
            if seq % 500 == 0 {
                log.truncate_before(Seq(seq - 400)).unwrap();
            }
        }
        done.store(true, Ordering::Release);
    });
    assert_eq!(log.syncer().sync().unwrap(), Seq(RECORDS));
    assert!(log.first() > Seq(1), "nothing was trimmed");
}
