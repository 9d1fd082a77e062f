//! Those who wait get what comes, and what they do not take goes back.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use message::{Kind, Stage};
use tempfile::TempDir;

use super::bus::{Bus, settings};
use super::look::look;
use crate::Outcome;

const LONG: Duration = Duration::from_secs(600);

#[tokio::test]
async fn who_waits_gets_what_comes_in_the_batch_in_which_it_comes() {
    let folder = TempDir::new().unwrap();
    let bus = Arc::new(Bus::open(settings(folder.path())).await);
    let waiting = {
        let bus = Arc::clone(&bus);
        tokio::spawn(async move { bus.node.take(bus.wishes(10), LONG).await.unwrap() })
    };
    // The wait is on the list when a later call is answered.
    while bus.node.counters().calls.load(Ordering::Relaxed) < 4 {
        tokio::task::yield_now().await;
    }
    let before = bus.node.counters().batches.load(Ordering::Relaxed);
    bus.send("a", "hello").await;
    let letters = waiting.await.unwrap();
    assert_eq!(bus.bodies(&letters), ["hello"]);
    assert_eq!(bus.node.counters().batches.load(Ordering::Relaxed) - before, 1);
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_with_nothing() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(settings(folder.path())).await;
    assert_eq!(bus.node.take(bus.wishes(10), LONG).await.unwrap(), []);
    bus.send("a", "later").await;
    assert_eq!(bus.take(10).await.len(), 1, "nobody who has gone was given it");
}

#[tokio::test]
async fn a_stream_has_as_much_as_its_credit() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(settings(folder.path())).await;
    let mut stream = bus.node.subscribe(bus.wishes(10)).await.unwrap();
    stream.add_credit(2);
    for id in ["a", "b", "c"] {
        bus.send(id, id).await;
    }
    let first = [stream.next().await.unwrap(), stream.next().await.unwrap()];
    assert_eq!(bus.bodies(&first), ["a", "b"]);
    assert_eq!(look(&bus.node, |broker| broker.counts().handed_out).await.unwrap(), 2);
    stream.add_credit(1);
    assert_eq!(bus.bodies(&[stream.next().await.unwrap()]), ["c"]);
}

#[tokio::test]
async fn a_stream_with_credit_for_many_takes_gets_everything() {
    let folder = TempDir::new().unwrap();
    let mut settings = settings(folder.path());
    settings.broker.limits.queue_max = 10_000;
    let bus = Bus::open(settings).await;
    let sent: Vec<String> = (0..2_500).map(|number| number.to_string()).collect();
    for id in &sent {
        bus.send(id, id).await;
    }
    // Three at a time, more than the stream holds, and all of it at once.
    let mut stream = bus.node.subscribe(bus.wishes(3)).await.unwrap();
    stream.add_credit(10_000);
    let mut letters = Vec::new();
    while letters.len() < sent.len() {
        assert!(stream.next_many(&mut letters, 100).await > 0);
    }
    assert_eq!(bus.bodies(&letters), sent);
}

#[tokio::test]
async fn what_a_stream_did_not_read_was_never_handed_out() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(settings(folder.path())).await;
    let mut stream = bus.node.subscribe(bus.wishes(10)).await.unwrap();
    stream.add_credit(10);
    for id in ["a", "b", "c"] {
        bus.send(id, id).await;
    }
    let read = stream.next().await.unwrap();
    assert_eq!(bus.bodies(&[read]), ["a"]);
    drop(stream);
    // One that was under way when the stream ended comes back a moment later.
    let mut letters = Vec::new();
    while letters.len() < 2 {
        letters.extend(bus.node.take(bus.wishes(10), LONG).await.unwrap());
    }
    let mut bodies = bus.bodies(&letters);
    bodies.sort_unstable();
    assert_eq!(bodies, ["b", "c"]);
    assert!(letters.iter().all(|letter| letter.delivery.attempt == 1));
}

#[tokio::test]
async fn a_reply_comes_to_who_waits_for_it() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(settings(folder.path())).await;
    let (asked, awaited) = bus.send_kind("q", "question", Kind::Question, None, Some(LONG)).await.unwrap();
    let letters = bus.take(1).await;
    bus.ack(&letters[0]).await;
    let (reply, _) = bus.send_kind("r", "answer", Kind::Note, Some(asked), None).await.unwrap();
    match awaited.unwrap().outcome().await.unwrap() {
        Outcome::Reply { reply: found, .. } => assert_eq!(found, reply),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_wait_for_a_reply_ends_when_its_time_is_over() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(settings(folder.path())).await;
    let wait = Some(Duration::from_millis(1));
    let (_, awaited) = bus.send_kind("q", "question", Kind::Question, None, wait).await.unwrap();
    assert_eq!(awaited.unwrap().outcome().await, Some(Outcome::Nothing { stage: Stage::Stored }));
}
