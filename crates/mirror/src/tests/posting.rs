//! A message that was just posted is published at once, or left for later.

use std::time::Duration;

use super::Place;
use crate::{Ack, NatsSettings, write_through};

#[tokio::test]
async fn a_message_is_published_at_once_and_only_once() {
    let place = Place::new();
    let id = place.say("a", "hello");
    let through = write_through(&place.root, &place.settings(), "a", &id).await;
    let wanted = Ack { stream: "CHAT".to_owned(), seq: 1, duplicate: false };
    assert_eq!(through.ack, Some(wanted.clone()), "{:?}", through.problem);
    let through = write_through(&place.root, &place.settings(), "a", &id).await;
    assert_eq!(through.ack, Some(Ack { duplicate: true, ..wanted }));
    assert_eq!(place.differences(&place.root).await, (1, Vec::new()));
}

#[tokio::test]
async fn what_cannot_be_published_is_left_and_follows_in_order() {
    let mut place = Place::new();
    place.server.stop();
    let mut ids = Vec::new();
    for nth in 0..5 {
        let id = place.say("a", &format!("number {nth}"));
        let through = write_through(&place.root, &place.hasty(), "a", &id).await;
        assert_eq!((through.ack, through.problem.unwrap().code()), (None, "nats_away"));
        ids.push(id);
    }
    place.server.again().unwrap();
    let last = place.say("a", "last");
    let through = write_through(&place.root, &place.settings(), "a", &last).await;
    assert_eq!(through.ack.map(|ack| ack.seq), Some(6), "{:?}", through.problem);
    assert_eq!(place.differences(&place.root).await, (6, Vec::new()));
    assert!(!place.root.path().join(".state/nats.outbox").exists());
    assert!(!place.root.path().join(".state/nats.taken").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_writers_share_one_outbox() {
    let mut place = Place::new();
    place.server.stop();
    let write = |count: usize, settings: NatsSettings| {
        let ids: Vec<String> = (0..count).map(|nth| place.say("a", &format!("number {nth}"))).collect();
        let root = place.root.clone();
        let tasks = ids.into_iter().map(move |id| {
            let (root, settings) = (root.clone(), settings.clone());
            tokio::spawn(async move { write_through(&root, &settings, "a", &id).await.ack.is_some() })
        });
        tasks.collect::<Vec<_>>()
    };
    for task in write(8, place.hasty()) {
        assert!(!task.await.unwrap());
    }
    let settings = NatsSettings { timeout: Duration::from_secs(30), ..place.settings() };
    place.server.again().unwrap();
    let write = |count: usize| {
        let ids: Vec<String> = (0..count).map(|nth| place.say("a", &format!("again {nth}"))).collect();
        ids.into_iter()
            .map(|id| {
                let (root, settings) = (place.root.clone(), settings.clone());
                tokio::spawn(async move { write_through(&root, &settings, "a", &id).await })
            })
            .collect::<Vec<_>>()
    };
    for task in write(8) {
        let through = task.await.unwrap();
        // Whoever comes first publishes for the others too.
        assert!(through.problem.is_none(), "{:?}", through.problem);
    }
    assert_eq!(place.differences(&place.root).await, (16, Vec::new()));
}
