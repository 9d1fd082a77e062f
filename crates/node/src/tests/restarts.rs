//! What was answered is there after a stop, whatever kind of stop.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tempfile::TempDir;

use super::bus::{Bus, settings};
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
    let live = bus.node.call(|turn| {
        let mut bytes = Vec::new();
        turn.broker().snapshot(&mut bytes);
        (turn.broker().last(), bytes)
    });
    let (last, live) = live.await.unwrap();
    bus.node.shut_down();
    drop(bus);
    let (node, started) = Node::start(snapshots, Arc::new(SystemClock::new())).unwrap();
    assert_eq!((started.snapshot, started.replayed, started.last), (Some(last), 0, last));
    node.shut_down();
    drop(node);
    // The same state without any snapshot.
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "snapshot") {
            std::fs::remove_file(path).unwrap();
        }
    }
    let disk = log::RealDisk::new(folder.path()).unwrap();
    let (log, _) = log::SegmentLog::open(disk, settings(folder.path()).log).unwrap();
    let broker = settings(folder.path()).broker;
    let folded =
        crate::start::fold(&log::Log::snapshots(&log), &log::Log::reader(&log), &broker, last).unwrap();
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
    assert_eq!(bus.node.call(|_| ()).await, Err(crate::CallError::Stopped));
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
