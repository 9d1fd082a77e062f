//! Tests of the door on real folders and a real bus.

mod crossing;
mod places;
mod refusals;
mod restarts;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use channel_root::{Draft, Posted, Root};
use doorstep::Server;
use json::Value;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use crate::{Files, RootSettings, Settings};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(5);

/// A bus with a root.
struct Bench {
    server: Server,
    files: Option<Files>,
    folder: TempDir,
}

impl Bench {
    async fn start() -> Self {
        Bench::start_on(TempDir::new().unwrap()).await
    }

    async fn start_on(folder: TempDir) -> Self {
        let server = Server::start(|hub| gateway_http::router(hub, Vec::new())).await;
        let mut bench = Bench { server, files: None, folder };
        bench.open(&[("collab", "")]).await;
        bench
    }

    /// Opens roots of these names, each perhaps only for some agents.
    async fn open(&mut self, roots: &[(&str, &str)]) {
        self.open_with(roots, |_| {}).await;
    }

    async fn open_with(&mut self, roots: &[(&str, &str)], change: impl FnOnce(&mut Settings)) {
        self.close().await;
        let mut settings = self.settings(roots);
        change(&mut settings);
        self.files = Some(Files::open(&self.server.hub, &settings).await.unwrap());
    }

    fn settings(&self, roots: &[(&str, &str)]) -> Settings {
        let root = |(name, agents): &(&str, &str)| {
            RootSettings::parse(&self.folder.path().join(format!("{name}={agents}")))
        };
        Settings {
            roots: roots.iter().map(root).collect(),
            poll: Duration::from_millis(20),
            file_bytes_max: 1 << 20,
            import: false,
            state: self.folder.path().join("state"),
        }
    }

    async fn close(&mut self) {
        if let Some(files) = self.files.take() {
            files.stop().await;
        }
    }

    fn root(&self) -> Root {
        self.root_at("collab")
    }

    fn root_at(&self, name: &str) -> Root {
        Root::create(self.folder.path().join(name)).unwrap()
    }

    fn path(&self, rest: &str) -> PathBuf {
        self.folder.path().join("collab").join(rest)
    }

    fn post(&self, channel: &str, from: &str, to: &str, text: &str) -> Posted {
        self.post_draft(channel, &Draft::new(from, to, text))
    }

    fn post_draft(&self, channel: &str, draft: &Draft) -> Posted {
        self.root().post(channel, draft, self.server.node.wall().timestamp()).unwrap()
    }

    /// Waits until a file of a channel says something, and returns its path.
    async fn file_saying(&self, folder: &Path, text: &str) -> PathBuf {
        let wait = async {
            loop {
                let found = fs::read_dir(folder).into_iter().flatten().flatten().find(|entry| {
                    let name = entry.file_name().into_string().unwrap();
                    name.starts_with("msg-")
                        && fs::read_to_string(entry.path()).is_ok_and(|it| it.contains(text))
                });
                match found {
                    Some(entry) => return entry.path(),
                    None => sleep(PAUSE).await,
                }
            }
        };
        let shown = format!("{} has no file with {text:?}", folder.display());
        timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("{shown}"))
    }

    /// Waits until a message with this id of its sender's is on the bus, and returns its row.
    async fn message(&self, native_id: &str) -> Value<'static> {
        let wait = async {
            loop {
                let found = self
                    .rows()
                    .await
                    .into_iter()
                    .find(|row| row.get("native_id").and_then(Value::as_str) == Some(native_id));
                match found {
                    Some(row) => return row,
                    None => sleep(PAUSE).await,
                }
            }
        };
        timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("{native_id} is not on the bus"))
    }

    async fn rows(&self) -> Vec<Value<'static>> {
        let answer = self.server.call("GET", "/v1/messages?limit=500", Some(&self.server.operator), "").await;
        let value = json::parse_str(&answer.text, json::Limits::DOCUMENT).unwrap().into_owned();
        let rows = value.get("messages").and_then(Value::as_array);
        rows.unwrap_or_else(|| panic!("{}", answer.text)).to_vec()
    }

    async fn send(&self, document: &str) -> doorstep::Answer {
        self.server.call("POST", "/v1/messages", Some(&self.server.operator), document).await
    }

    /// Waits until a message has come so far.
    async fn stage(&self, id: &str, stage: &str) -> doorstep::Answer {
        let path = format!("/v1/messages/{id}/receipt");
        let wait = async {
            loop {
                let answer = self.server.call("GET", &path, Some(&self.server.operator), "").await;
                if answer.status == 200 && answer.get("/stage") == stage {
                    return answer;
                }
                sleep(PAUSE).await;
            }
        };
        timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("{id} is not {stage}"))
    }

    /// Waits until something holds.
    async fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let wait = async {
            while !holds() {
                sleep(PAUSE).await;
            }
        };
        timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("{what}"));
    }

    fn problems(&self) -> Vec<String> {
        let (problems, _) = self.server.hub.channels().problems();
        problems.iter().rev().map(|it| format!("{} {} {}", it.severity.name(), it.code, it.file)).collect()
    }
}

fn text(value: &Value<'_>, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or("(absent)").to_owned()
}
