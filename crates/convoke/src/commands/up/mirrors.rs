//! The roots of a bus, each kept on a NATS server too.

use channel_root::{Root, RootError};
use message::Timestamp;
use mirror::{Ending, Mirror};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::clock;
use crate::settings::Settings;

/// The mirrors that run. They end when this is dropped.
pub(super) struct Mirrors {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Mirrors {
    /// Starts a mirror for every root, if a server is named.
    pub(super) fn start(settings: &Settings) -> Result<Self, RootError> {
        let mut mirrors = Mirrors { stop: watch::Sender::new(false), tasks: JoinSet::new() };
        if settings.nats.url.is_empty() {
            return Ok(mirrors);
        }
        for root in &settings.channels.roots {
            let mirror = Mirror {
                root: Root::open(&root.path)?,
                settings: settings.nats.clone(),
                poll_every: settings.channels.poll,
                now: || clock::now().unwrap_or(Timestamp::MIN),
            };
            let mut stopping = mirrors.stop.subscribe();
            let stop = async move { drop(stopping.wait_for(|stop| *stop).await) };
            mirrors.tasks.spawn(async move {
                if let Err(error) = mirror.run(Ending::Never, stop).await {
                    let place = mirror.root.path().display();
                    tracing::error!("{place} is no longer kept on NATS: {error}; {}", error.hint());
                }
            });
        }
        Ok(mirrors)
    }

    /// Ends them: whatever is not published is found at the next start.
    pub(super) async fn stop(mut self) {
        self.stop.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
    }
}
