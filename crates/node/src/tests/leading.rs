//! Who asks while the writer sleeps carries it out itself, with everything that this entails.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use broker::{Command, Register, Time};
use message::{AgentName, Dialect};
use tempfile::TempDir;

use super::bus::{Bus, settings};
use crate::clock::Clock;

/// Asks until something was carried out by whoever asked; the writer sleeps soon after it has nothing to do.
async fn lead(bus: &Bus) {
    let here = thread::current().id();
    while bus.node.call(|_| thread::current().id()).await.unwrap() != here {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_idle_node_works_where_it_is_asked() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(settings(folder.path())).await;
    lead(&bus).await;
    let first = bus.send("a", "first").await;
    assert_eq!(bus.send("a", "first").await, first);
    assert_eq!(bus.bodies(&bus.take(10).await), ["first"]);
}

#[tokio::test]
async fn what_is_asked_and_given_up_is_carried_out_all_the_same() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(settings(folder.path())).await;
    lead(&bus).await;
    // Sooner or later whoever asks lets others go first.
    loop {
        let (told, tells) = tokio::sync::oneshot::channel();
        let mut asked = Box::pin(bus.node.call(move |_| told.send(()).unwrap()));
        let is_done = poll_once(&mut asked).is_some();
        drop(asked);
        tells.await.unwrap();
        if !is_done {
            break;
        }
    }
    lead(&bus).await;
}

#[tokio::test]
async fn what_is_due_before_the_writer_wakes_is_done_in_time() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(settings(folder.path())).await;
    lead(&bus).await;
    let wait = Some(Duration::from_millis(20));
    let (_, awaited) = bus.send_kind("a", "hello?", message::Kind::Question, None, wait).await.unwrap();
    // Without anybody who wakes it, it would sleep for ten seconds.
    let outcome = tokio::time::timeout(Duration::from_secs(5), awaited.unwrap().outcome()).await;
    assert!(matches!(outcome, Ok(Some(crate::Outcome::Nothing { .. }))));
}

#[tokio::test]
async fn a_node_that_was_left_half_done_stops() {
    let folder = TempDir::new().unwrap();
    let bus = Bus::open(settings(folder.path())).await;
    lead(&bus).await;
    let node = bus.node.clone();
    let fault = tokio::spawn(async move { node.call(|_| -> () { panic!("a fault, as planned") }).await });
    assert!(fault.await.is_err(), "whoever asked met it");
    let why = tokio::time::timeout(Duration::from_secs(5), bus.node.stopped()).await.unwrap();
    let expected = "internal error: a panic left the state inconsistent; restart to recover from the log";
    assert_eq!(why.as_deref(), Some(expected));
    assert!(bus.node.call(|_| ()).await.is_err());
    bus.node.shut_down();
}

/// Polls once.
fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::Pin::new(future).poll(&mut cx) {
        std::task::Poll::Ready(output) => Some(output),
        std::task::Poll::Pending => None,
    }
}

/// A clock that goes on by so much whenever it is looked at, so that everything takes at least as long.
struct Steps {
    step: AtomicU64,
    ms: AtomicU64,
}

impl Clock for Steps {
    fn steady(&self) -> Duration {
        let step = self.step.load(Ordering::Relaxed);
        Duration::from_millis(self.ms.fetch_add(step, Ordering::Relaxed))
    }

    fn wall(&self) -> Time {
        Time(1_700_000_000_000)
    }
}

/// Asks for something that must be durable, and says by which thread its answer was let go.
async fn released_by(bus: &Bus, name: &str) -> Option<String> {
    let (told, tells) = tokio::sync::oneshot::channel();
    let name: AgentName = name.parse().unwrap();
    let register = move |turn: &mut crate::Turn<'_>| {
        let (aliases, profile) = (Vec::new(), Vec::new());
        let register = Register { name, aliases, dialect: Dialect::Convoke, profile };
        turn.execute(&Command::Register(Box::new(register))).map(drop).unwrap();
    };
    let then = move |()| told.send(thread::current().name().map(str::to_owned)).unwrap();
    bus.node.start_call(1, register, then).await.unwrap();
    tells.await.unwrap()
}

/// Tells whether whoever asks also lets its answer go. The log's thread may still be at what it just let go, and then
/// does it once more.
async fn leads(bus: &Bus, name: &str) -> bool {
    for number in 0..100 {
        lead(bus).await;
        if released_by(bus, &format!("{name}-{number}")).await.as_deref() != Some("log") {
            return true;
        }
    }
    false
}

#[tokio::test]
async fn nobody_but_the_log_waits_for_a_slow_disk() {
    let folder = TempDir::new().unwrap();
    let clock = Arc::new(Steps { step: AtomicU64::new(0), ms: AtomicU64::new(0) });
    let bus = Bus::open_at(settings(folder.path()), Arc::clone(&clock) as Arc<dyn Clock>).await;
    assert!(leads(&bus, "quick").await);
    clock.step.store(20, Ordering::Relaxed);
    lead(&bus).await;
    released_by(&bus, "slow-at-first").await;
    lead(&bus).await;
    assert_eq!(released_by(&bus, "slow").await.as_deref(), Some("log"));
    clock.step.store(0, Ordering::Relaxed);
    lead(&bus).await;
    assert_eq!(released_by(&bus, "quick-again").await.as_deref(), Some("log"), "it is not known yet");
    assert!(leads(&bus, "known-to-be-quick").await);
}
