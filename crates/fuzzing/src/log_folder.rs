//! The log's folder: whatever stands in a segment, checking, saving and opening it never blow up, and what a salvage
//! leaves opens and is whole.

use std::ops::ControlFlow;

use log::{Log, MemDisk, Options, Reader, SegmentLog, Seq};

/// The name of the first segment of a log.
const SEGMENT: &str = "0000000001.segment";
/// The name of a snapshot in the middle of the seeds.
const SNAPSHOT: &str = "00000000000000000002.snapshot";

/// The first segment of a log; behind it, if the last byte says so, the same bytes as a snapshot.
pub(crate) fn run(bytes: &[u8]) {
    let disk = MemDisk::new();
    disk.put(SEGMENT, bytes.to_vec());
    if bytes.last() == Some(&1) {
        disk.put(SNAPSHOT, bytes.to_vec());
    }
    let report = log::verify(&disk);
    read(&disk.copy());
    if log::salvage(&disk).is_ok() {
        let after = log::verify(&disk).expect("what was saved can be checked");
        assert!(after.is_whole(), "{after} after {report:?}");
        read(&disk);
    }
}

/// Opens a log and reads whatever it lets.
fn read(disk: &MemDisk) {
    let Ok((log, opened)) = SegmentLog::open(disk.clone(), Options::small(1)) else { return };
    let mut visited = 0u64;
    let scanned = log.reader().scan(log.first(), log.last(), &mut |_| {
        visited += 1;
        ControlFlow::Continue(())
    });
    scanned.expect("what was opened can be read");
    assert_eq!(log.last(), opened.last);
    assert!(visited <= log.last().0, "{visited} entries up to {}", log.last());
    drop(log.reader().read(Seq(u64::MAX)));
}
