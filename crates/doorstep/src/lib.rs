//! What the tests of doors share: a bus on a real disk, and somebody who calls.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod socket;

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Request, header};
use broker::Retention;
use gateway::{Authority, Hub, HubLimits, RateLimits, SealKey, Token};
use history::History;
use json::Value;
use log::Options;
use node::{Node, Settings, StartError, SystemClock};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tower::ServiceExt;

pub use socket::{Closed, Frame, Socket};

/// Bytes of a request of the tests' own bus.
pub const BODY_BYTES_MAX: usize = 1 << 20;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);
/// After how long something is looked at again.
const PAUSE: Duration = Duration::from_millis(5);

/// A bus with doors.
pub struct Server {
    router: axum::Router,
    /// The operator's token.
    pub operator: Token,
    /// The node.
    pub node: Node,
    /// What the doors have at hand.
    pub hub: Hub,
    authority: Authority,
    folder: TempDir,
    /// Those who listen.
    listening: Mutex<Vec<JoinHandle<()>>>,
}

/// What came back.
pub struct Answer {
    /// The status.
    pub status: u16,
    /// What is said of the connection.
    pub connection: Option<String>,
    /// The body.
    pub text: String,
}

impl Answer {
    /// Returns what a JSON Pointer leads to, as text.
    pub fn get(&self, key: &str) -> String {
        let value = json::parse_str(&self.text, json::Limits::DOCUMENT).unwrap();
        let found = dialect::get(value.as_object().unwrap(), key).cloned();
        match found {
            Some(Value::String(text)) => text.into_owned(),
            Some(other) => other.to_json(),
            None => String::from("(absent)"),
        }
    }
}

impl Server {
    /// Starts a bus with these doors.
    pub async fn start(doors: impl FnOnce(Hub) -> axum::Router) -> Self {
        Server::start_with(|_| {}, doors).await
    }

    /// Starts a bus on which something else decides who somebody is.
    pub async fn start_with(
        change: impl FnOnce(&mut Authority),
        doors: impl FnOnce(Hub) -> axum::Router,
    ) -> Self {
        let operator = Token::new("human".parse().unwrap()).unwrap();
        let mut authority = authority(&operator);
        change(&mut authority);
        Server::open(TempDir::new().unwrap(), operator, authority, doors).await
    }

    /// Stops the bus and starts it again on what it has written.
    pub async fn restart(self, doors: impl FnOnce(Hub) -> axum::Router) -> Self {
        let Server { router, operator, node, hub, authority, folder, listening } = self;
        listening.into_inner().unwrap().iter().for_each(JoinHandle::abort);
        hub.stop();
        drop((router, hub));
        tokio::task::spawn_blocking(move || node.shut_down()).await.unwrap();
        Server::open(folder, operator, authority, doors).await
    }

    /// Returns the folder of the bus.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    async fn open(
        folder: TempDir,
        operator: Token,
        authority: Authority,
        doors: impl FnOnce(Hub) -> axum::Router,
    ) -> Self {
        let node = node(&folder).await;
        let follow = node.clone();
        let file = folder.path().join("history.db");
        let reader = node.reader();
        let settings = history::Settings { outlives_log: true, ..history::Settings::usual(file) };
        let history = History::start(settings, reader, move |after| follow.wait_durable(after)).unwrap();
        let followed = history.clone();
        node.trim_behind(move || followed.secure());
        let limits = HubLimits {
            rates: RateLimits { per_second: 100_000, burst: 100_000, remembered_max: 100 },
            connections_max: 8,
            body_bytes_max: BODY_BYTES_MAX,
            batch_bytes_max: 2 * BODY_BYTES_MAX,
            lease_ms: 60_000,
        };
        let hub = Hub::new(node.clone(), history, authority.clone(), limits).await.unwrap();
        let (router, listening) = (doors(hub.clone()), Mutex::default());
        Server { router, operator, node, hub, authority, folder, listening }
    }

    /// Calls.
    pub async fn call(&self, method: &str, path: &str, token: Option<&Token>, body: &str) -> Answer {
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, "localhost:7700");
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {}", token.reveal()));
        }
        request = request.header(header::CONTENT_LENGTH, body.len());
        self.send(request.body(Body::from(body.to_owned())).unwrap()).await
    }

    /// Sends a request.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let connection = response.headers().get(header::CONNECTION);
        let connection = connection.map(|value| value.to_str().unwrap().to_owned());
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        Answer { status, connection, text: String::from_utf8(bytes.to_vec()).unwrap() }
    }

    /// Returns what answers.
    pub fn router(&self) -> axum::Router {
        self.router.clone()
    }

    /// Lets the door listen, and returns where.
    pub async fn listen(&self) -> std::net::SocketAddr {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = self.router.clone();
        let serves = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        self.listening.lock().unwrap().push(serves);
        address
    }

    /// Makes an agent and returns its token.
    pub async fn agent(&self, name: &str, options: &str) -> Token {
        let path = format!("/v1/agents/{name}");
        let made = self.call("PUT", &path, Some(&self.operator), options).await;
        assert_eq!(made.status, 201, "{}", made.text);
        made.get("/token").parse().unwrap()
    }
}

/// Returns what decides who somebody is on a bus like most.
fn authority(operator: &Token) -> Authority {
    Authority {
        operator: operator.hash(),
        open: false,
        allow_token_in_url: false,
        seal: SealKey::new().unwrap(),
        hosts: vec!["localhost".to_owned(), "127.0.0.1".to_owned()],
        metrics_public: false,
    }
}

/// Starts a node. One that stopped is gone when the last that read from it is.
async fn node(folder: &TempDir) -> Node {
    let started = async {
        loop {
            match Node::start(settings(folder), Arc::new(SystemClock::new())) {
                Err(StartError::Log(log::OpenError::InUse)) => tokio::time::sleep(PAUSE).await,
                started => return started.unwrap().0,
            }
        }
    };
    tokio::time::timeout(PATIENCE, started).await.unwrap()
}

fn settings(folder: &TempDir) -> Settings {
    let mut broker = testkit::broker_settings();
    broker.limits.queue_max = 3;
    let mut log = Options::small(1);
    (log.segment_bytes, log.first_segment_bytes, log.record_bytes_max) = (4 << 20, 4 << 20, 2 << 20);
    Settings {
        folder: folder.path().to_owned(),
        broker,
        retention: Retention::USUAL,
        log,
        calls_max: 1_000,
        snapshot_bytes: u64::MAX,
        keep: node::Keep::WHOLE,
    }
}
