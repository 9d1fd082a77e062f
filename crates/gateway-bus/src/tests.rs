//! Tests of the bus door, against a node on a real disk.

mod registry;
mod sending;
mod sockets;

use doorstep::{Answer, Server, Socket};
use gateway::Token;

/// Starts a bus with this door and the native one.
async fn start() -> Server {
    Server::start(|hub| gateway_http::router(hub, vec![crate::doorway()])).await
}

/// What is asked: method, path and body; and what comes back: the status, and members of the answer.
type Call<'a> = (&'a str, &'a str, &'a str, u16, &'a [(&'a str, &'a str)]);

/// Asks one after the other.
async fn check(server: &Server, token: &Token, calls: &[Call<'_>]) {
    for (method, path, body, status, members) in calls {
        let answer = server.call(method, path, Some(token), body).await;
        assert_eq!(answer.status, *status, "{method} {path} {body}: {}", answer.text);
        for (pointer, expected) in *members {
            assert_eq!(answer.get(pointer), *expected, "{method} {path} {body}: {}", answer.text);
        }
    }
}

/// Registers an agent by the operator's token, and returns its own.
async fn agent(server: &Server, id: &str) -> Token {
    let made = register(server, &server.operator, id, "1.0").await;
    assert_eq!(made.status, 200, "{}", made.text);
    made.get("/token").parse().unwrap()
}

async fn register(server: &Server, token: &Token, id: &str, version: &str) -> Answer {
    server.call("POST", "/bus/agents/register", Some(token), &registration(id, version)).await
}

fn registration(id: &str, version: &str) -> String {
    let framework = id.split_once("://").map_or("codex", |(scheme, _)| scheme);
    format!(
        r#"{{"agent_descriptor":{{"agent_id":"{id}","framework":"{framework}","capabilities":{{"optimal_tasks":["code_review"]}},"endpoints":{{}},"metadata":{{"version":"{version}"}}}},"health_check_url":"http://localhost:1/health"}}"#
    )
}

/// Opens the socket of an agent.
async fn socket(server: &Server, id: &str, token: &Token) -> Socket {
    Socket::open(server, &format!("/bus?agent_id={id}"), Some(token)).await.unwrap()
}

async fn send(server: &Server, token: &Token, message: &str) -> Answer {
    server.call("POST", "/bus/messages/send", Some(token), message).await
}

/// A message from one agent to another; `more` is put into its places.
fn message(id: &str, from: &str, to: &str, more: &[(&str, &str)]) -> String {
    let framework = |id: &str| id.split_once("://").map_or("codex", |(scheme, _)| scheme).to_owned();
    let part = |key: &str, usual: &str| {
        more.iter().find(|(name, _)| *name == key).map_or(usual, |(_, value)| *value).to_owned()
    };
    let routing = part(
        "routing",
        r#"{"timeout":"300s","retry_policy":{"max_retries":2,"backoff":"exponential"},"delivery_mode":"async"}"#,
    );
    format!(
        r#"{{ "message_id":"{id}","timestamp":"2026-11-15T10:00:00Z","sender":{{"agent_id":"{from}","framework":"{}"}},"recipient":{{"agent_id":"{to}","framework":"{}"}},"message_type":"{}","priority":"{}","payload":{},"routing":{routing},"metadata":{}}}"#,
        framework(from),
        framework(to),
        part("message_type", "task_request"),
        part("priority", "medium"),
        part("payload", r#"{"task_type":"code_review"}"#),
        part("metadata", "{}"),
    )
}
