//! The real disk: a child process appends and tells what it was promised; it is killed, or its syncs fail.
//!
//! The child is this very test program, started anew with [`child`] as its only test and a folder in its
//! environment.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::model::Random;
use crate::Keep as _;
use crate::disk::{Disk, DiskFile};
use crate::{
    Batch, Class, Entry, Log, OpenError, Options, Reader, RealDisk, SegmentLog, Seq, Snapshots, Syncer,
    verify,
};

const FOLDER: &str = "LOG_TEST_FOLDER";
const BATCHES: &str = "LOG_TEST_BATCHES";
const ROUNDS: u64 = 200;

fn options() -> Options {
    Options {
        segment_bytes: 128 << 10,
        first_segment_bytes: 64 << 10,
        record_bytes_max: 16 << 10,
        ..Options::standard(77)
    }
}

/// What a record holds follows from its number alone.
fn record(seq: u64) -> Vec<u8> {
    let mut random = Random(seq);
    let length = usize::try_from(random.below(600)).unwrap();
    let mut bytes = seq.to_le_bytes().to_vec();
    bytes.resize(8 + length, u8::try_from(random.below(256)).unwrap());
    bytes
}

/// How many records a batch has that begins after a record.
fn count_after(last: u64) -> u64 {
    1 + Random(last ^ 0x5555).below(6)
}

/// Not a test by itself: the program that is killed.
#[test]
fn child() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let batches = std::env::var(BATCHES).ok().and_then(|count| count.parse().ok()).unwrap_or(u64::MAX);
    let disk = RealDisk::new(folder).unwrap();
    let Ok((mut log, _)) = SegmentLog::open(disk, options()) else { return tell("failed to open") };
    let mut syncer = log.syncer();
    let mut batch = Batch::new();
    let mut failed = false;
    for number in 0..batches {
        batch.clear();
        let last = log.last();
        for seq in last.0 + 1..=last.0 + count_after(last.0) {
            batch.push(&record(seq));
        }
        let synced = match log.append(last, &mut batch, Class::Normal) {
            Ok(_) => syncer.sync().map_err(|_| ()),
            Err(_) => Err(()),
        };
        match synced {
            Ok(durable) => tell(&format!("ack {durable}")),
            // It goes on for a moment, to show that nothing is promised any more.
            Err(()) if failed => return,
            Err(()) => {
                failed = true;
                tell("failed");
            }
        }
        if number % 40 == 39 && !failed {
            let at = log.last();
            log.snapshots().store(at, |to| to.write_all(&at.0.to_le_bytes())).unwrap();
            log.truncate_before(at).unwrap();
        }
    }
}

fn tell(line: &str) {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(format!("{line}\n").as_bytes()).and_then(|()| stdout.flush()).unwrap();
}

fn start(mut command: Command, folder: &Path, batches: u64) -> Child {
    command
        .args(["--exact", "tests::real::child", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .env(BATCHES, batches.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn itself() -> Command {
    Command::new(std::env::current_exe().unwrap())
}

/// Runs this program under strace, or says that there is none.
fn traced(arguments: &[&str]) -> Option<Command> {
    if !Command::new("strace").arg("-V").output().is_ok_and(|output| output.status.success()) {
        println!("skipped: strace is not installed");
        return None;
    }
    let mut command = Command::new("strace");
    command.arg("-f").args(arguments).arg(std::env::current_exe().unwrap());
    Some(command)
}

fn ack(line: &str) -> Option<u64> {
    // The harness may leave its own words on the line before the first of ours.
    line.rsplit_once("ack ").and_then(|(_, seq)| seq.trim().parse().ok())
}

/// Opens what the child left and compares every record with what it must be.
fn check(folder: &Path, acked: u64) -> Seq {
    let (log, opened) = SegmentLog::open(RealDisk::new(folder).unwrap(), options()).unwrap();
    assert!(opened.last.0 >= acked, "acknowledged {acked}, the log ends at {}", opened.last);
    let mut next = opened.first;
    let mut closed = true;
    let visit = &mut |entry: Entry<'_>| {
        let Entry::Record { seq, bytes, last_of_batch } = entry else { panic!("{entry:?}") };
        assert_eq!((seq, bytes), (next, record(seq.0).as_slice()));
        next = Seq(next.0 + 1);
        closed = last_of_batch;
        std::ops::ControlFlow::Continue(())
    };
    log.reader().scan(opened.first, opened.last, visit).unwrap();
    assert!(closed, "the last batch is whole");
    assert_eq!(next.0, opened.last.0 + 1);
    if let Some(mut snapshot) = log.snapshots().load().unwrap() {
        let mut state = Vec::new();
        snapshot.bytes.read_to_end(&mut state).unwrap();
        assert_eq!(state, snapshot.at.0.to_le_bytes());
    }
    opened.last
}

#[test]
fn a_killed_process_has_lost_nothing_that_it_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(1);
    let mut acked = 0;
    for round in 0..ROUNDS {
        let mut child = start(itself(), folder.path(), u64::MAX);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let wanted = 1 + random.below(8);
        let mut seen = 0;
        while seen < wanted {
            let line = lines.next().unwrap().unwrap();
            if let Some(seq) = ack(&line) {
                assert!(seq > acked, "round {round}: {seq} after {acked}");
                acked = seq;
                seen += 1;
            }
        }
        child.kill().unwrap();
        // What it had told before it died counts too; a line that was cut short does not.
        for line in lines.map_while(Result::ok) {
            acked = ack(&line)
                .filter(|seq| *seq > acked && seq.to_string().len() >= acked.to_string().len())
                .unwrap_or(acked);
        }
        child.wait().unwrap();
        check(folder.path(), acked);
    }
    assert!(verify(&RealDisk::new(folder.path()).unwrap()).unwrap().is_whole());
    println!("{ROUNDS} rounds, {acked} records");
}

#[test]
fn nothing_is_acknowledged_after_a_failed_sync() {
    for when in 1..=8 {
        let folder = tempfile::tempdir().unwrap();
        let inject = format!("inject=fdatasync:error=EIO:when={when}");
        let Some(command) = traced(&["-o", "/dev/null", "-e", "trace=fdatasync", "-e", &inject]) else {
            return;
        };
        let child = start(command, folder.path(), 10);
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (before, after) = text.split_once("failed").unwrap_or_else(|| panic!("at {when}: {text}"));
        assert!(after.lines().all(|line| ack(line).is_none()), "at {when}: {text}");
        check(folder.path(), before.lines().rev().find_map(ack).unwrap_or(0));
    }
}

#[test]
fn every_acknowledgement_has_a_sync_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    let path = trace.to_str().unwrap();
    let Some(command) = traced(&["-o", path, "-e", "trace=fdatasync,pwrite64,write"]) else { return };
    let log = folder.path().join("log");
    let output = start(command, &log, 30).wait_with_output().unwrap();
    assert!(output.status.success());
    let (mut dirty, mut synced, mut acks) = (false, false, 0);
    for line in std::fs::read_to_string(trace).unwrap().lines() {
        if line.contains("pwrite64(") {
            (dirty, synced) = (true, false);
        } else if line.contains("fdatasync") && line.trim_end().ends_with("= 0") {
            synced = true;
        } else if line.contains("write(1, \"ack ") {
            assert!(dirty && synced, "no sync before: {line}");
            (dirty, synced, acks) = (false, false, acks + 1);
        }
    }
    assert_eq!(acks, 30);
}

#[test]
fn a_folder_serves_one_process_and_may_be_copied() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("log"), folder.path().join("copy"));
    start(itself(), &first, 50).wait_with_output().unwrap();
    let (log, opened) = SegmentLog::open(RealDisk::new(&first).unwrap(), options()).unwrap();
    let again = SegmentLog::open(RealDisk::new(&first).unwrap(), options());
    assert!(matches!(again, Err(OpenError::InUse)));
    let output = start(itself(), &first, 1).wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("failed to open"));
    drop(log);
    std::fs::create_dir(&second).unwrap();
    for entry in std::fs::read_dir(&first).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), second.join(entry.file_name())).unwrap();
    }
    assert_eq!(check(&second, opened.last.0), opened.last);
}

#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(folder.path().join("probe"), b"").is_ok() {
        println!("skipped: this user may write everywhere");
        return;
    }
    let refused = SegmentLog::open(RealDisk::new(folder.path()).unwrap(), options()).err();
    assert!(matches!(refused, Some(OpenError::ReadOnly(_))), "{refused:?}");
}

#[test]
fn a_new_segment_is_all_zeros_wherever_it_lies() {
    // The second is a file system in memory, where there is one: not every one writes past the memory.
    let folders = [tempfile::tempdir().ok(), tempfile::tempdir_in("/dev/shm").ok()];
    for folder in folders.into_iter().flatten() {
        let disk = RealDisk::new(folder.path()).unwrap();
        for (name, bytes) in [("whole", 3 << 20), ("odd", (1 << 20) + 700)] {
            let file = disk.create(name).unwrap();
            file.fill(bytes).unwrap();
            let contents = std::fs::read(folder.path().join(name)).unwrap();
            assert_eq!(contents.len() as u64, bytes, "{name}");
            assert!(contents.iter().all(|byte| *byte == 0), "{name}");
            // What is written to it later is of any size.
            assert_eq!(file.write_at(b"odd", 17).unwrap(), 3);
        }
    }
}

#[test]
fn what_was_let_go_of_is_read_from_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let disk = RealDisk::new(folder.path()).unwrap();
    let (mut log, _) = SegmentLog::open(disk, Options { recent_bytes: 100 << 10, ..options() }).unwrap();
    let (mut syncer, keeper) = (log.syncer(), log.keeper());
    let mut batch = Batch::new();
    while log.keeper().extents().len() < 5 {
        batch.clear();
        let last = log.last();
        for seq in last.0 + 1..=last.0 + count_after(last.0) {
            batch.push(&record(seq));
        }
        log.append(last, &mut batch, Class::Normal).unwrap();
        syncer.sync().unwrap();
        keeper.keep().unwrap();
    }
    let mut seen = 0;
    let visited = log.reader().scan(Seq(1), log.last(), &mut |entry| {
        if let Entry::Record { seq, bytes, .. } = entry {
            assert_eq!(bytes, record(seq.0));
            seen += 1;
        }
        std::ops::ControlFlow::Continue(())
    });
    visited.unwrap();
    assert_eq!(seen, log.last().0);
    drop((log, syncer, keeper));
    let disk = RealDisk::existing(folder.path()).unwrap();
    assert!(verify(&disk).unwrap().is_whole());
}
