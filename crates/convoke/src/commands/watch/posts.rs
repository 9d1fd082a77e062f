//! The answers of a watcher on a root, published on a NATS server too.

use channel_root::Root;
use mirror::{MirrorError, NatsSettings};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::failure::chain;

/// Answers that wait to be published.
const WAITING_MAX: usize = 1_024;

/// Publishes answers, beside the watcher.
pub(super) struct Posts {
    publishing: JoinHandle<()>,
}

impl Posts {
    /// Starts to publish; who posts tells it.
    pub(super) fn publish(root: Root, settings: NatsSettings) -> (Self, mpsc::Sender<(String, String)>) {
        let (posted, mut posts) = mpsc::channel(WAITING_MAX);
        let publishing = tokio::spawn(async move {
            while let Some(first) = posts.recv().await {
                if let Err(problem) = publish(&root, &settings, first, &mut posts).await {
                    tracing::warn!("an answer is not on NATS yet: {}", chain(&problem));
                }
            }
        });
        (Posts { publishing }, posted)
    }

    /// Waits until everything is published, or in the outbox.
    pub(super) async fn finish(self) {
        // One that panicked has said so.
        drop(self.publishing.await);
    }
}

/// Publishes all answers that wait, in order. They are in the outbox before the server is asked for anything.
async fn publish(
    root: &Root,
    settings: &NatsSettings,
    first: (String, String),
    posts: &mut mpsc::Receiver<(String, String)>,
) -> Result<(), MirrorError> {
    let mut last = first;
    while let Ok(next) = posts.try_recv() {
        mirror::leave(root, &last.0, &last.1)?;
        last = next;
    }
    let through = mirror::write_through(root, settings, &last.0, &last.1).await;
    through.problem.map_or(Ok(()), Err)
}
