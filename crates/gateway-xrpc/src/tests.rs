//! Tests of the door, on a real node.

mod blobs;
mod errors;
mod lexicons;
mod model;
mod readers;
mod records;
mod sessions;
mod stream;
mod tokens;
mod trims;

use axum::body::Body;
use axum::http::{Request, header};
use doorstep::{Answer, Server};
use gateway::{Hub, Token};

use crate::Settings;

/// A bus with this door.
pub(crate) struct Bus {
    pub(crate) server: Server,
}

impl Bus {
    pub(crate) async fn start() -> Self {
        Bus::start_public(&[]).await
    }

    /// Starts a bus of which everybody may read some collections.
    pub(crate) async fn start_public(public: &[&str]) -> Self {
        let blobs = tempfile::TempDir::new().unwrap().keep();
        Bus { server: Server::start(|hub| doors(hub, blobs, public)).await }
    }

    /// Stops and starts on what is there.
    pub(crate) async fn restart(self) -> Self {
        let blobs = self.server.folder().join("blobs");
        Bus { server: self.server.restart(|hub| doors(hub, blobs, &[])).await }
    }

    /// Starts a bus whose blobs lie in its own folder, so that it can be started again.
    pub(crate) async fn start_whole() -> Self {
        let bus = Bus::start().await;
        bus.restart().await
    }

    /// Calls a procedure.
    pub(crate) async fn post(&self, method: &str, token: Option<&Token>, body: &str) -> Answer {
        self.server.call("POST", &format!("/xrpc/{method}"), token, body).await
    }

    /// Calls a query.
    pub(crate) async fn get(&self, method: &str, token: Option<&Token>) -> Answer {
        self.server.call("GET", &format!("/xrpc/{method}"), token, "").await
    }

    /// Calls with a header of one's own.
    pub(crate) async fn bearing(&self, verb: &str, method: &str, bearer: &str, body: &str) -> Answer {
        let request = Request::builder().method(verb).uri(format!("/xrpc/{method}"));
        let request = request.header(header::HOST, "localhost:7700").header(header::AUTHORIZATION, bearer);
        self.server.send(request.body(Body::from(body.to_owned())).unwrap()).await
    }

    /// Calls about a repository.
    pub(crate) async fn repo(&self, call: &str, token: &Token, body: &str) -> Answer {
        self.post(&format!("com.atproto.repo.{call}"), Some(token), body).await
    }

    /// Creates a record and returns its URI.
    pub(crate) async fn create(&self, token: &Token, repo: &str, collection: &str, record: &str) -> String {
        let body = format!(r#"{{"repo":"{repo}","collection":"{collection}","record":{record}}}"#);
        let made = self.repo("createRecord", token, &body).await;
        assert_eq!(made.status, 200, "{}", made.text);
        made.get("/uri")
    }

    /// Returns a record by its URI.
    pub(crate) async fn read(&self, token: Option<&Token>, uri: &str) -> Answer {
        let mut parts = uri.strip_prefix("at://").unwrap().split('/');
        let (repo, collection, key) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        let call = format!("com.atproto.repo.getRecord?repo={repo}&collection={collection}&rkey={key}");
        self.get(&call, token).await
    }

    /// Returns what waits for an agent.
    pub(crate) async fn inbox(&self, name: &str, token: &Token) -> Answer {
        self.server.call("GET", &format!("/v1/agents/{name}/inbox"), Some(token), "").await
    }
}

pub(crate) fn doors(hub: Hub, blobs: std::path::PathBuf, public: &[&str]) -> axum::Router {
    let public = public.iter().map(|name| (*name).to_owned()).collect();
    let doorways = crate::doorways(&hub, Settings { blobs, blobs_bytes_max: 64 << 20, public });
    gateway_http::router(hub, doorways)
}

pub(crate) fn message(from: &str, to: &str, text: &str) -> String {
    format!(
        r#"{{"sender":"did:web:{from}.agent.invalid","recipient":"did:web:{to}.agent.invalid","content":{{"kind":"text","text":"{text}"}},"createdAt":"2026-11-15T10:00:00Z"}}"#
    )
}

pub(crate) fn key_of(uri: &str) -> &str {
    uri.rsplit('/').next().unwrap()
}
