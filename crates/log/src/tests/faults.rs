//! Failing operations, a full disk, a second process, a failed sync.

use super::model::{Model, check, live};
use crate::Keep as _;
use crate::{
    AppendError, Batch, Class, Fault, Log, MemDisk, OpenError, Options, Plant, Reader, SegmentLog, Seq,
    SnapshotError, Snapshots, SyncError, Syncer,
};

fn one(bytes: usize) -> Batch {
    let mut batch = Batch::new();
    batch.push(&vec![7; bytes]);
    batch
}

/// Lets one operation of a life fail, for each operation; what was acknowledged must be there after a power loss.
fn sweep(fault: Fault, options: &Options) -> Result<(), String> {
    for life in 0..3 {
        for at in 0.. {
            let (disk, mut model) = (MemDisk::new(), Model::default());
            disk.fault_at(at, fault);
            let finished = live(&disk, options, &mut model, life, 40);
            let happened = disk.operations() > at;
            disk.clear_faults();
            for seed in 0..6 {
                check(&disk.crash(seed), options, &model)
                    .map_err(|what| format!("{fault:?} at {at}, life {life}: {what}"))?;
            }
            // The process starts again without a power loss, and what it then sees must stay.
            let (log, opened) =
                check(&disk, options, &model).map_err(|what| format!("{fault:?} at {at}: {what}"))?;
            drop(log);
            model.cut(opened.last);
            model.acked = opened.last.0;
            check(&disk.crash(at), options, &model)
                .map_err(|what| format!("{fault:?} at {at}, again: {what}"))?;
            if finished && !happened {
                break;
            }
        }
    }
    Ok(())
}

#[test]
fn no_failing_operation_loses_what_was_acknowledged() {
    for fault in [Fault::Io, Fault::Full, Fault::Interrupted, Fault::Short] {
        sweep(fault, &Options::small(9)).unwrap();
    }
}

#[test]
fn the_sweep_finds_planted_faults() {
    for plant in [Plant::IgnoreFailedSync, Plant::SkipReopenSync] {
        let options = Options { plant: Some(plant), ..Options::small(9) };
        let found = sweep(Fault::Io, &options);
        assert!(found.is_err(), "{} is not found", plant.name());
    }
}

#[test]
fn an_interrupted_or_short_call_is_no_failure() {
    for fault in [Fault::Interrupted, Fault::Short] {
        for at in 0..60 {
            let (disk, mut model) = (MemDisk::new(), Model::default());
            let clean = {
                live(&disk, &Options::small(1), &mut model, 5, 0);
                disk.operations()
            };
            disk.fault_at(clean + at, fault);
            let finished = live(&disk, &Options::small(1), &mut model, 5, 30);
            // Folder operations are not made again: std does that for the calls that can be interrupted.
            if !finished {
                assert_eq!(fault, Fault::Interrupted);
            }
            check(&disk, &Options::small(1), &model).unwrap();
        }
    }
}

#[test]
fn after_a_failed_sync_nothing_is_promised_any_more() {
    let disk = MemDisk::new();
    let (mut log, _) = SegmentLog::open(disk.clone(), Options::small(1)).unwrap();
    log.append(Seq(0), &mut one(10), Class::Normal).unwrap();
    let mut syncer = log.syncer();
    assert_eq!(syncer.sync().unwrap(), Seq(1));
    log.append(Seq(1), &mut one(10), Class::Normal).unwrap();
    disk.fault_at(disk.operations(), Fault::Io);
    assert!(matches!(syncer.sync(), Err(SyncError::Storage(_))));
    assert!(matches!(syncer.sync(), Err(SyncError::Poisoned)));
    assert!(matches!(log.append(Seq(2), &mut one(10), Class::Reserve), Err(AppendError::Poisoned)));
    assert_eq!(syncer.durable(), Seq(1));
    assert_eq!(log.reader().read(Seq(1)).unwrap(), vec![7; 10]);
}

#[test]
fn a_mark_whose_sync_failed_is_written_again() {
    let disk = MemDisk::new();
    let (mut log, _) = SegmentLog::open(disk.clone(), Options::small(1)).unwrap();
    log.append(Seq(0), &mut one(10), Class::Normal).unwrap();
    log.syncer().sync().unwrap();
    log.mark().unwrap();
    disk.fault_at(disk.operations(), Fault::Io);
    assert!(log.syncer().sync().is_err());
    drop(log);
    disk.clear_faults();
    // The kernel still shows the mark, counts it as written, and has it on no disk.
    let (mut log, _) = SegmentLog::open(disk.clone(), Options::small(1)).unwrap();
    log.append(Seq(1), &mut one(10), Class::Normal).unwrap();
    assert_eq!(log.syncer().sync().unwrap(), Seq(2));
    drop(log);
    for seed in 0..50 {
        let (log, opened) = SegmentLog::open(disk.crash(seed), Options::small(1)).unwrap();
        assert_eq!((log.last(), opened.cut), (Seq(2), None));
    }
}

#[test]
fn a_full_disk_refuses_new_work_and_lets_the_old_be_finished() {
    let disk = MemDisk::new();
    let (mut log, _) = SegmentLog::open(disk.clone(), Options::small(1)).unwrap();
    log.keeper().keep().unwrap();
    let used: u64 = disk.files().iter().map(|(_, size)| size).sum();
    disk.set_capacity(Some(used + 300));
    let refused = loop {
        match log.append(log.last(), &mut one(3000), Class::Normal) {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, AppendError::NoRoom { .. }), "{refused:?}");
    assert!(log.room().normal < one(3000).bytes(), "{:?}", log.room());
    let reserved = log.room().reserve;
    assert!(reserved >= 2 * 12 * 1024, "{reserved}");
    let before = disk.operations();
    assert!(matches!(log.append(log.last(), &mut one(3000), Class::Normal), Err(AppendError::NoRoom { .. })));
    assert_eq!(disk.operations(), before, "a full disk is not asked again and again");
    let mut finished = 0;
    while log.append(log.last(), &mut one(3000), Class::Reserve).is_ok() {
        finished += 1;
    }
    assert!(finished >= 6, "{finished}");
    log.syncer().sync().unwrap();
    // Snapshots free segments: these become the reserve again before new work may use any.
    let at = log.last();
    for at in [Seq(at.0 - 1), at] {
        log.snapshots().store(at, |to| to.write_all(b"x")).unwrap();
    }
    let first = log.truncate_before(at).unwrap();
    assert!(first > Seq(1), "{first}");
    assert!(log.room().reserve >= 24 * 1024, "{:?}", log.room());
    assert!(matches!(log.append(log.last(), &mut one(3000), Class::Normal), Err(AppendError::NoRoom { .. })));
    log.append(log.last(), &mut one(3000), Class::Reserve).unwrap();
    disk.set_capacity(None);
    log.keeper().keep().unwrap();
    assert!(log.room().normal >= 12 * 1024);
    log.append(log.last(), &mut one(3000), Class::Normal).unwrap();
    log.syncer().sync().unwrap();
}

#[test]
fn the_configured_limit_is_kept() {
    let options = Options { bytes_max: Some(8 << 10 | 48 << 10), ..Options::small(1) };
    let disk = MemDisk::new();
    let (mut log, _) = SegmentLog::open(disk.clone(), options).unwrap();
    while log.append(log.last(), &mut one(2000), Class::Normal).is_ok() {}
    while log.append(log.last(), &mut one(2000), Class::Reserve).is_ok() {}
    let used: u64 = disk.files().iter().map(|(_, size)| size).sum();
    assert!(used <= 56 << 10, "{used}");
    assert!(log.last() > Seq(12), "{}", log.last());
}

#[test]
fn a_folder_in_use_or_not_writable_is_refused() {
    let disk = MemDisk::new();
    let (log, _) = SegmentLog::open(disk.clone(), Options::small(1)).unwrap();
    assert!(matches!(SegmentLog::open(disk.clone(), Options::small(1)), Err(OpenError::InUse)));
    let copy = disk.copy();
    SegmentLog::open(copy, Options::small(1)).unwrap();
    drop(log);
    disk.set_read_only(true);
    assert!(matches!(SegmentLog::open(disk.clone(), Options::small(1)), Err(OpenError::ReadOnly(_))));
    disk.set_read_only(false);
    SegmentLog::open(disk, Options::small(1)).unwrap();
}

#[test]
fn a_snapshot_must_be_of_a_durable_batch_end() {
    let disk = MemDisk::new();
    let (mut log, _) = SegmentLog::open(disk.clone(), Options::small(1)).unwrap();
    let mut batch = Batch::new();
    batch.push(b"a");
    batch.push(b"b");
    log.append(Seq(0), &mut batch, Class::Normal).unwrap();
    let mut snapshots = log.snapshots();
    let ahead = snapshots.store(Seq(2), |_| Ok(()));
    assert!(matches!(ahead, Err(SnapshotError::Ahead { at: Seq(2), durable: Seq(0) })), "{ahead:?}");
    log.syncer().sync().unwrap();
    let inside = snapshots.store(Seq(1), |_| Ok(()));
    assert!(matches!(inside, Err(SnapshotError::NotABatchEnd { at: Seq(1) })), "{inside:?}");
    snapshots.store(Seq(2), |to| to.write_all(b"two")).unwrap();
    let again = snapshots.store(Seq(2), |_| Ok(()));
    assert!(matches!(again, Err(SnapshotError::NotNewer { .. })), "{again:?}");
    let options = Options { plant: Some(Plant::SnapshotAhead), ..Options::small(1) };
    drop((log, snapshots));
    let (mut log, _) = SegmentLog::open(disk.clone(), options).unwrap();
    log.append(Seq(2), &mut one(5), Class::Normal).unwrap();
    log.snapshots().store(Seq(3), |_| Ok(())).unwrap();
    drop(log);
    let lost = disk.crash_keeping(|_| false);
    let refused = SegmentLog::open(lost, Options::small(1)).err();
    assert!(matches!(refused, Some(OpenError::Damaged(_))), "a snapshot ahead of the log: {refused:?}");
}

#[test]
fn a_failed_snapshot_leaves_the_older_ones() {
    for at in 0..8 {
        let disk = MemDisk::new();
        let (mut log, _) = SegmentLog::open(disk.clone(), Options::small(1)).unwrap();
        for round in 1..=2_u8 {
            log.append(log.last(), &mut one(5), Class::Normal).unwrap();
            log.syncer().sync().unwrap();
            if round == 2 {
                disk.fault_at(disk.operations() + at, Fault::Full);
            }
            let stored = log.snapshots().store(log.last(), |to| to.write_all(&[round]));
            assert_eq!(stored.is_ok(), round == 1 || at > 5, "{at}");
        }
        disk.clear_faults();
        let snapshot = log.snapshots().load().unwrap().unwrap();
        assert!(snapshot.at >= Seq(1), "{at}");
        drop(log);
        SegmentLog::open(disk.crash(at), Options::small(1)).unwrap();
    }
}
