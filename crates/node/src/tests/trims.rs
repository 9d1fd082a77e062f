//! Trimming: old segments go, nothing that is needed does, whenever the process ends.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use broker::{
    Accept, AgentKey, Commit, Digest, Fingerprint, Identity, RecordChange, RecordWrite, Swap, Time,
};
use log::RealDisk;
use message::{Kind, Seq};
use tempfile::TempDir;

use super::bus::{Bus, settings};
use super::look::look;
use crate::driver::{Hook, Point};
use crate::{CallError, Clock, Hindrance, Keep, Node, Settings, Trim};

const SEGMENT: u64 = 128 << 10;
const DAY: Duration = Duration::from_secs(86_400);

/// A clock that stands still until somebody moves it.
#[derive(Default)]
struct SetClock(AtomicU64);

impl Clock for SetClock {
    fn steady(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::Relaxed))
    }

    fn wall(&self) -> Time {
        Time(1_700_000_000_000 + self.0.load(Ordering::Relaxed))
    }
}

impl SetClock {
    fn pass(&self, time: Duration) {
        self.0.fetch_add(time.as_millis().try_into().unwrap(), Ordering::Relaxed);
    }
}

fn small(folder: &Path) -> Settings {
    let mut settings = settings(folder);
    (settings.log.segment_bytes, settings.log.first_segment_bytes) = (SEGMENT, SEGMENT);
    settings.log.record_bytes_max = 16 << 10;
    settings
}

fn segments(count: u64) -> Keep {
    Keep { bytes: Some(count * SEGMENT), ..Keep::WHOLE }
}

/// Reads everything at once.
fn follow(node: &Node) {
    let follower = node.clone();
    node.trim_behind(move || Some(follower.durable()));
}

/// A body that no other message has.
fn body(name: &str) -> String {
    format!("{name} {}", name.repeat(400 / name.len()))
}

/// Sends messages and settles them, so many times.
async fn pass(bus: &Bus, count: u32, round: &str) {
    for number in 0..count {
        bus.send(&format!("{round}-{number}"), &"x".repeat(4_000)).await;
        settle_newest(bus).await;
    }
}

/// Settles the message that was sent last.
async fn settle_newest(bus: &Bus) {
    let mut letters = bus.take(1_000).await;
    bus.ack(&letters.pop().unwrap()).await;
    for letter in &letters {
        bus.give_back(letter).await;
    }
}

/// Sends messages that nobody takes.
async fn wait(bus: &Bus, names: &[&str]) {
    for name in names {
        bus.send(name, &body(name)).await;
    }
}

/// Returns what waits, as a new start hands it out.
async fn left(settings: Settings) -> Vec<String> {
    let bus = Bus::open(settings).await;
    let letters = bus.take(1_000).await;
    let mut bodies = bus.bodies(&letters);
    bodies.sort_unstable();
    for letter in &letters {
        bus.give_back(letter).await;
    }
    bus.node.shut_down();
    bodies
}

#[tokio::test]
async fn what_is_settled_goes_and_what_is_not_is_carried() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(small(folder.path())).await;
    follow(&bus.node);
    wait(&bus, &["a", "b", "c"]).await;
    pass(&bus, 200, "old").await;
    let trial = bus.node.trim(segments(2), true).await.unwrap();
    assert_eq!((bus.node.log_first(), trial.carried), (Seq(1), 3), "a trial changes nothing");
    let before = bus.node.log_bytes();
    let trimmed = bus.node.trim(segments(2), false).await.unwrap();
    assert_eq!(trimmed, trial);
    assert_eq!((bus.node.log_first(), trimmed.hindrance), (trimmed.first, None));
    assert!(trimmed.segments >= 5 && bus.node.log_bytes() < before, "{trimmed:?}");
    let again = bus.node.trim(segments(2), false).await.unwrap();
    assert_eq!((again.segments, again.carried), (0, 0), "{again:?}");
    bus.node.shut_down();
    drop(bus);
    assert_eq!(left(small(folder.path())).await, ["a", "b", "c"].map(body));
    let report = log::verify(&RealDisk::new(folder.path()).unwrap()).unwrap();
    assert!(report.is_whole(), "{report}");
    assert_eq!(report.trimmed.unwrap().range.last.0 + 1, trimmed.first.0);
}

#[tokio::test]
async fn only_what_is_old_goes() {
    let folder = TempDir::new().unwrap();
    let clock = Arc::new(SetClock::default());
    let bus = Bus::open_at(small(folder.path()), Arc::clone(&clock) as Arc<dyn Clock>).await;
    follow(&bus.node);
    let keep = Keep { time: Some(DAY), ..Keep::WHOLE };
    pass(&bus, 100, "old").await;
    let last = bus.node.durable();
    clock.pass(DAY / 2);
    pass(&bus, 100, "young").await;
    assert_eq!(bus.node.trim(keep, false).await.unwrap().segments, 0);
    clock.pass(DAY / 2);
    let trimmed = bus.node.trim(keep, false).await.unwrap();
    assert!(trimmed.segments > 1 && trimmed.first <= last, "{trimmed:?} of {last} old ones");
    let rest = bus.node.trim(keep, true).await.unwrap();
    assert_eq!(rest.segments, 0, "{rest:?}");
    clock.pass(DAY);
    assert!(bus.node.trim(keep, false).await.unwrap().first > last);
    bus.node.shut_down();
}

#[tokio::test]
async fn nothing_goes_that_was_not_read_or_is_mostly_needed() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(small(folder.path())).await;
    pass(&bus, 100, "old").await;
    let kept = |trim: Trim| (trim.first, trim.segments, trim.hindrance);
    let trim = bus.node.trim(segments(1), false).await.unwrap();
    assert_eq!(kept(trim), (Seq(1), 0, Some(Hindrance::Unread)), "nobody follows");
    bus.node.trim_behind(|| Some(Seq(150)));
    let trim = bus.node.trim(segments(1), false).await.unwrap();
    assert_eq!((trim.hindrance, trim.first <= Seq(151)), (Some(Hindrance::Unread), true), "{trim:?}");
    bus.node.shut_down();
    drop(bus);
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(small(folder.path())).await;
    follow(&bus.node);
    for number in 0..200 {
        bus.send(&number.to_string(), &"x".repeat(4_000)).await;
    }
    let trim = bus.node.trim(segments(1), false).await.unwrap();
    assert_eq!(kept(trim), (Seq(1), 0, Some(Hindrance::Living)));
    bus.node.shut_down();
}

#[tokio::test]
async fn what_was_handed_out_before_is_read_after() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(small(folder.path())).await;
    follow(&bus.node);
    bus.send("a", &body("a")).await;
    let letters = bus.take(1).await;
    for round in ["one", "two"] {
        pass(&bus, 150, round).await;
        assert!(bus.node.trim(segments(1), false).await.unwrap().segments > 0);
        assert!(bus.node.log_first() > letters[0].delivery.body);
        assert_eq!(bus.bodies(&letters), [body("a")]);
    }
    let (gone, kept, later) = (Seq(1), letters[0].delivery.body, Seq(u64::MAX));
    let mut bodies = bus.node.body_reader(vec![gone, kept, gone, later, kept, kept]);
    let mut at_hand = Vec::new();
    for _ in 0..5 {
        at_hand.push(bodies.next().await.unwrap().ok());
    }
    let a = Some(body("a").into());
    assert_eq!(at_hand, [None, a.clone(), None, None, a]);
    let bytes = body("a").len();
    for (bytes_max, count) in [(0, 1), (bytes, 1), (bytes + 1, 2), (2 * bytes + 1, 3), (usize::MAX, 3)] {
        let (bodies, read) = bus.node.bodies_within(&[kept; 3], bytes_max);
        assert_eq!((bodies.len(), read.is_ok()), (count, true));
    }
    bus.node.shut_down();
}

#[tokio::test]
async fn a_process_that_ends_while_it_trims_has_lost_nothing() {
    let folder = TempDir::new().unwrap();
    let images = TempDir::new().unwrap();
    let points: Arc<Mutex<Vec<Point>>> = Arc::default();
    let mut trimming = small(folder.path());
    let (from, to, passed) = (folder.path().to_owned(), images.path().to_owned(), Arc::clone(&points));
    trimming.hook = Hook(Some(Arc::new(move |point| {
        let mut passed = passed.lock().unwrap();
        copy(&from, &to.join(passed.len().to_string()));
        passed.push(point);
    })));
    let bus = Bus::open(trimming).await;
    follow(&bus.node);
    wait(&bus, &["a", "b", "c"]).await;
    pass(&bus, 150, "old").await;
    let trimmed = bus.node.trim(segments(1), false).await.unwrap();
    assert_eq!(trimmed.carried, 3);
    bus.node.shut_down();
    let points = points.lock().unwrap().clone();
    assert_eq!(points[..3], [Point::Carried, Point::Covered, Point::GivenUp]);
    assert_eq!(points.len() as u64, 2 + trimmed.segments);
    for (number, point) in points.iter().enumerate() {
        let image = images.path().join(number.to_string());
        assert_eq!(left(small(&image)).await, ["a", "b", "c"].map(body), "at {point:?}, {number}");
        // What was begun is finished.
        let bus = Bus::open(small(&image)).await;
        follow(&bus.node);
        let again = bus.node.trim(segments(1), false).await.unwrap();
        assert_eq!((again.hindrance, again.first >= trimmed.first), (None, true), "at {point:?}: {again:?}");
        bus.node.shut_down();
        drop(bus);
        assert_eq!(left(small(&image)).await, ["a", "b", "c"].map(body));
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
}

#[tokio::test]
async fn a_full_disk_is_trimmed_and_goes_on() {
    let folder = TempDir::new().unwrap();
    let mut full = small(folder.path());
    full.log.bytes_max = Some(10 * SEGMENT);
    let bus = Bus::open(full.clone()).await;
    follow(&bus.node);
    wait(&bus, &["a", "b"]).await;
    let mut number = 0;
    let refused = loop {
        number += 1;
        let sent =
            bus.send_kind(&number.to_string(), &"x".repeat(4_000), message::Kind::Note, None, None).await;
        if let Err(error) = sent {
            break error;
        }
        settle_newest(&bus).await;
    };
    assert_eq!(refused, CallError::NoRoom);
    let trimmed = bus.node.trim(segments(3), false).await.unwrap();
    assert!(trimmed.segments > 2 && trimmed.hindrance.is_none(), "{trimmed:?}");
    pass(&bus, 40, "again").await;
    bus.node.shut_down();
    drop(bus);
    assert_eq!(left(full).await, ["a", "b"].map(body));
}

/// Chance that is the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

#[tokio::test]
async fn whatever_is_trimmed_all_that_waits_arrives_as_it_was_sent() {
    for seed in 0..2 {
        let folder = TempDir::new().unwrap();
        let mut dice = Dice(seed);
        let keep = Keep { bytes: Some(3 * SEGMENT), time: None };
        let settings = Settings { keep, snapshot_bytes: 4 * SEGMENT, ..small(folder.path()) };
        // By the number of each message, its body.
        let mut waiting: BTreeMap<String, String> = BTreeMap::new();
        let (mut number, mut first) = (0, Seq(1));
        for _life in 0..3 {
            let bus = Bus::open(settings.clone()).await;
            follow(&bus.node);
            for _ in 0..180 {
                number += 1;
                let (id, length) = (number.to_string(), dice.below(6_000));
                let body = format!("{id} {}", "y".repeat(length.try_into().unwrap()));
                bus.send(&id, &body).await;
                waiting.insert(id, body);
                if dice.below(10) == 0 {
                    continue;
                }
                for letter in bus.take(1 + u32::try_from(dice.below(3)).unwrap()).await {
                    let body = bus.bodies(std::slice::from_ref(&letter)).remove(0);
                    let id = body.split(' ').next().unwrap().to_owned();
                    assert_eq!(waiting.get(&id), Some(&body), "seed {seed}");
                    if dice.below(20) > 0 {
                        bus.ack(&letter).await;
                        waiting.remove(&id);
                    } else {
                        bus.give_back(&letter).await;
                    }
                }
            }
            // Whatever the upkeep was doing, it has done when it answers.
            bus.node.trim(keep, true).await.unwrap();
            first = bus.node.log_first();
            bus.node.shut_down();
        }
        assert!(first > Seq(300), "seed {seed}: nothing was trimmed: {first}");
        let expected: Vec<String> = {
            let mut bodies: Vec<String> = waiting.into_values().collect();
            bodies.sort_unstable();
            bodies
        };
        assert!(left(settings).await == expected, "seed {seed}");
    }
}

#[tokio::test]
async fn the_log_trims_itself() {
    let folder = TempDir::new().unwrap();
    let settings = Settings { keep: segments(2), ..small(folder.path()) };
    let bus = Bus::open(settings).await;
    follow(&bus.node);
    wait(&bus, &["a"]).await;
    let mut rounds = 0;
    while bus.node.log_first() < Seq(500) {
        rounds += 1;
        assert!(rounds < 100, "nothing is given up");
        pass(&bus, 20, &rounds.to_string()).await;
    }
    bus.node.shut_down();
}

/// Writes a record of ann's that is a note of hers.
async fn write(bus: &Bus, key: &str, text: &str) {
    commit(bus, key, text, None).await;
}

/// Writes a record of ann's that is a message to bob.
async fn write_message(bus: &Bus, key: &str, text: &str) {
    let (to, body) = (vec!["bob".parse().unwrap()], text.to_owned().into());
    let accept = Accept::new(bus.ann, to, Kind::Note, Identity::Content, body);
    commit(bus, key, text, Some(Box::new(accept))).await;
}

async fn commit(bus: &Bus, key: &str, text: &str, submit: Option<Box<Accept>>) {
    let mut cid = Digest::default();
    cid.0[..16].copy_from_slice(&Fingerprint::of(&[text.as_bytes()]).0);
    let (document, blobs) = (text.to_owned().into(), Vec::new());
    let change = RecordChange::Set { cid, document, submit, blobs };
    let (collection, key) = ("x.notes".into(), Some(key.into()));
    let writes = vec![RecordWrite { collection, key, swap: Swap::Anything, change }];
    let commit = Commit { repo: bus.ann, did: "did:web:ann.example".into(), swap: None, writes };
    assert!(bus.node.execute(commit).await.unwrap().head.is_some());
}

/// Reads all records of somebody.
async fn records(node: &Node, repo: AgentKey) -> BTreeMap<String, String> {
    let places = look(node, move |broker| {
        let records = broker.records(repo, "x.notes", None, None);
        records.map(|record| (record.key.to_owned(), record.body)).collect::<Vec<_>>()
    });
    let places = places.await.unwrap();
    let read = |place| String::from_utf8(node.body_blocking(place).unwrap().to_vec()).unwrap();
    places.into_iter().map(|(key, place)| (key, read(place))).collect()
}

#[tokio::test]
async fn every_record_is_there_as_it_was_written() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(small(folder.path())).await;
    follow(&bus.node);
    let mut expected = BTreeMap::new();
    for number in 0..40 {
        let (key, text) = (format!("k{number}"), body(&format!("note {number}")));
        write(&bus, &key, &text).await;
        expected.insert(key, text);
    }
    write(&bus, "k7", "another").await;
    expected.insert("k7".to_owned(), "another".to_owned());
    // A record that is a message: of one the message stays open, of the other the record outlives it.
    for name in ["open", "over"] {
        write_message(&bus, name, &body(name)).await;
        expected.insert(name.to_owned(), body(name));
    }
    settle_newest(&bus).await;
    for round in ["one", "two"] {
        pass(&bus, 200, round).await;
        let before = records(&bus.node, bus.ann).await;
        let trimmed = bus.node.trim(segments(2), false).await.unwrap();
        assert!(trimmed.segments >= 5 && trimmed.hindrance.is_none(), "{trimmed:?}");
        // 42 records, and one of the two messages.
        assert_eq!((trimmed.carried, before), (43, expected.clone()), "{round}");
        assert!(records(&bus.node, bus.ann).await == expected, "{round}");
    }
    let ann = bus.ann;
    bus.node.shut_down();
    drop(bus);
    assert_eq!(left(small(folder.path())).await, [body("open")]);
    let bus = Bus::open(small(folder.path())).await;
    assert!(records(&bus.node, ann).await == expected);
    bus.node.shut_down();
}

#[tokio::test]
async fn a_record_that_is_looked_at_while_it_is_carried_is_read() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(small(folder.path())).await;
    follow(&bus.node);
    write_message(&bus, "a", &body("a")).await;
    let repo = bus.ann;
    let place = look(&bus.node, move |broker| broker.record(repo, "x.notes", "a").unwrap().body);
    let place = place.await.unwrap();
    for round in ["one", "two"] {
        pass(&bus, 150, round).await;
        assert_eq!(bus.node.trim(segments(1), false).await.unwrap().carried, 2);
        assert!(bus.node.log_first() > place);
        assert_eq!(bus.node.body_blocking(place).unwrap(), body("a").into_bytes());
    }
    bus.node.shut_down();
}
