//! A door of a node on a real disk.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::{Request, header};
use broker::Retention;
use gateway::{Authority, Token};
use json::Value;
use log::Options;
use node::{Node, Settings, SystemClock};
use tempfile::TempDir;
use tower::ServiceExt;

use crate::{Door, router};

pub(super) struct Server {
    router: axum::Router,
    pub(super) operator: Token,
    pub(super) node: Node,
    _folder: TempDir,
}

/// What came back.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) text: String,
}

impl Answer {
    pub(super) fn get(&self, key: &str) -> String {
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
    pub(super) async fn start() -> Self {
        let folder = TempDir::new().unwrap();
        let (node, _) = Node::start(settings(&folder), Arc::new(SystemClock::new())).unwrap();
        let operator = Token::new("human".parse().unwrap()).unwrap();
        let authority = Authority { operator: operator.hash() };
        let hosts = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let door = Door::new(node.clone(), authority, hosts).await.unwrap();
        Server { router: router(door), operator, node, _folder: folder }
    }

    pub(super) async fn call(&self, method: &str, path: &str, token: Option<&Token>, body: &str) -> Answer {
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, "localhost:7700");
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {}", token.reveal()));
        }
        self.send(request.body(Body::from(body.to_owned())).unwrap()).await
    }

    pub(super) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        Answer { status, text: String::from_utf8(bytes.to_vec()).unwrap() }
    }

    /// Makes an agent and returns its token.
    pub(super) async fn agent(&self, name: &str, options: &str) -> Token {
        let path = format!("/v1/agents/{name}");
        let made = self.call("PUT", &path, Some(&self.operator), options).await;
        assert_eq!(made.status, 201, "{}", made.text);
        made.get("/token").parse().unwrap()
    }
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
    }
}
