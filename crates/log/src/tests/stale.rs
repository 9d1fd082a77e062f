//! Torn, zeroed and stale tails: what a recycled segment holds is never read again.

use proptest::prelude::*;

use super::model::{Model, check, live};
use crate::{
    Batch, Class, Log, MemDisk, OpenError, Options, Plant, Reader, SegmentLog, Seq, Snapshots, Syncer,
};

/// Fills segments and recycles them, so that the active one is full of old frames.
fn recycled(options: &Options) -> (MemDisk, Seq) {
    let disk = MemDisk::new();
    let (mut log, _) = SegmentLog::open(disk.clone(), options.clone()).unwrap();
    let mut batch = Batch::new();
    for number in 0..60_u8 {
        batch.clear();
        batch.push(&vec![number; 1500]);
        log.append(log.last(), &mut batch, Class::Normal).unwrap();
        log.syncer().sync().unwrap();
        if number % 4 == 3 {
            log.snapshots().store(log.last(), |to| to.write_all(&[number])).unwrap();
            log.truncate_before(log.last()).unwrap();
        }
    }
    let last = log.last();
    (disk, last)
}

#[test]
fn old_frames_of_a_recycled_segment_are_never_read() {
    let options = Options::small(1);
    let (disk, last) = recycled(&options);
    let (log, opened) = SegmentLog::open(disk.copy(), options.clone()).unwrap();
    assert_eq!((opened.last, opened.cut), (last, None));
    assert_eq!(log.reader().read(last).unwrap(), vec![59; 1500]);
    let planted = Options { plant: Some(Plant::AcceptRecycledFrame), ..options };
    let (_, opened) = SegmentLog::open(disk.copy(), planted).unwrap();
    assert!(opened.last > last, "the planted fault reads old frames");
}

#[test]
fn the_last_batch_torn_at_any_place_is_cut_and_said() {
    let options = Options::small(1);
    let disk = MemDisk::new();
    let (mut log, _) = SegmentLog::open(disk.clone(), options.clone()).unwrap();
    let mut batch = Batch::new();
    batch.push(b"kept");
    log.append(Seq(0), &mut batch, Class::Normal).unwrap();
    log.syncer().sync().unwrap();
    let start = 4096 + batch.bytes();
    batch.clear();
    batch.push(&[1; 200]);
    batch.push(&[2; 100]);
    log.append(Seq(1), &mut batch, Class::Normal).unwrap();
    let end = start + batch.bytes();
    drop(log);
    let name = disk.files()[0].0.clone();
    for at in start..end {
        for fill in [0, 0xFF] {
            let copy = disk.copy();
            let mut contents = copy.contents(&name).unwrap();
            contents[usize::try_from(at).unwrap()..usize::try_from(end).unwrap()].fill(fill);
            let torn = contents != copy.contents(&name).unwrap();
            copy.put(&name, contents);
            let (mut log, opened) = SegmentLog::open(copy.clone(), options.clone()).unwrap();
            let expected = if torn { Seq(1) } else { Seq(3) };
            assert_eq!(opened.last, expected, "torn at {at} with {fill}");
            if torn && at >= start + 24 {
                let cut = opened.cut.unwrap();
                assert_eq!((cut.file.as_str(), cut.offset, cut.last), (name.as_str(), start, Seq(1)));
            }
            let mut batch = Batch::new();
            batch.push(b"new");
            let last = log.append(log.last(), &mut batch, Class::Normal).unwrap();
            log.syncer().sync().unwrap();
            drop(log);
            let (log, opened) = SegmentLog::open(copy, options.clone()).unwrap();
            assert_eq!((opened.last, opened.cut), (last, None));
            assert_eq!(log.reader().read(last).unwrap(), b"new");
        }
    }
}

#[test]
fn a_hole_before_acknowledged_records_is_damage_and_not_a_torn_tail() {
    let mut options = Options::small(1);
    let disk = MemDisk::new();
    let (mut log, _) = SegmentLog::open(disk.clone(), options.clone()).unwrap();
    let mut batch = Batch::new();
    for _ in 0..3 {
        batch.clear();
        batch.push(&[1; 50]);
        log.append(log.last(), &mut batch, Class::Normal).unwrap();
    }
    // The three were never synced: a hole in the second is what a power loss may leave.
    drop(log);
    let name = disk.files()[0].0.clone();
    let second = 4096 + batch.bytes() + 30;
    let unsynced = disk.copy();
    unsynced.flip(&name, second, 1);
    let (_, opened) = SegmentLog::open(unsynced, options.clone()).unwrap();
    assert_eq!((opened.last, opened.cut.is_some()), (Seq(1), true));
    // A fourth that knows them to be durable makes the same hole damage.
    let (mut log, _) = SegmentLog::open(disk.clone(), options.clone()).unwrap();
    log.syncer().sync().unwrap();
    log.append(log.last(), &mut batch, Class::Normal).unwrap();
    drop(log);
    disk.flip(&name, second, 1);
    let refused = SegmentLog::open(disk.copy(), options.clone()).err().unwrap();
    let OpenError::Damaged(damage) = refused else { panic!("{refused:?}") };
    assert_eq!(damage.file, name);
    assert!(damage.what.contains("record 2"), "{damage}");
    options.plant = Some(Plant::CutAnyHole);
    let (_, opened) = SegmentLog::open(disk, options).unwrap();
    assert_eq!(opened.last, Seq(1), "the planted fault shortens the log in silence");
}

#[test]
fn a_record_that_looks_like_frames_is_only_a_record() {
    let options = Options::small(1);
    let disk = MemDisk::new();
    let (mut log, _) = SegmentLog::open(disk.clone(), options.clone()).unwrap();
    let mut batch = Batch::new();
    batch.push(b"first");
    log.append(Seq(0), &mut batch, Class::Normal).unwrap();
    log.syncer().sync().unwrap();
    // A copy of our own frames, with a false claim of durability, inside of a record.
    let frames = disk.contents(&disk.files()[0].0).unwrap()[4096..4096 + 104].to_vec();
    let mut hostile = frames.clone();
    hostile[56 + 8..56 + 16].copy_from_slice(&9_u64.to_le_bytes());
    batch.clear();
    batch.push(&hostile);
    batch.push(&frames);
    log.append(Seq(1), &mut batch, Class::Normal).unwrap();
    drop(log);
    for kept in 0..2 {
        let crashed = disk.crash_keeping(|_| kept == 1);
        let (_, opened) = SegmentLog::open(crashed, options.clone()).unwrap();
        assert_eq!(opened.last, Seq(1 + 2 * kept));
    }
    let torn = disk.copy();
    torn.flip(&disk.files()[0].0, 4096 + 104 + 3, 1);
    let (_, opened) = SegmentLog::open(torn, options).unwrap();
    assert_eq!(opened.last, Seq(1));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_batches_are_read_back(batches in proptest::collection::vec(
        proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..600), 1..5), 1..40), reopen in 0_usize..40)
    {
        let disk = MemDisk::new();
        let mut model = Model::default();
        let mut open = Some(SegmentLog::open(disk.clone(), Options::small(2)).unwrap().0);
        let mut batch = Batch::new();
        for (index, records) in batches.into_iter().enumerate() {
            if index == reopen {
                drop(open.take());
            }
            let log = open.get_or_insert_with(|| SegmentLog::open(disk.clone(), Options::small(2)).unwrap().0);
            batch.clear();
            for record in &records {
                batch.push_with(|buffer| buffer.extend_from_slice(record));
            }
            log.append(log.last(), &mut batch, Class::Normal).unwrap();
            model.batches.push(records);
        }
        drop(open);
        let (log, opened) = check(&disk, &Options::small(2), &model).unwrap();
        prop_assert_eq!(opened.last.0, model.records().len() as u64);
        for (at, record) in model.records().iter().enumerate() {
            prop_assert_eq!(&log.reader().read(Seq(at as u64 + 1)).unwrap(), *record);
        }
    }

    #[test]
    fn any_bytes_in_the_place_of_a_segment_never_panic(
        noise in proptest::collection::vec(any::<u8>(), 0..300), at in 0_usize..9000, life in 0_u64..5)
    {
        let (disk, mut model) = (MemDisk::new(), Model::default());
        live(&disk, &Options::small(2), &mut model, life, 20);
        let name = disk.files().into_iter().map(|(name, _)| name).find(|name| name.ends_with(".segment")).unwrap();
        let mut contents = disk.contents(&name).unwrap();
        let end = (at + noise.len()).min(contents.len());
        if at < end {
            contents[at..end].copy_from_slice(&noise[..end - at]);
        }
        disk.put(&name, contents);
        let _opened = SegmentLog::open(disk.copy(), Options::small(2)).is_ok();
        let _verified = crate::verify(&disk).is_ok();
        let _salvaged = crate::salvage(&disk).is_ok();
        prop_assert!(SegmentLog::open(disk, Options::small(2)).is_ok());
    }
}
