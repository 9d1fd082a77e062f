//! `convoke log`: a log of the real kind, whole, damaged, saved and in use.

use std::fs;
use std::path::{Path, PathBuf};

use log::{Batch, Class, Log as _, Options, RealDisk, SegmentLog, Snapshots as _, Syncer as _};

use crate::session::Session;

/// Writes batches of a few records and a snapshot in the middle of them.
fn write_log(data: &Path) -> SegmentLog<RealDisk> {
    let disk = RealDisk::new(data.join("log")).unwrap();
    let (mut log, _) = SegmentLog::open(disk, Options::small(7)).unwrap();
    let mut syncer = log.syncer();
    for number in 0u64..12 {
        let mut batch = Batch::new();
        batch.push(format!("record {number} of a batch").as_bytes());
        batch.push(&[b'x'; 1_000]);
        log.append(log.last(), &mut batch, Class::Normal).unwrap();
        let durable = syncer.sync().unwrap();
        if number == 5 {
            log.snapshots().store(durable, |out| out.write_all(b"the state")).unwrap();
        }
    }
    log
}

/// Finds the file in which a text stands, and where.
fn find(data: &Path, text: &[u8]) -> (PathBuf, usize) {
    let files = fs::read_dir(data.join("log")).unwrap().map(|entry| entry.unwrap().path());
    let place = |path: PathBuf| {
        let bytes = fs::read(&path).ok()?;
        bytes.windows(text.len()).position(|window| window == text).map(|place| (path, place))
    };
    files.filter_map(place).next().unwrap()
}

/// Shows a transcript without the name of the temporary folder.
fn transcript(session: &Session, commands: &[&str]) -> String {
    session.transcript(commands).replace(&session.path().display().to_string(), "[folder]")
}

#[test]
fn a_whole_log() {
    let session = Session::new();
    drop(write_log(&session.path().join("data")));
    let commands = ["log verify --data data", "log verify --data data --json", "log salvage --data data"];
    insta::assert_snapshot!(transcript(&session, &commands));
}

#[test]
fn a_damaged_log_is_named_and_saved() {
    let session = Session::new();
    let data = session.path().join("data");
    drop(write_log(&data));
    let (file, place) = find(&data, b"record 1 ");
    let mut bytes = fs::read(&file).unwrap();
    bytes[place] ^= 1;
    fs::write(&file, &bytes).unwrap();
    let commands = [
        "log verify --data data",
        "log verify --data data --json",
        "log salvage --data data --json",
        "log verify --data data",
    ];
    insta::assert_snapshot!(transcript(&session, &commands));
    let kept = data.join("log/damaged").join(file.file_name().unwrap());
    assert_eq!(fs::read(kept).unwrap(), bytes, "what is damaged is kept as it was");
}

#[test]
fn no_log_and_a_log_in_use() {
    let session = Session::new();
    let log = write_log(&session.path().join("data"));
    let commands = [
        "log verify --data nowhere",
        "log salvage --data nowhere",
        "log verify --data data",
        "log salvage --data data",
        "log --help",
        "log verify --help",
        "log salvage --help",
    ];
    insta::assert_snapshot!(transcript(&session, &commands));
    drop(log);
}
