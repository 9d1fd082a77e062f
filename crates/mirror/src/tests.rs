//! Tests with a real nats-server, which is stopped and started again.

mod keeping;
mod posting;
mod subjects;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use channel_root::{Draft, Root};
use message::Timestamp;
use setup::nats::Server;

use crate::{Ending, Mirror, Mirrored, NatsSettings};

/// A root and a server.
struct Place {
    folder: tempfile::TempDir,
    root: Root,
    server: Server,
}

impl Place {
    fn new() -> Self {
        Place::with("")
    }

    fn with(settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::create(folder.path().join("collab")).unwrap();
        let server = Server::start(&setup::tools_folder(), &folder.path().join("nats"), settings).unwrap();
        Place { folder, root, server }
    }

    fn other_root(&self) -> Root {
        Root::create(self.folder.path().join("other")).unwrap()
    }

    fn settings(&self) -> NatsSettings {
        NatsSettings { url: self.server.url(), credentials: None, timeout: Duration::from_secs(10) }
    }

    /// Settings of somebody who does not wait long.
    fn hasty(&self) -> NatsSettings {
        NatsSettings { timeout: Duration::from_millis(500), ..self.settings() }
    }

    fn say(&self, channel: &str, text: &str) -> String {
        self.root.post(channel, &Draft::new("claude", "codex", text), now()).unwrap().id
    }

    fn mirror(&self) -> Mirror {
        mirror(&self.root, self.settings())
    }

    async fn mirror_once(&self) -> Mirrored {
        self.mirror().run(Ending::WhenDone, std::future::pending()).await.unwrap()
    }

    async fn differences(&self, root: &Root) -> (u64, Vec<String>) {
        let (same, differences) = crate::compare(root, &self.settings()).await.unwrap();
        (same, differences.iter().map(ToString::to_string).collect())
    }
}

fn mirror(root: &Root, settings: NatsSettings) -> Mirror {
    Mirror { root: root.clone(), settings, poll_every: Duration::from_millis(20), now }
}

#[allow(clippy::disallowed_methods, reason = "somebody must read the clock")]
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Timestamp::from_unix_micros(i64::try_from(since.as_micros()).unwrap()).unwrap()
}
