//! What was answered is there after a stop, whatever kind of stop.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tempfile::TempDir;

use super::bus::{Bus, settings};
use super::look::look;
use crate::{Node, StartError, SystemClock};

#[tokio::test]
async fn what_was_accepted_is_there_after_a_stop() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(settings(folder.path())).await;
    bus.send("a", "first").await;
    bus.send("b", "second").await;
    let letters = bus.take(1).await;
    bus.ack(&letters[0]).await;
    bus.node.shut_down();
    drop(bus);
    let bus = Bus::open(settings(folder.path())).await;
    assert_eq!((bus.started.replayed, bus.started.cut.is_none()), (0, true));
    let letters = bus.take(10).await;
    assert_eq!(bus.bodies(&letters), ["second"]);
}

#[tokio::test]
async fn a_repeat_is_known_after_a_stop() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(settings(folder.path())).await;
    let id = bus.send("a", "first").await;
    bus.node.shut_down();
    drop(bus);
    let bus = Bus::open(settings(folder.path())).await;
    assert_eq!(bus.send("a", "first").await, id);
    assert_eq!(bus.take(10).await.len(), 1);
}

#[tokio::test]
async fn a_start_uses_the_snapshot_that_was_folded_behind_the_log() {
    let folder = TempDir::new().unwrap();
    let snapshots = crate::Settings { snapshot_bytes: 1, ..settings(folder.path()) };
    let bus = Bus::open(snapshots.clone()).await;
    for number in 0..50 {
        bus.send(&format!("m{number}"), "body").await;
    }
    let live = look(&bus.node, |broker| {
        let mut bytes = Vec::new();
        broker.snapshot(&mut bytes);
        (broker.last(), bytes)
    });
    let (last, live) = live.await.unwrap();
    bus.node.shut_down();
    drop(bus);
    let (node, started) = Node::start(snapshots, Arc::new(SystemClock::new())).unwrap();
    assert_eq!((started.snapshot, started.replayed, started.last), (Some(last), 0, last));
    node.shut_down();
    drop(node);
    // The same state without any snapshot.
    remove_snapshots(folder.path());
    let disk = log::RealDisk::new(folder.path()).unwrap();
    let (log, _) = log::SegmentLog::open(disk, settings(folder.path()).log).unwrap();
    let broker = settings(folder.path()).broker;
    let folded =
        crate::driver::load(&log::Log::snapshots(&log), &log::Log::reader(&log), &broker, last).unwrap();
    let mut bytes = Vec::new();
    folded.broker.snapshot(&mut bytes);
    assert_eq!((folded.snapshot, bytes == live), (None, true));
}

#[tokio::test]
async fn a_second_node_on_the_folder_is_refused() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(settings(folder.path())).await;
    let second = Node::start(settings(folder.path()), Arc::new(SystemClock::new()));
    assert!(matches!(second, Err(StartError::Log(log::OpenError::InUse))));
    bus.node.shut_down();
}

#[tokio::test]
async fn calls_after_the_stop_are_told_so() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(settings(folder.path())).await;
    bus.node.shut_down();
    assert_eq!(look(&bus.node, |_| ()).await, Err(crate::CallError::Stopped));
    assert_eq!(bus.node.stopped().await, None);
}

#[tokio::test]
async fn what_is_asked_together_is_synced_together() {
    let folder = TempDir::new().unwrap();
    let bus = Arc::new(Bus::open(settings(folder.path())).await);
    let before = bus.node.counters().batches.load(Ordering::Relaxed);
    let mut sends = Vec::new();
    for number in 0..500 {
        let bus = Arc::clone(&bus);
        sends.push(async move { bus.send(&format!("m{number}"), "body").await });
    }
    let ids = futures(sends).await;
    let batches = bus.node.counters().batches.load(Ordering::Relaxed) - before;
    assert_eq!(ids.len(), 500);
    assert!(batches < 250, "{batches} batches for 500 messages");
    bus.node.shut_down();
}

/// Runs futures side by side on this thread.
async fn futures<F: Future<Output = T> + 'static, T: 'static>(all: Vec<F>) -> Vec<T> {
    let local = tokio::task::LocalSet::new();
    let tasks: Vec<_> = all.into_iter().map(|future| local.spawn_local(future)).collect();
    local.await;
    let mut results = Vec::new();
    for task in tasks {
        results.push(task.await.unwrap());
    }
    results
}

#[tokio::test]
async fn a_log_that_was_salvaged_goes_on_with_the_rest() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(settings(folder.path())).await;
    for body in ["first", "damaged", "third"] {
        bus.send(body, body).await;
    }
    // As after a kill: no snapshot holds what comes now.
    let copy = TempDir::new().unwrap();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    bus.node.shut_down();
    drop(bus);
    flip_in(&copy.path().join("0000000001.segment"), b"damaged");
    let settings = settings(copy.path());
    assert!(Node::start(settings.clone(), Arc::new(SystemClock::new())).is_err());
    let salvaged = log::salvage(&log::RealDisk::existing(copy.path()).unwrap()).unwrap();
    assert_eq!(salvaged.missing.len(), 1, "{salvaged:?}");
    for _ in 0..2 {
        let bus = Bus::open(settings.clone()).await;
        assert_eq!((bus.started.missing.len(), bus.started.passed_over), (1, 0));
        let letters = bus.take(10).await;
        assert_eq!(bus.bodies(&letters), ["first", "third"]);
        for letter in &letters {
            bus.give_back(letter).await;
        }
        // The snapshot that is taken at the end would hide the gap from the next start.
        bus.node.shut_down();
        drop(bus);
        remove_snapshots(copy.path());
    }
}

/// Changes a byte of a text in a file.
fn flip_in(file: &std::path::Path, text: &[u8]) {
    let mut bytes = std::fs::read(file).unwrap();
    let at = bytes.windows(text.len()).rposition(|window| window == text).unwrap();
    bytes[at] ^= 1;
    std::fs::write(file, bytes).unwrap();
}

fn remove_snapshots(folder: &std::path::Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "snapshot") {
            std::fs::remove_file(path).unwrap();
        }
    }
}
