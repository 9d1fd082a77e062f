//! Tests of the door, on a real node.

mod records;
mod trims;

use doorstep::{Answer, Server};
use gateway::{Hub, Token};

use crate::Settings;

/// A bus with this door.
pub(crate) struct Bus {
    pub(crate) server: Server,
}

impl Bus {
    pub(crate) async fn start() -> Self {
        Bus { server: Server::start(|hub| doors(hub, &[])).await }
    }

    /// Calls a procedure.
    pub(crate) async fn post(&self, method: &str, token: Option<&Token>, body: &str) -> Answer {
        self.server.call("POST", &format!("/xrpc/{method}"), token, body).await
    }

    /// Calls a query.
    pub(crate) async fn get(&self, method: &str, token: Option<&Token>) -> Answer {
        self.server.call("GET", &format!("/xrpc/{method}"), token, "").await
    }

    /// Creates a record and returns its URI.
    pub(crate) async fn create(&self, token: &Token, repo: &str, collection: &str, record: &str) -> String {
        let body = format!(r#"{{"repo":"{repo}","collection":"{collection}","record":{record}}}"#);
        let made = self.post("com.atproto.repo.createRecord", Some(token), &body).await;
        assert_eq!(made.status, 200, "{}", made.text);
        made.get("/uri")
    }

    /// Returns what waits for an agent, as documents.
    pub(crate) async fn inbox(&self, name: &str, token: &Token) -> Answer {
        self.server.call("GET", &format!("/v1/agents/{name}/inbox"), Some(token), "").await
    }
}

pub(crate) fn doors(hub: Hub, public: &[&str]) -> axum::Router {
    // The folder of the history is that of the bus.
    let blobs = std::env::temp_dir().join(format!("convoke-blobs-{}", std::process::id()));
    let public = public.iter().map(|name| (*name).to_owned()).collect();
    let settings = Settings { blobs, blobs_bytes_max: 64 << 20, public };
    let doorways = crate::doorways(&hub, settings);
    gateway_http::router(hub, doorways)
}

pub(crate) fn message(from: &str, to: &str, text: &str) -> String {
    format!(
        r#"{{"sender":"did:web:{from}.agent.invalid","recipient":"did:web:{to}.agent.invalid","content":{{"kind":"text","text":"{text}"}},"createdAt":"2026-11-15T10:00:00Z"}}"#
    )
}
