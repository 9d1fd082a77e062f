//! Logs that an earlier version wrote: they fold to the state to which that version folded them.
//!
//! A folder of `vectors` holds such logs as they lay on the disk, the state as bytes of a snapshot by that version, and
//! figures that it told of the state. The format of snapshots may change, so states are compared as today's version
//! writes them.

use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use broker::{Broker, Fold};
use log::{Entry, Log, Options, Reader, RealDisk, SegmentLog, Seq, Snapshots};
use tempfile::TempDir;

/// Logs, with the fewest snapshots from which each can be folded: one without its oldest records needs one.
const LOGS: [(&str, usize); 3] = [("47fc9fe/whole-1", 0), ("47fc9fe/whole-2", 0), ("47fc9fe/trimmed", 1)];

/// Where the header of a segment says how long the file is; see `docs/log.md`.
const SEGMENT_SIZE_AT: usize = 32;

#[test]
fn an_older_log_folds_to_the_state_that_it_had() {
    for (name, snapshots_min) in LOGS {
        let folder = folder(name);
        let figures = fs::read_to_string(folder.join("figures.txt")).unwrap();
        let state = fs::read(folder.join("state")).unwrap();
        let state = bytes(&Broker::restore(testkit::broker_settings(), &state).unwrap());
        let snapshots = snapshots(&folder);
        for count in snapshots_min..=snapshots.len() {
            let copy = copy(&folder, &snapshots[count..]);
            let (broker, first, from) = fold(copy.path());
            let newest = snapshots[..count].last().map_or(Seq(0), |(at, _)| *at);
            assert_eq!(from, newest, "{name} is not folded from the newest of {count} snapshots");
            assert!(from < broker.last(), "{name} has no record after its snapshots");
            assert_eq!(figures_of(&broker, first), figures, "{name} from {from}");
            assert!(bytes(&broker) == state, "{name} folded from {from} is another state");
        }
    }
}

#[test]
fn an_older_log_is_whole() {
    for (name, _) in LOGS {
        let folder = folder(name);
        let copy = copy(&folder, &[]);
        let report = log::verify(&RealDisk::existing(copy.path()).unwrap()).unwrap();
        assert!(report.damages.is_empty() && report.torn.is_none(), "{name}: {report:?}");
        let snapshots: Vec<Seq> = snapshots(&folder).into_iter().map(|(at, _)| at).collect();
        assert_eq!((report.snapshots, snapshots.len()), (snapshots.clone(), 2), "{name}");
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors").join(name)
}

/// Returns the snapshots beside a log, the oldest first.
fn snapshots(folder: &Path) -> Vec<(Seq, PathBuf)> {
    let mut snapshots = Vec::new();
    for entry in fs::read_dir(folder.join("log")).unwrap() {
        let path = entry.unwrap().path();
        if let Some(at) = path.file_name().unwrap().to_str().unwrap().strip_suffix(".snapshot") {
            snapshots.push((Seq(at.parse().unwrap()), path));
        }
    }
    snapshots.sort();
    snapshots
}

/// Copies a log without some of its snapshots, and gives its segments their full length.
fn copy(folder: &Path, left_out: &[(Seq, PathBuf)]) -> TempDir {
    let copy = TempDir::new().unwrap();
    for entry in fs::read_dir(folder.join("log")).unwrap() {
        let path = entry.unwrap().path();
        if left_out.iter().any(|(_, other)| *other == path) {
            continue;
        }
        let mut bytes = fs::read(&path).unwrap();
        if path.extension().is_some_and(|ending| ending == "segment") {
            let size = u64::from_le_bytes(*bytes[SEGMENT_SIZE_AT..].first_chunk().unwrap());
            bytes.resize(usize::try_from(size).unwrap(), 0);
        }
        fs::write(copy.path().join(path.file_name().unwrap()), bytes).unwrap();
    }
    copy
}

/// Folds a log; returns the state, the first record that the log holds, and the record after which it was begun.
fn fold(folder: &Path) -> (Broker, Seq, Seq) {
    let (log, _) = SegmentLog::open(RealDisk::existing(folder).unwrap(), Options::small(0)).unwrap();
    let settings = testkit::broker_settings();
    let (from, broker) = match log.snapshots().load().unwrap() {
        Some(mut snapshot) => {
            let mut bytes = Vec::new();
            snapshot.bytes.read_to_end(&mut bytes).unwrap();
            (snapshot.at, Broker::restore(settings, &bytes).unwrap())
        }
        None => (Seq(0), Broker::new(settings)),
    };
    let mut fold = Fold::new(broker);
    let visit = &mut |entry: Entry<'_>| match entry {
        Entry::Record { seq, bytes, .. } => {
            fold.apply(seq, bytes).unwrap();
            ControlFlow::Continue(())
        }
        Entry::Gap { first, last } => panic!("{first} to {last} are missing"),
    };
    log.reader().scan(Seq(from.0 + 1), log.last(), visit).unwrap();
    (fold.into_broker(), log.first(), from)
}

fn bytes(broker: &Broker) -> Vec<u8> {
    let mut bytes = Vec::new();
    broker.snapshot(&mut bytes);
    bytes
}

fn figures_of(broker: &Broker, first: Seq) -> String {
    let counts = broker.counts();
    let figures = [
        ("first record", first.0),
        ("last record", broker.last().0),
        ("time in ms", broker.time().0),
        ("agents", counts.agents),
        ("open messages", counts.messages),
        ("bytes of open messages", counts.bytes),
        ("deliveries handed out", counts.handed_out),
        ("senders that wait for a reply", counts.waits),
        ("receipts", counts.remembered),
        ("known message ids", counts.known),
        ("dead letters", counts.dead),
        ("tasks", broker.tasks(0).count() as u64),
        ("gates", broker.gates(true).len() as u64),
        ("allotments", broker.allotments().count() as u64),
        ("version of the policy", broker.policy().version.into()),
    ];
    figures.iter().fold(String::new(), |mut text, (name, number)| {
        writeln!(text, "{name}: {number}").unwrap();
        text
    })
}
