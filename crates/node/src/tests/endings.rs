//! However a node ends, its callers are answered, and it says why.

use std::time::Duration;

use tempfile::TempDir;

use super::bus::{Bus, settings};
use super::look::{look, look_and_then};

#[tokio::test]
async fn what_is_due_before_the_writer_wakes_is_done_in_time() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(settings(folder.path())).await;
    let wait = Some(Duration::from_millis(20));
    let (_, awaited) = bus.send_kind("a", "hello?", message::Kind::Question, None, wait).await.unwrap();
    // With nothing due, it would sleep for ten seconds.
    let outcome = tokio::time::timeout(Duration::from_secs(5), awaited.unwrap().outcome()).await;
    assert!(matches!(outcome, Ok(Some(crate::Outcome::Nothing { .. }))));
}

#[tokio::test]
async fn a_caller_that_has_gone_changes_nothing() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(settings(folder.path())).await;
    let mut sending = Box::pin(bus.send("a", "first"));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(sending.as_mut().poll(&mut cx).is_pending());
    drop(sending);
    assert_eq!(bus.take(10).await.len(), 1);
}

#[tokio::test]
async fn a_panic_ends_the_node() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(settings(folder.path())).await;
    let waiting = {
        let (node, wishes) = (bus.node.clone(), bus.wishes(1));
        tokio::spawn(async move { node.take(wishes, Duration::from_secs(600)).await })
    };
    let failed = look(&bus.node, |_| -> () { panic!("a fault, as planned") }).await;
    assert_eq!(failed, Err(crate::CallError::Stopped));
    let why = tokio::time::timeout(Duration::from_secs(5), bus.node.stopped()).await.unwrap();
    let expected = "internal error: a panic left the state inconsistent; restart to recover from the log";
    assert_eq!(why.as_deref(), Some(expected));
    assert!(waiting.await.unwrap().is_err(), "a caller that waits is sent away");
    assert!(look(&bus.node, |_| ()).await.is_err());
    bus.node.shut_down();
}

#[tokio::test]
async fn a_panic_of_a_completion_ends_the_node() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(settings(folder.path())).await;
    let failed = look_and_then(&bus.node, |_| (), |()| panic!("a fault, as planned")).await;
    assert_eq!(failed, Err(crate::CallError::Stopped));
    assert!(bus.node.stopped().await.is_some());
    assert!(look(&bus.node, |_| ()).await.is_err());
    bus.node.shut_down();
    drop(bus);
    // The folder is free again.
    Bus::open(settings(folder.path())).await.node.shut_down();
}
