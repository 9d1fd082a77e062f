//! Damage of every byte and every length: named, refused, and nothing but the damaged part lost.

use super::model::{Model, check, live};
use crate::{
    Batch, Class, Entry, Log, MemDisk, OpenError, Options, ReadError, Reader, SegmentLog, Seq, Snapshots,
    Syncer, salvage, verify,
};
use std::ops::ControlFlow;

fn options() -> Options {
    Options {
        segment_bytes: 8 << 10,
        first_segment_bytes: 8 << 10,
        record_bytes_max: 2048,
        ..Options::small(5)
    }
}

/// A small closed log of three segments with a snapshot in the first; batch sizes differ.
fn store() -> (MemDisk, Vec<Vec<u8>>) {
    let disk = MemDisk::new();
    let (mut log, _) = SegmentLog::open(disk.clone(), options()).unwrap();
    let mut records = Vec::new();
    for number in 0_u8..24 {
        let mut batch = Batch::new();
        for part in 0..=number % 3 {
            let record = vec![number * 3 + part; 60 + 8 * usize::from(number)];
            batch.push(&record);
            records.push(record);
        }
        log.append(log.last(), &mut batch, Class::Normal).unwrap();
        log.syncer().sync().unwrap();
        if number == 4 {
            log.snapshots().store(log.last(), |to| to.write_all(b"the state")).unwrap();
        }
    }
    log.mark().unwrap();
    log.syncer().sync().unwrap();
    let segments = disk.files().iter().filter(|(name, _)| name.ends_with(".segment")).count();
    assert!(segments >= 3, "{segments}");
    drop(log);
    let spares: Vec<_> = disk.files().into_iter().filter(|(name, _)| name.ends_with(".spare")).collect();
    for (name, _) in spares {
        disk.erase(&name);
    }
    (disk, records)
}

/// Every record that can be read, by its number; gaps are left out.
fn readable(log: &SegmentLog<MemDisk>) -> Vec<(Seq, Vec<u8>)> {
    let mut found = Vec::new();
    let visit = &mut |entry: Entry<'_>| {
        if let Entry::Record { seq, bytes, .. } = entry {
            found.push((seq, bytes.to_vec()));
        }
        ControlFlow::Continue(())
    };
    log.reader().scan(log.first(), log.last(), visit).unwrap();
    found
}

/// Checks that salvaging keeps everything but the batches that were hit, lists these, and deletes nothing.
fn check_salvage(disk: &MemDisk, records: &[Vec<u8>], what: &str) {
    let salvaged = salvage(disk).unwrap_or_else(|error| panic!("{what}: {error:?}"));
    assert!(!salvaged.set_aside.is_empty(), "{what}: {salvaged:?}");
    for file in &salvaged.set_aside {
        assert!(disk.contents(file).is_some(), "{what}: {file} is not there");
    }
    let again = verify(disk).unwrap();
    assert!(again.is_whole(), "{what}: {salvaged:?} {again:?}");
    let (mut log, opened) = SegmentLog::open(disk.clone(), options())
        .unwrap_or_else(|error| panic!("{what}: {error} {salvaged:?}"));
    let found = readable(&log);
    for (seq, bytes) in &found {
        assert_eq!(bytes, &records[usize::try_from(seq.0).unwrap() - 1], "{what}: record {seq}");
    }
    let missing: u64 = salvaged.missing.iter().map(|range| range.last.0 + 1 - range.first.0).sum();
    assert_eq!(found.len() as u64 + missing, opened.last.0, "{what}: {salvaged:?}");
    for range in &salvaged.missing {
        assert!(matches!(log.reader().read(range.first), Err(ReadError::Missing { .. })), "{what}");
    }
    let mut batch = Batch::new();
    batch.push(b"life goes on");
    let last = log.append(log.last(), &mut batch, Class::Normal).unwrap();
    log.syncer().sync().unwrap();
    drop(log);
    let (log, _) = SegmentLog::open(disk.clone(), options()).unwrap();
    assert_eq!(log.reader().read(last).unwrap(), b"life goes on");
}

#[test]
fn a_flip_of_any_byte_is_found_and_named() {
    let (disk, records) = store();
    let (mut found_at_open, mut unused) = (0, 0);
    for (name, size) in disk.files() {
        let mut frames = disk.contents(&name).unwrap();
        frames.truncate(frames.iter().rposition(|byte| *byte != 0).unwrap() + 1);
        for offset in 0..size {
            // The rest of the header block and the unused end are all alike.
            let alike = (72..4096).contains(&offset) || offset >= frames.len() as u64 + 64;
            if alike && offset % 29 != 0 && name.ends_with(".segment") {
                continue;
            }
            let what = format!("{name} at {offset}");
            let copy = disk.copy();
            assert!(copy.flip(&name, offset, 1 << (offset % 8)));
            let report = verify(&copy).unwrap();
            let named = report.damages.iter().chain(&report.torn).any(|damage| damage.file == name);
            let open = SegmentLog::open(copy.clone(), options());
            if !named {
                // Only what no record uses can change unseen.
                assert!(report.is_whole(), "{what}: {report:?}");
                let (log, opened) = open.unwrap();
                assert_eq!(opened.cut, None, "{what}");
                assert_eq!(readable(&log).len(), records.len(), "{what}");
                unused += 1;
                continue;
            }
            found_at_open += u32::from(check_open(open, &report, &records, &what));
            if offset % 41 == 0 && !report.is_whole() {
                check_salvage(&copy, &records, &what);
            }
        }
    }
    println!("{found_at_open} flips refused on opening, {unused} in unused bytes");
    assert!(found_at_open > 3_000);
}

/// Checks what opening does with a damaged log; says whether it refused.
fn check_open(
    open: Result<(SegmentLog<MemDisk>, crate::Opened), OpenError>,
    report: &crate::Report,
    records: &[Vec<u8>],
    what: &str,
) -> bool {
    match open {
        Err(OpenError::Damaged(damage)) => {
            assert!(!damage.file.is_empty() && damage.to_string().contains("offset"), "{what}");
            true
        }
        Err(error) => panic!("{what}: {error:?}"),
        Ok((log, opened)) => {
            // A damaged snapshot is passed over; what comes before a snapshot is not read on opening, but its
            // damage is told when it is read; the very last batch may look torn.
            let cut = opened.cut.is_some() || report.torn.is_some();
            let snapshot = !opened.snapshots_damaged.is_empty();
            let before = opened.snapshot.is_some() && !report.is_whole();
            assert!(cut || snapshot || before, "{what}: {report:?} {opened:?}");
            if cut {
                assert_eq!(opened.last.0, records.len() as u64, "{what}: only the final mark may be cut");
            }
            drop(log);
            false
        }
    }
}

#[test]
fn a_file_cut_at_any_length_is_found_and_named() {
    let (disk, records) = store();
    for (name, size) in disk.files() {
        let step = if name.ends_with(".snapshot") { 1 } else { 61 };
        for length in (0..size).step_by(step) {
            let what = format!("{name} cut to {length}");
            let copy = disk.copy();
            let mut contents = copy.contents(&name).unwrap();
            contents.truncate(usize::try_from(length).unwrap());
            copy.put(&name, contents);
            let report = verify(&copy).unwrap();
            assert!(report.damages.iter().any(|damage| damage.file == name), "{what}: {report:?}");
            match SegmentLog::open(copy.clone(), options()) {
                Err(OpenError::Damaged(damage)) => assert_eq!(damage.file, name, "{what}"),
                Err(error) => panic!("{what}: {error:?}"),
                Ok((_, opened)) => assert_eq!(opened.snapshots_damaged[0].file, name, "{what}"),
            }
            if length % 5 == 0 {
                check_salvage(&copy, &records, &what);
            }
        }
    }
}

#[test]
fn a_lost_file_is_noticed_and_can_be_lived_without() {
    let (disk, records) = store();
    let segments: Vec<String> =
        disk.files().into_iter().map(|(name, _)| name).filter(|name| name.ends_with(".segment")).collect();
    for name in &segments[..segments.len() - 1] {
        let copy = disk.copy();
        copy.erase(name);
        assert!(!verify(&copy).unwrap().is_whole(), "{name}");
        assert!(matches!(SegmentLog::open(copy.clone(), options()), Err(OpenError::Damaged(_))), "{name}");
        let salvaged = salvage(&copy).unwrap();
        assert!(!salvaged.missing.is_empty(), "{name}: {salvaged:?}");
        let (log, opened) = SegmentLog::open(copy.clone(), options()).unwrap();
        assert_eq!(opened.last.0, records.len() as u64);
        for (seq, bytes) in readable(&log) {
            assert_eq!(bytes, records[usize::try_from(seq.0).unwrap() - 1]);
        }
    }
    let shorter = disk.copy();
    shorter.erase(segments.last().unwrap());
    assert!(!verify(&shorter).unwrap().is_whole());
    assert!(matches!(SegmentLog::open(shorter.clone(), options()), Err(OpenError::Damaged(_))));
    assert!(salvage(&shorter).unwrap().end_unknown);
    assert!(verify(&shorter).unwrap().is_whole());
    let (log, opened) = SegmentLog::open(shorter, options()).unwrap();
    assert_eq!(readable(&log).len() as u64, opened.last.0);
    let empty = disk.copy();
    for name in &segments {
        empty.erase(name);
    }
    assert!(matches!(SegmentLog::open(empty.clone(), options()), Err(OpenError::Damaged(_))));
    salvage(&empty).unwrap();
    let (log, opened) = SegmentLog::open(empty, options()).unwrap();
    assert_eq!((opened.snapshot, log.last()), (Some(Seq(9)), Seq(9)));
}

#[test]
fn what_was_trimmed_is_not_called_missing() {
    let disk = MemDisk::new();
    let (mut log, _) = SegmentLog::open(disk.clone(), options()).unwrap();
    let mut batch = Batch::new();
    for seq in 1..=40 {
        batch.clear();
        batch.push(&[7; 300]);
        log.append(Seq(seq - 1), &mut batch, Class::Normal).unwrap();
        log.syncer().sync().unwrap();
        if seq == 12 || seq == 13 {
            log.snapshots().store(Seq(seq), |to| to.write_all(b"the state")).unwrap();
            let first = log.truncate_before(Seq(12)).unwrap();
            assert_eq!(first > Seq(1), seq == 13, "one snapshot alone may turn out to be damaged");
        }
    }
    let first = log.first();
    drop(log);
    let report = verify(&disk).unwrap();
    assert!(report.is_whole(), "{report}");
    assert_eq!(report.trimmed.map(|trimmed| trimmed.range.last), Some(Seq(first.0 - 1)));
    assert!(disk.flip("0000000003.segment", 5000, 1));
    let salvaged = salvage(&disk).unwrap();
    assert_eq!(salvaged.missing.len(), 1, "{salvaged}");
    let (log, opened) = SegmentLog::open(disk, options()).unwrap();
    assert_eq!((opened.first, opened.last), (first, Seq(40)));
    assert!(matches!(log.reader().read(salvaged.missing[0].first), Err(ReadError::Missing { .. })));
}

#[test]
fn a_whole_log_is_not_touched_by_a_salvage() {
    for seed in 0..10 {
        let (disk, mut model) = (MemDisk::new(), Model::default());
        live(&disk, &Options::small(1), &mut model, seed, 150);
        let before = disk.operations();
        let report = verify(&disk).unwrap();
        assert!(report.is_whole(), "{report:?}");
        assert_eq!(report.range.map_or(0, |range| range.last.0), model.records().len() as u64);
        assert_eq!(salvage(&disk).unwrap(), crate::Salvaged::default());
        assert_eq!(disk.operations(), before);
        check(&disk, &Options::small(1), &model).unwrap();
    }
}
