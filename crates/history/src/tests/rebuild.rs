//! The tables are a function of the log: however often the history is stopped, killed or made anew, they are the same.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use log::{Batch, Class, Entry, Log, Options, Reader, RealDisk, SegmentLog, Syncer};
use message::Seq;
use rusqlite::Connection;

use super::ops::{self, Seen};
use super::world::{Gate, Seeded, World, settings};
use crate::History;

/// Every table whose rows follow from the log.
const TABLES: [&str; 12] = [
    "messages",
    "deliveries",
    "participants",
    "agents",
    "aliases",
    "groups",
    "members",
    "sessions",
    "topics",
    "gaps",
    "counts",
    "vocabulary",
];
/// Tells a child process where to work.
const CHILD: &str = "HISTORY_TEST_CHILD";

/// Returns all rows of a file as text.
pub(super) fn dump(file: &Path) -> Vec<String> {
    let connection = Connection::open(file).unwrap();
    let mut rows = Vec::new();
    for table in TABLES {
        collect(&connection, table, &format!("SELECT * FROM {table}"), &mut rows);
    }
    connection
        .execute_batch("CREATE VIRTUAL TABLE temp.vocabulary_of_texts USING fts5vocab(main, texts, instance)")
        .unwrap();
    collect(&connection, "texts", "SELECT term, doc FROM temp.vocabulary_of_texts", &mut rows);
    let marks = "SELECT * FROM meta WHERE name IN ('applied', 'indexed', 'since', 'dead_max', 'fingerprint')";
    collect(&connection, "meta", marks, &mut rows);
    rows.sort_unstable();
    rows
}

fn collect(connection: &Connection, table: &str, text: &str, out: &mut Vec<String>) {
    let mut statement = connection.prepare(text).unwrap();
    let columns = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let values: Vec<String> =
            (0..columns).map(|column| format!("{:?}", row.get_ref(column).unwrap())).collect();
        // A count that came back to zero may have a row or not.
        if table != "counts" || values[2] != "Integer(0)" {
            out.push(format!("{table} {}", values.join(" ")));
        }
    }
}

/// Makes the tables of a world in one go and returns them.
fn from_scratch(world: &World, chunk_events: usize) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history.db");
    let gate = Gate::default();
    let mut settings = settings(&file);
    (settings.chunk_events, settings.cache_messages) = (chunk_events, 1_000);
    let history = world.history_with(settings, &gate);
    gate.open(world.log_last());
    history.catch_up(world.log_last());
    gate.stop();
    history.join();
    dump(&file)
}

#[test]
fn stopped_anywhere_it_goes_on_right() {
    for seed in 300..312 {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history.db");
        let mut world = World::with(seed, ops::tight());
        ops::play(&mut world, &mut Seen::default(), 300);
        let last = world.log_last();
        let mut random = Seeded(seed);
        let mut seen = 0;
        while seen < last.0 {
            seen = (seen + 1 + random.next_below(90)).min(last.0);
            let gate = Gate::default();
            let history = world.history_with(settings(&file), &gate);
            gate.open(Seq(seen));
            // Sometimes the texts are not done when it stops.
            if random.one_in(2) || seen == last.0 {
                history.catch_up(Seq(seen));
            } else {
                assert!(
                    history.shared.wait_until(super::world::LONG, |position| position.applied >= Seq(seen))
                );
            }
            assert!(history.position().applied <= Seq(seen), "it is never ahead of what is durable");
            gate.stop();
            history.join();
        }
        let found = dump(&file);
        assert!(found.len() > 200, "{} rows", found.len());
        assert_eq!(found, from_scratch(&world, 100_000), "seed {seed}");
        assert_eq!(found, from_scratch(&world, 1), "seed {seed}");
    }
}

#[test]
fn deleted_it_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history.db");
    let mut world = World::with(3, ops::tight());
    ops::play(&mut world, &mut Seen::default(), 200);
    let mut dumps = Vec::new();
    for _ in 0..2 {
        let gate = Gate::default();
        gate.open(world.log_last());
        let history = world.history_with(settings(&file), &gate);
        history.catch_up(world.log_last());
        gate.stop();
        history.join();
        dumps.push(dump(&file));
        std::fs::remove_file(&file).unwrap();
    }
    assert_eq!(dumps[0], dumps[1]);
}

/// Writes the log of a world to a folder of its own.
fn write_log(world: &World, folder: &Path) {
    let options = Options { record_bytes_max: 64 << 10, segment_bytes: 1 << 20, ..Options::small(5) };
    let (mut log, _) = SegmentLog::open(RealDisk::new(folder).unwrap(), options).unwrap();
    let mut batch = Batch::new();
    let copied = world.reader().scan(Seq(1), world.log_last(), &mut |entry| {
        if let Entry::Record { bytes, .. } = entry {
            batch.push(bytes);
        }
        std::ops::ControlFlow::Continue(())
    });
    copied.unwrap();
    log.append(log.last(), &mut batch, Class::Normal).unwrap();
    log.syncer().sync().unwrap();
}

fn open_log(folder: &Path) -> SegmentLog<RealDisk> {
    let options = Options { record_bytes_max: 64 << 10, segment_bytes: 1 << 20, ..Options::small(5) };
    SegmentLog::open(RealDisk::new(folder).unwrap(), options).unwrap().0
}

/// What the killed process does: follows the log in small steps and says how far it is, until it is killed.
#[test]
fn killed_child() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let folder = Path::new(&folder);
    let log = open_log(&folder.join("log"));
    let gate = Gate::default();
    let waiting = gate.clone();
    let start =
        History::start(settings(&folder.join("history.db")), log.reader(), move |after| waiting.wait(after));
    let history = start.unwrap();
    let from = history.position().applied.0;
    for seen in from..=log.last().0 {
        gate.open(Seq(seen));
        println!("applied {}", history.position().applied);
    }
    history.catch_up(log.last());
    println!("applied {}", history.position().applied);
}

#[test]
fn killed_anywhere_it_goes_on_right() {
    let mut world = World::with(77, ops::tight());
    ops::play(&mut world, &mut Seen::default(), 400);
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("log")).unwrap();
    write_log(&world, &folder.path().join("log"));
    let mut random = Seeded(5);
    let mut applied = 0;
    for _ in 0..8 {
        let wanted = applied + 10 + random.next_below(60);
        applied = run_and_kill(folder.path(), wanted.min(world.log_last().0));
    }
    let log = open_log(&folder.path().join("log"));
    let gate = Gate::default();
    gate.open(log.last());
    let waiting = gate.clone();
    let file = folder.path().join("history.db");
    let history = History::start(settings(&file), log.reader(), move |after| waiting.wait(after)).unwrap();
    assert!(history.position().applied > Seq(0), "what was done before is kept");
    history.catch_up(log.last());
    gate.stop();
    history.join();
    assert_eq!(dump(&file), from_scratch(&world, 1_000));
    assert!(!folder.path().join("history.db.damaged").exists());
}

/// Runs the child until it says that it has come somewhere, and kills it.
fn run_and_kill(folder: &Path, wanted: u64) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tests::rebuild::killed_child", "--nocapture"])
        .env(CHILD, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut applied = 0;
    for line in lines.map_while(Result::ok) {
        if let Some(number) = line.strip_prefix("applied ").and_then(|number| number.parse().ok()) {
            applied = number;
            if applied >= wanted {
                break;
            }
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(applied > 0, "the child did something");
    applied
}
