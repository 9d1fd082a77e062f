//! Appending, reading and reopening, with nothing going wrong.

use std::ops::ControlFlow;

use super::model::{Model, check, live};
use crate::{
    AppendError, Batch, Class, Log, MemDisk, Options, ReadError, Reader, SegmentLog, Seq, Snapshots, Syncer,
    verify,
};

fn batch(records: &[&[u8]]) -> Batch {
    let mut batch = Batch::new();
    for record in records {
        batch.push(record);
    }
    batch
}

#[test]
fn what_is_appended_can_be_read() {
    let (mut log, opened) = SegmentLog::open(MemDisk::new(), Options::small(1)).unwrap();
    assert_eq!((opened.first, opened.last, opened.cut), (Seq(1), Seq(0), None));
    assert_eq!(log.append(Seq(0), &mut batch(&[b"a", b"", b"ccc"]), Class::Normal).unwrap(), Seq(3));
    assert_eq!(log.append(Seq(3), &mut batch(&[b"d"]), Class::Normal).unwrap(), Seq(4));
    assert_eq!(log.append(Seq(4), &mut Batch::new(), Class::Normal).unwrap(), Seq(4));
    let reader = log.reader();
    assert_eq!(reader.read(Seq(1)).unwrap(), b"a");
    assert_eq!(reader.read(Seq(2)).unwrap(), b"");
    assert_eq!(reader.read(Seq(4)).unwrap(), b"d");
    let mut seen = Vec::new();
    let mut see = |seq, bytes: &[u8]| {
        seen.push((seq, bytes.to_vec()));
        if seen.len() == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    // Nobody asks for the last one once the visitor breaks.
    reader.read_many(&[Seq(4), Seq(1), Seq(3), Seq(9)], &mut see).unwrap();
    assert_eq!(seen, [(Seq(4), b"d".to_vec()), (Seq(1), b"a".to_vec()), (Seq(3), b"ccc".to_vec())]);
    assert!(matches!(reader.read(Seq(0)), Err(ReadError::Trimmed { .. })));
    assert!(matches!(reader.read(Seq(5)), Err(ReadError::Beyond { .. })));
    assert_eq!(log.syncer().durable(), Seq(0));
    assert_eq!(log.syncer().sync().unwrap(), Seq(4));
}

#[test]
fn a_stale_writer_is_refused() {
    let (mut log, _) = SegmentLog::open(MemDisk::new(), Options::small(1)).unwrap();
    log.append(Seq(0), &mut batch(&[b"a"]), Class::Normal).unwrap();
    let refused = log.append(Seq(0), &mut batch(&[b"b"]), Class::Normal);
    assert!(matches!(refused, Err(AppendError::Stale { expected: Seq(0), last: Seq(1) })));
    assert_eq!(log.last(), Seq(1));
}

#[test]
fn what_is_too_large_is_refused_and_nothing_is_written() {
    let options = Options::small(1);
    let (mut log, _) = SegmentLog::open(MemDisk::new(), options.clone()).unwrap();
    let record_max = vec![7; options.record_bytes_max as usize];
    let mut over = record_max.clone();
    over.push(7);
    let refused = log.append(Seq(0), &mut batch(&[&over]), Class::Reserve);
    assert!(matches!(refused, Err(AppendError::RecordTooLarge { bytes: 8193, bytes_max: 8192 })));
    let refused = log.append(Seq(0), &mut batch(&[&record_max, &record_max]), Class::Reserve);
    assert!(matches!(refused, Err(AppendError::BatchTooLarge { .. })));
    assert_eq!(log.append(Seq(0), &mut batch(&[&record_max]), Class::Normal).unwrap(), Seq(1));
    assert_eq!(log.reader().read(Seq(1)).unwrap(), record_max);
}

#[test]
fn a_long_life_survives_reopening() {
    for seed in 0..20 {
        let (disk, mut model) = (MemDisk::new(), Model::default());
        for life in 0..4 {
            assert!(live(&disk, &Options::small(1), &mut model, seed * 10 + life, 120));
            check(&disk, &Options::small(1), &model).unwrap();
        }
    }
}

#[test]
fn more_segments_than_open_files_can_be_read() {
    let options = Options {
        segment_bytes: 8 << 10,
        first_segment_bytes: 8 << 10,
        record_bytes_max: 3000,
        ..Options::small(1)
    };
    let disk = MemDisk::new();
    let record = |seq: u64| vec![u8::try_from(seq % 256).unwrap(); 900];
    let (mut log, _) = SegmentLog::open(disk.clone(), options.clone()).unwrap();
    for seq in 1..=700 {
        log.append(Seq(seq - 1), &mut batch(&[&record(seq)]), Class::Normal).unwrap();
    }
    log.syncer().sync().unwrap();
    log.snapshots().store(Seq(695), |to| to.write_all(b"state")).unwrap();
    drop(log);
    // Only the segments behind the snapshot are read on opening; the others when somebody asks.
    let (log, opened) = SegmentLog::open(disk, options).unwrap();
    assert!(opened.records_checked < 12, "{opened:?}");
    let reader = log.reader();
    for step in 0..1400 {
        let seq = 1 + step * 311 % 700;
        assert_eq!(reader.read(Seq(seq)).unwrap(), record(seq), "record {seq}");
    }
    let seqs: Vec<Seq> = (1..=700).rev().map(Seq).collect();
    let mut count = 0;
    reader
        .read_many(&seqs, &mut |seq, bytes| {
            assert_eq!(bytes, record(seq.0));
            count += 1;
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(count, 700);
}

#[test]
fn a_damaged_snapshot_is_reported_and_the_one_before_it_serves() {
    let disk = MemDisk::new();
    let (mut log, _) = SegmentLog::open(disk.clone(), Options::small(1)).unwrap();
    for seq in 1..=60 {
        log.append(Seq(seq - 1), &mut batch(&[&[7; 1000]]), Class::Normal).unwrap();
        log.syncer().sync().unwrap();
        if seq % 20 == 0 {
            log.snapshots().store(Seq(seq), |to| to.write_all(format!("at {seq}").as_bytes())).unwrap();
            log.truncate_before(Seq(seq)).unwrap();
        }
    }
    drop(log);
    assert!(disk.flip("00000000000000000060.snapshot", 66, 4));
    let (log, opened) = SegmentLog::open(disk, Options::small(1)).unwrap();
    assert_eq!(opened.snapshot, Some(Seq(40)));
    assert_eq!(opened.snapshots_damaged[0].file, "00000000000000000060.snapshot");
    let mut snapshot = log.snapshots().load().unwrap().unwrap();
    let mut state = String::new();
    snapshot.bytes.read_to_string(&mut state).unwrap();
    assert_eq!((snapshot.at, state.as_str(), snapshot.damaged.len()), (Seq(40), "at 40", 1));
    // What the older one needs to be folded forward was not given up.
    assert!(opened.first <= Seq(41) && opened.first > Seq(1), "{opened:?}");
    assert_eq!(log.reader().read(Seq(41)).unwrap(), [7; 1000]);
}

#[test]
fn big_batches_are_chained_like_small_ones() {
    let options = Options { segment_bytes: 1 << 20, first_segment_bytes: 1 << 20, ..Options::small(1) };
    let disk = MemDisk::new();
    let (mut log, _) = SegmentLog::open(disk.clone(), options.clone()).unwrap();
    let mut records = Batch::new();
    for number in 0..24_u8 {
        records.clear();
        let count = if number % 3 == 0 { 2 } else { 60 };
        for _ in 0..count {
            records.push(&[number; 2000]);
        }
        log.append(log.last(), &mut records, Class::Normal).unwrap();
        log.syncer().sync().unwrap();
        if number == 10 {
            let at = log.last();
            log.snapshots().store(at, |to| to.write_all(b"state")).unwrap();
        }
    }
    let head = log.chain();
    drop(log);
    let report = verify(&disk).unwrap();
    assert!(report.is_whole() && report.segments > 1, "{report}");
    let hex: String = head.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(report.chain, hex);
    let (log, opened) = SegmentLog::open(disk, options).unwrap();
    assert!(opened.snapshot.is_some());
    assert_eq!(log.chain(), head);
}
