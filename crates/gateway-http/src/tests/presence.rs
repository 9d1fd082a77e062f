//! The bus itself as a recipient: signs of life are noted and reach nobody's inbox; open requests reach whoever takes
//! them.

use super::start;
use gateway::Token;

/// Writes a message of the AgentMessage bus.
fn bus(number: u32, to: &str, message_type: &str, payload: &str) -> String {
    format!(
        r#"{{"message_id":"m{number}","timestamp":"2025-02-01T10:01:20Z","sender":{{"agent_id":"codex://ann","framework":"codex"}},"recipient":{{"agent_id":"{to}","framework":"unknown"}},"message_type":"{message_type}","priority":"low","payload":{payload},"routing":{{"timeout":"30s","retry_policy":{{"max_retries":0,"backoff":"linear"}},"delivery_mode":"async"}}}}"#
    )
}

/// Demands that nothing waits for anybody.
async fn nobody_has_anything(server: &doorstep::Server, what: &str) {
    for agent in ["bob", "human", "system", "runner"] {
        let path = format!("/v1/agents/{agent}/inbox");
        let inbox = server.call("GET", &path, Some(&server.operator), "").await;
        assert_eq!(inbox.get("/messages"), "[]", "{what}: {agent} has {}", inbox.text);
    }
}

async fn state(server: &doorstep::Server, token: &Token) -> String {
    server.call("GET", "/v1/agents/ann", Some(token), "").await.get("/presence/state")
}

#[tokio::test]
async fn signs_of_life_are_noted_and_reach_nobody() {
    let server = start().await;
    let ann = server.agent("ann", r#"{"dialect":"bus","uri":"codex://ann"}"#).await;
    server.agent("bob", "").await;
    let mut documents = Vec::new();
    for (number, to) in (0..).step_by(10).zip(["*", "communication-bus", "system"]) {
        documents.extend([
            ("bus", bus(number, to, "heartbeat", r#"{"status":"healthy","active_tasks":1}"#), "busy"),
            ("bus", bus(number + 1, to, "heartbeat", r#"{"status":"healthy","active_tasks":0}"#), "idle"),
            ("bus", bus(number + 2, to, "status_update", r#"{"status":"unhealthy"}"#), "error"),
            ("bus", bus(number + 3, to, "status_update", r#"{"task_id":"t1","progress":40}"#), "busy"),
        ]);
    }
    let coord = r#"{"id":"3d5a56f0-400b-4fbb-a89a-56f74f97f8af","type":"HEARTBEAT","from":"ann","to":"system","timestamp":"2025-02-01T10:00:00Z","payload":{"agent_id":"ann","state":"MAINTENANCE","timestamp":"2025-02-01T10:00:00Z"},"metadata":{"priority":"low","retry_count":0,"max_retries":0}}"#;
    documents.push(("coord", coord.to_owned(), "maintenance"));
    let own = r#"{"kind":"agent.heartbeat","from":"ann","to":["system"],"presence":{"state":"busy"}}"#;
    documents.push(("convoke", own.to_owned(), "busy"));
    let own = r#"{"kind":"agent.status","from":"ann","to":["system"]}"#;
    documents.push(("convoke", own.to_owned(), "idle"));
    for (dialect, document, expected) in documents {
        let path = format!("/v1/messages?dialect={dialect}");
        let sent = server.call("POST", &path, Some(&ann), &document).await;
        assert_eq!(
            (sent.status, sent.get("/stage").as_str()),
            (202, "acknowledged"),
            "{document}: {}",
            sent.text
        );
        assert_eq!(state(&server, &ann).await, expected, "{document}");
        nobody_has_anything(&server, &document).await;
    }
}

#[tokio::test]
async fn a_request_to_the_bus_itself_is_an_open_one() {
    let server = start().await;
    let ann = server.agent("ann", r#"{"dialect":"bus","uri":"codex://ann"}"#).await;
    let bob = server.agent("bob", r#"{"roles":["any"]}"#).await;
    let request = r#"{"task_type":"code_review","files":["a.rs"]}"#;
    for (number, to) in (0..).zip(["*", "communication-bus"]) {
        let document = bus(number, to, "task_request", request);
        let sent = server.call("POST", "/v1/messages?dialect=bus", Some(&ann), &document).await;
        assert_eq!((sent.status, sent.get("/to/0").as_str()), (201, "roles.any"), "{}", sent.text);
        let taken = server.call("POST", "/v1/agents/bob/inbox/take", Some(&bob), r#"{"max":1}"#).await;
        assert_eq!(taken.get("/deliveries/0/id"), sent.get("/id"), "{}", taken.text);
    }
    nobody_has_anything(&server, "a request").await;
}

#[tokio::test]
async fn what_is_for_all_reaches_all_but_its_sender() {
    let server = start().await;
    let ann = server.agent("ann", r#"{"dialect":"bus","uri":"codex://ann"}"#).await;
    let bob = server.agent("bob", "").await;
    let document = bus(1, "all", "status_update", r#"{"status":"healthy"}"#);
    let sent = server.call("POST", "/v1/messages?dialect=bus", Some(&ann), &document).await;
    assert_eq!((sent.status, sent.get("/to/0").as_str()), (201, "all"), "{}", sent.text);
    let inbox = server.call("GET", "/v1/agents/bob/inbox", Some(&bob), "").await;
    assert_eq!(inbox.get("/messages/0/id"), sent.get("/id"), "{}", inbox.text);
    assert_eq!(server.call("GET", "/v1/agents/ann/inbox", Some(&ann), "").await.get("/messages"), "[]");
    assert_eq!(state(&server, &ann).await, "idle", "it is a sign of life as well");
}
