//! Files that are damaged, of another form or of another log; logs that were trimmed or salvaged.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use log::{Entry, Log, LogReader, MemDisk, ReadError, Reader, SegmentLog, Snapshots, Syncer, salvage};
use message::Seq;

use super::ops::{self, Seen};
use super::rebuild::dump;
use super::world::{Gate, Seeded, World, options, settings};
use crate::{Happening, History, HistoryError, Position, Query, Scope, Watch};

fn played(seed: u64) -> World {
    let mut world = World::with(seed, ops::tight());
    ops::play(&mut world, &mut Seen::default(), 250);
    world
}

/// Follows a world to its end and stops.
fn follow(world: &World, file: &Path) -> Position {
    let gate = Gate::default();
    gate.open(world.log_last());
    let history = world.history_with(settings(file), &gate);
    history.catch_up(world.log_last());
    let position = history.position();
    gate.stop();
    history.join();
    position
}

#[test]
fn a_history_that_has_seen_nothing_yet_answers() {
    let folder = tempfile::tempdir().unwrap();
    let world = played(1);
    // The gate is shut: the file was made, and not one event has come.
    let gate = Gate::default();
    let history = world.history_with(settings(&folder.path().join("history.db")), &gate);
    for _ in 0..20 {
        assert_eq!(history.find(&Query::new(Scope::Everything, 10)).unwrap().rows, []);
        let happenings = history.happenings(Seq(0), 10, &Scope::Everything, &Watch::default()).unwrap();
        assert_eq!((happenings.list, happenings.upto), (Vec::new(), Seq(0)));
    }
    gate.stop();
    history.join();
    assert!(history.find(&Query::new(Scope::Everything, 10)).is_ok());
}

/// Does something to a good file; it must be set aside and made anew.
fn check_replaced(what: &str, ending: &str, hurt: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history.db");
    let world = played(1);
    follow(&world, &file);
    let good = dump(&file);
    hurt(&file);
    let hurt = std::fs::read(&file).unwrap();
    follow(&world, &file);
    assert_eq!(dump(&file), good, "{what}");
    let mut aside = file.into_os_string();
    aside.push(ending);
    let aside = Path::new(&aside);
    assert!(aside.exists(), "{what}: nothing was set aside");
    assert_eq!(std::fs::read(aside).unwrap().len(), hurt.len(), "{what}: it is kept as it was");
}

/// Writes over a part of a file.
fn overwrite(file: &Path, from: usize, to: usize) {
    let mut bytes = std::fs::read(file).unwrap();
    let to = to.min(bytes.len());
    bytes[from..to].fill(0xa5);
    std::fs::write(file, bytes).unwrap();
}

#[test]
fn a_damaged_file_is_set_aside_and_made_anew() {
    check_replaced("not a database", ".damaged", |file| {
        std::fs::write(file, "this is no database at all").unwrap()
    });
    check_replaced("a wrong header", ".damaged", |file| overwrite(file, 0, 100));
    check_replaced("a wrong schema page", ".damaged", |file| overwrite(file, 100, 4_000));
    check_replaced("wrong pages after it was not closed", ".damaged", |file| {
        set(file, "UPDATE meta SET value = 0 WHERE name = 'closed'");
        let bytes = usize::try_from(std::fs::metadata(file).unwrap().len()).unwrap();
        overwrite(file, bytes / 2, bytes);
    });
    check_replaced("a code that nobody wrote", ".damaged", |file| {
        set(file, "INSERT INTO agents VALUES (99, 'x', 77, 0)");
    });
}

#[test]
fn a_file_of_another_form_is_set_aside_and_made_anew() {
    check_replaced("a newer form", ".old-form", |file| set(file, "PRAGMA user_version = 99"));
    check_replaced("somebody else's", ".old-form", |file| set(file, "PRAGMA application_id = 1"));
}

fn set(file: &Path, text: &str) {
    let connection = rusqlite::Connection::open(file).unwrap();
    connection.execute_batch(text).unwrap();
    connection.close().unwrap();
}

#[test]
fn a_file_of_another_log_is_set_aside_and_made_anew() {
    for (one, other) in [(1, 2), (2, 1)] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history.db");
        follow(&played(one), &file);
        let world = played(other);
        follow(&world, &file);
        let found = dump(&file);
        assert!(folder.path().join("history.db.other-log").exists());
        std::fs::remove_file(&file).unwrap();
        follow(&world, &file);
        assert_eq!(found, dump(&file));
    }
    // A log that lost its end is another log: what it goes on with is not what the tables have.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history.db");
    follow(&played(1), &file);
    let empty = World::new(1);
    let gate = Gate::default();
    let history = empty.history_with(settings(&file), &gate);
    assert_eq!(history.position().applied, Seq(0));
    gate.stop();
    history.join();
    assert!(folder.path().join("history.db.other-log").exists());
}

/// What is set aside a second time does not take the place of the first.
#[test]
fn nothing_that_was_set_aside_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history.db");
    let world = played(1);
    for _ in 0..3 {
        std::fs::write(&file, "no database").unwrap();
        follow(&world, &file);
    }
    for name in ["history.db.damaged", "history.db.damaged.2", "history.db.damaged.3"] {
        assert!(folder.path().join(name).exists(), "{name}");
    }
}

#[test]
fn a_place_that_cannot_be_used_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(1);
    let gate = world.gate.clone();
    let file = folder.path().join("no such folder/history.db");
    let started = History::start(settings(&file), world.reader(), move |after| gate.wait(after));
    assert!(matches!(started.err(), Some(HistoryError::Database(_))));
}

/// A log that cannot be read for a while.
#[derive(Clone)]
struct Unreadable {
    reader: LogReader<MemDisk>,
    is_broken: Arc<AtomicBool>,
}

impl Unreadable {
    fn check(&self) -> Result<(), ReadError> {
        let broken = || ReadError::Storage(std::io::Error::other("the disk sulks"));
        if self.is_broken.load(Ordering::SeqCst) { Err(broken()) } else { Ok(()) }
    }
}

impl Reader for Unreadable {
    fn read(&self, seq: Seq) -> Result<Vec<u8>, ReadError> {
        self.check().and_then(|()| self.reader.read(seq))
    }

    fn read_many(
        &self,
        seqs: &[Seq],
        visit: &mut dyn FnMut(Seq, &[u8]) -> ControlFlow<()>,
    ) -> Result<(), ReadError> {
        self.check().and_then(|()| self.reader.read_many(seqs, visit))
    }

    fn scan(
        &self,
        from: Seq,
        to: Seq,
        visit: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<(), ReadError> {
        self.check().and_then(|()| self.reader.scan(from, to, visit))
    }
}

#[test]
fn a_log_that_cannot_be_read_is_told_and_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history.db");
    let mut world = played(8);
    let reader = Unreadable { reader: world.reader(), is_broken: Arc::new(AtomicBool::new(true)) };
    let (is_broken, gate) = (Arc::clone(&reader.is_broken), world.gate.clone());
    // The second time that it waits for something new, it has met the failure and told it.
    let (met, has_met) = std::sync::mpsc::channel();
    let last = world.log_last();
    let wait = move |after: Seq| {
        if after == last {
            met.send(()).unwrap();
        }
        gate.wait(after)
    };
    let history = History::start(settings(&file), reader, wait).unwrap();
    has_met.recv().unwrap();
    let trouble = history.trouble().unwrap();
    assert!(trouble.contains("cannot read the log") && trouble.contains("sulks"), "{trouble}");
    assert_eq!(history.position().applied, Seq(0));
    is_broken.store(false, Ordering::SeqCst);
    let ann = world.register("zoe");
    world.send(ann, &["human"], "something new");
    history.catch_up(world.log_last());
    assert_eq!(history.trouble(), None);
    world.gate.stop();
    history.join();
    let found = dump(&file);
    std::fs::remove_file(&file).unwrap();
    follow(&world, &file);
    assert_eq!(found, dump(&file));
}

#[test]
fn damage_that_is_met_later_is_set_aside_and_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history.db");
    let mut world = World::new(1);
    let (ann, bob) = (world.register("ann"), world.register("bob"));
    let history = world.history(&file);
    let first = world.send(ann, &["bob"], "the first");
    for _ in 0..40 {
        world.send(ann, &["bob"], "one of many, so that the first is no longer in memory");
    }
    history.catch_up(world.log_last());
    set(&file, "UPDATE deliveries SET state = 9 WHERE message = (SELECT min(seq) FROM messages)");
    world.run(&broker::Command::Process { agent: bob, message: first, by: "test".into() }).unwrap();
    history.catch_up(world.log_last());
    assert_eq!(history.trouble(), None);
    let receipt = history.receipt(first).unwrap().unwrap();
    assert_eq!(Some(receipt.recipients), world.broker.receipt(first));
    world.gate.stop();
    history.join();
    assert!(folder.path().join("history.db.damaged").exists());
    let found = dump(&file);
    std::fs::remove_file(&file).unwrap();
    follow(&world, &file);
    assert_eq!(found, dump(&file));
}

/// Gives up the first half of a log.
fn trim(world: &mut World) -> Seq {
    for _ in 0..2 {
        let last = world.log_last();
        world.log.snapshots().store(last, |to| to.write_all(b"a state")).unwrap();
        ops::play(world, &mut Seen::default(), 120);
    }
    world.log.truncate_before(world.log_last()).unwrap()
}

#[test]
fn a_trimmed_log_is_told_and_not_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, late, new) =
        (folder.path().join("whole.db"), folder.path().join("late.db"), folder.path().join("new.db"));
    let mut world = played(4);
    follow(&world, &late);
    let seen = world.log_last();
    let before = dump(&late).len();
    ops::play(&mut world, &mut Seen::default(), 150);
    let gate = Gate::default();
    let history = world.history_with(settings(&whole), &gate);
    let first = trim(&mut world);
    assert!(first.0 > seen.0 + 1, "{first} {seen}");
    // One that followed before, and has missed a part.
    let position = follow(&world, &late);
    assert_eq!((position.since, position.applied), (first, world.log_last()));
    let rows = dump(&late);
    assert!(rows.len() > before, "what it had, it still has");
    let gap = format!("gaps Integer({}) Integer({}) Text(\"trimmed\")", seen.0 + 1, first.0 - 1);
    assert!(rows.iter().any(|row| row.starts_with(&gap[..gap.len() - 12])), "{gap}");
    // One that begins now.
    let position = follow(&world, &new);
    assert_eq!((position.since, position.applied), (first, world.log_last()));
    // One that runs while the log is trimmed before its eyes.
    gate.open(world.log_last());
    history.catch_up(world.log_last());
    assert_eq!(history.position().since, first);
    let everything = Query { after: Some(Seq(0)), ..Query::new(Scope::Everything, 1_000) };
    let rows = history.find(&everything).unwrap().rows;
    assert!(!rows.is_empty() && rows.iter().all(|row| row.seq >= first));
    let happenings = history.happenings(Seq(0), 5, &Scope::Everything, &Watch::default()).unwrap();
    assert_eq!(happenings.list[0], Happening::Gap { first: Seq(1), last: Seq(first.0 - 1) });
    gate.stop();
    history.join();
}

#[test]
fn what_only_the_file_knows_is_not_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history.db");
    let mut world = played(4);
    ops::play(&mut world, &mut Seen::default(), 250);
    follow(&world, &file);
    let first = trim(&mut world);
    assert!(first > Seq(1));
    follow(&world, &file);
    let rows = dump(&file);
    let whole = std::fs::read(&file).unwrap();
    let start = |settings: crate::Settings| {
        let gate = Gate::default();
        gate.open(world.log_last());
        let waiting = gate.clone();
        let history = History::start(settings, world.log.reader(), move |after| waiting.wait(after));
        (gate, history)
    };
    let damages: [(&str, &dyn Fn()); 3] = [
        ("is damaged", &|| std::fs::write(&file, b"no database at all, but long enough to look").unwrap()),
        ("was written by another version", &|| set(&file, "PRAGMA user_version = 99")),
        ("tells of another log", &|| {
            set(&file, "UPDATE meta SET value = 1000000 WHERE name IN ('applied', 'indexed')")
        }),
    ];
    for (why, damage) in damages {
        std::fs::write(&file, &whole).unwrap();
        damage();
        let damaged = std::fs::read(&file).unwrap();
        match start(settings(&file)).1.err() {
            Some(HistoryError::Irreplaceable { why: said, first: begins, .. }) => {
                assert_eq!((said, begins), (why, first));
            }
            other => panic!("{why}: {other:?}"),
        }
        assert!(std::fs::read(&file).unwrap() == damaged, "{why}: it stays as it is");
        let (gate, history) = start(crate::Settings { is_lossy: true, ..settings(&file) });
        let history = history.unwrap();
        history.catch_up(world.log_last());
        assert_eq!(history.position().since, first, "{why}");
        gate.stop();
        history.join();
    }
    std::fs::write(&file, &whole).unwrap();
    follow(&world, &file);
    assert_eq!(dump(&file), rows, "one that is whole serves on");
}

#[test]
fn what_was_secured_needs_nothing_beside_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let (file, copy) = (folder.path().join("history.db"), folder.path().join("copy.db"));
    let mut world = World::new(1);
    let (ann, _) = (world.register("ann"), world.register("bob"));
    let history = world.history(&file);
    history.catch_up(world.log_last());
    assert_eq!(history.secure(), None, "it was not written carefully so far");
    for number in 0..200 {
        world.send(ann, &["bob"], &format!("number {number}"));
    }
    history.catch_up(world.log_last());
    assert_eq!(history.secure(), Some(world.log_last()));
    // What a power loss leaves for sure.
    std::fs::copy(&file, &copy).unwrap();
    let store = crate::store::Store::open(&settings(&copy)).unwrap();
    assert!(store.is_sound().unwrap());
    assert_eq!(store.marks().unwrap().applied, world.log_last());
    world.gate.stop();
    history.join();
}

/// Damages a log in its middle and salvages it.
fn salvaged(world: &World, seed: u64) -> (SegmentLog<MemDisk>, Vec<log::Range>) {
    let disk = world.disk.copy();
    let mut segments: Vec<_> =
        disk.files().into_iter().filter(|(name, _)| name.ends_with(".segment")).collect();
    segments.sort();
    let mut random = Seeded(seed);
    let (name, _) = &segments[0];
    for _ in 0..3 {
        disk.flip(name, 5_000 + random.next_below(20_000), 0x40);
    }
    let salvaged = salvage(&disk).unwrap();
    assert!(!salvaged.missing.is_empty(), "{salvaged:?}");
    (SegmentLog::open(disk, options()).unwrap().0, salvaged.missing)
}

#[test]
fn what_a_salvage_left_out_is_noted_and_passed() {
    let mut world = played(6);
    world.log.mark().unwrap();
    world.log.syncer().sync().unwrap();
    for seed in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history.db");
        let (log, missing) = salvaged(&world, seed);
        let gate = Gate::default();
        gate.open(log.last());
        let waiting = gate.clone();
        let history =
            History::start(settings(&file), log.reader(), move |after| waiting.wait(after)).unwrap();
        history.catch_up(log.last());
        assert_eq!(history.trouble(), None);
        let happenings = history.happenings(Seq(0), 10_000, &Scope::Everything, &Watch::default()).unwrap();
        let gaps: Vec<(Seq, Seq)> = happenings
            .list
            .iter()
            .filter_map(|happening| match happening {
                Happening::Gap { first, last } => Some((*first, *last)),
                Happening::Happened(_) => None,
            })
            .collect();
        let expected: Vec<(Seq, Seq)> = missing.iter().map(|range| (range.first, range.last)).collect();
        assert_eq!(gaps, expected, "seed {seed}");
        assert_eq!(happenings.upto, log.last());
        let page =
            history.find(&Query { after: Some(Seq(0)), ..Query::new(Scope::Everything, 1_000) }).unwrap();
        let is_missing = |seq: Seq| missing.iter().any(|range| range.first <= seq && seq <= range.last);
        assert!(!page.rows.is_empty() && page.rows.iter().all(|row| !is_missing(row.seq)));
        gate.stop();
        history.join();
        let noted = dump(&file).iter().filter(|row| row.starts_with("gaps ")).count();
        assert_eq!(noted, missing.len(), "seed {seed}");
    }
}
