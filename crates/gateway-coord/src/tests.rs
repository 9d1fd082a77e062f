//! Tests of the coord door, against a node on a real disk.

mod state;

use std::time::Duration;

use dialect::Dialect;
use doorstep::{Answer, Server, Socket};
use gateway::Token;

/// Starts a bus with this door and the native one, and two agents.
async fn pair() -> (Server, Token, Token) {
    let server = Server::start(|hub| gateway_http::router(hub, vec![crate::doorway()])).await;
    let coord = r#"{"dialect":"coord"}"#;
    let (ann, bob) = (server.agent("ann", coord).await, server.agent("bob", coord).await);
    (server, ann, bob)
}

async fn socket(server: &Server, agent: &str, token: &Token) -> Socket {
    Socket::open(server, &format!("/coord/agents/{agent}"), Some(token)).await.unwrap()
}

async fn send(server: &Server, token: &Token, message: &str) -> Answer {
    server.call("POST", "/coord/messages", Some(token), message).await
}

/// Returns an id by its last digits.
fn id(number: u32) -> String {
    format!("7b0e4c52-1d3a-4f6b-9c8e-{number:012}")
}

/// A good message of the public vectors, with another id.
fn good(name: &str, number: u32) -> String {
    let mut text = testkit::read(&testkit::root().join(format!("vectors/coord/good/{name}.json")));
    if let Some(at) = text.find("7b0e4c52") {
        text.replace_range(at..at + 36, &id(number));
    }
    text
}

/// How a task goes on.
fn update(number: u32, task: &str, priority: &str) -> String {
    good("task-update", number)
        .replace("task-9", task)
        .replace("\"priority\": \"normal\"", &format!("\"priority\": \"{priority}\""))
}

/// Sends a frame that is refused, and waits for the refusal: what was written before it has been ponged for then.
async fn pong(socket: &mut Socket) {
    socket.send("nonsense").await;
    assert_eq!(socket.next().await.get("type"), "ERROR_REPORT");
}

#[tokio::test]
async fn sending_is_answered_by_a_receipt_or_an_error_report() {
    let (server, ann, bob) = pair().await;
    let sent = send(&server, &ann, &good("help-request", 1)).await;
    assert_eq!((sent.status, sent.get("/guarantee").as_str()), (201, "at_least_once"), "{}", sent.text);
    let again = good("help-request", 1).replace("\"retry_count\": 0", "\"retry_count\": 1");
    let again = send(&server, &ann, &again).await;
    assert_eq!(
        (again.status, again.get("/duplicate").as_str()),
        (200, "true"),
        "a try is counted: {}",
        again.text
    );
    let update = good("task-update", 2);
    let report = "VALIDATION_ERROR";
    for (message, status, error_type, code) in [
        (update.replace("TASK_UPDATE", "task_update"), 422, report, "invalid"),
        (update.replace("TASK_UPDATE", "SHOUT"), 422, report, "invalid"),
        (update.replace("\"normal\"", "\"urgent\""), 422, report, "invalid"),
        (update.replace("\"to\": \"bob\"", "\"to\": \"bobb\""), 404, report, "unknown_recipient"),
        (update.replace("\"from\": \"ann\"", "\"from\": \"bob\""), 403, "AUTHENTICATION_ERROR", "not_yours"),
        (good("help-request", 1).replace("empty", "no"), 409, report, "conflict"),
        ("{".to_owned(), 400, report, "not_json"),
        (good("state-update", 3), 403, "AUTHENTICATION_ERROR", "not_yours"),
    ] {
        let refused = send(&server, &ann, &message).await;
        let told = ["/error_type", "/code"].map(|path| refused.get(path));
        assert_eq!(
            (refused.status, told),
            (status, [error_type.to_owned(), code.to_owned()]),
            "{message}: {}",
            refused.text
        );
        let payload = json::parse_str(&refused.text, json::Limits::DOCUMENT).unwrap();
        let required = [
            "error_id",
            "agent_id",
            "severity",
            "message",
            "context",
            "recovery_attempts",
            "suggested_actions",
        ];
        assert!(required.iter().all(|key| payload.get(key).is_some()), "{}", refused.text);
    }
    assert_eq!(
        send(&server, &server.operator, &good("state-update", 3)).await.status,
        422,
        "a state is no message"
    );
    let nobody = server.call("POST", "/coord/messages", None, &update).await;
    assert_eq!((nobody.status, nobody.get("/error_type").as_str()), (401, "AUTHENTICATION_ERROR"));
    let looked = server.call("GET", "/coord/agents/bob/inbox", Some(&bob), "").await;
    assert_eq!(
        (looked.get("/messages/0/type").as_str(), looked.get("/more").as_str()),
        ("HELP_REQUEST", "0"),
        "{}",
        looked.text
    );
    assert!(looked.text.contains(&good("help-request", 1)), "the very bytes");
    assert_eq!(server.call("GET", "/coord/agents/bob/inbox", Some(&ann), "").await.status, 403);
}

#[tokio::test]
async fn a_reply_is_waited_for_where_that_is_asked() {
    let (server, ann, bob) = pair().await;
    let mut helper = socket(&server, "bob", &bob).await;
    let asked = good("help-request", 1);
    let asking = server.call("POST", "/coord/messages?wait=60s", Some(&ann), &asked);
    let answer = good("help-response", 2);
    let answer = answer
        .replace("\"from\": \"ann\"", "\"from\": \"bob\"")
        .replace("\"to\": \"bob\"", "\"to\": \"ann\"");
    let answering = async {
        let request = helper.next().await;
        let value = json::parse_str(&answer, json::Limits::DOCUMENT).unwrap();
        let mut reply = value.into_owned();
        let object = reply.as_object_mut().unwrap();
        for (part, key) in [("payload", "request_id"), ("metadata", "correlation_id")] {
            let part = object.get_mut(part).unwrap().as_object_mut().unwrap();
            part.insert(key, json::Value::from(request.get("id")));
        }
        helper.send(&reply.to_json()).await;
    };
    let (answered, ()) = tokio::join!(asking, answering);
    assert_eq!(
        (answered.status, answered.get("/reply/type").as_str()),
        (200, "HELP_RESPONSE"),
        "{}",
        answered.text
    );
}

#[tokio::test]
async fn a_task_keeps_its_order_and_what_is_urgent_comes_first() {
    let (server, ann, bob) = pair().await;
    // The tests' own bus keeps three messages waiting.
    for message in [update(1, "slow", "low"), update(2, "slow", "low"), update(3, "fast", "critical")] {
        assert_eq!(send(&server, &ann, &message).await.status, 201);
    }
    let mut socket = socket(&server, "bob", &bob).await;
    let mut came = Vec::new();
    for _ in 0..3 {
        came.push(socket.next().await.get("id"));
    }
    assert_eq!(came, [id(3), id(1), id(2)]);
}

#[tokio::test]
async fn messages_come_over_the_socket_and_are_settled_by_its_pong() {
    let (server, ann, bob) = pair().await;
    let (mut asking, mut working) = (socket(&server, "ann", &ann).await, socket(&server, "bob", &bob).await);
    let request = good("help-request", 1);
    asking.send(&request).await;
    assert_eq!(working.next().await.0, request, "the very bytes");
    pong(&mut working).await;
    let acknowledged = &server.node.counters().happened.acknowledged;
    let settled = async {
        while acknowledged.load(std::sync::atomic::Ordering::Relaxed) < 1 {
            server.call("GET", "/v1/bus", Some(&ann), "").await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), settled).await.unwrap();
    // What was not ponged for comes again, and counts its tries.
    asking.send(&good("help-request", 2)).await;
    assert_eq!(working.next().await.get("metadata/retry_count"), "0");
    drop(working);
    let mut working = socket(&server, "bob", &bob).await;
    let again = working.next().await;
    assert_eq!([again.get("id"), again.get("metadata/retry_count")], [id(2), "1".to_owned()], "{}", again.0);
    // What is wanted at most once does not.
    asking.send(&update(3, "t", "normal")).await;
    assert_eq!(working.next().await.get("id"), id(3));
    drop(working);
    let mut working = socket(&server, "bob", &bob).await;
    asking.send(&update(4, "u", "high")).await;
    let next = working.next().await.get("id");
    assert!(next == id(4), "{next}");
}

#[tokio::test]
async fn what_is_refused_or_dies_is_told_by_an_error_report() {
    let (server, ann, _) = pair().await;
    let mut socket = socket(&server, "ann", &ann).await;
    let update = good("task-update", 1);
    for (frame, about, code) in [
        ("nonsense".to_owned(), String::new(), "not_json"),
        (update.replace("TASK_UPDATE", "SHOUT"), id(1), "invalid"),
        (update.replace("\"to\": \"bob\"", "\"to\": \"bobb\""), id(1), "unknown_recipient"),
        (update.replace("\"from\": \"ann\"", "\"from\": \"bob\""), id(1), "not_yours"),
    ] {
        socket.send(&frame).await;
        let error = socket.next().await;
        let told =
            ["type", "from", "to", "metadata/correlation_id", "payload/code"].map(|path| error.get(path));
        assert_eq!(told, ["ERROR_REPORT", "system", "ann", &about, code], "{frame}: {}", error.0);
        let value = json::parse_str(&error.0, json::Limits::DOCUMENT).unwrap();
        let verdict = dialect_coord::Coord.validate(&value);
        assert!(verdict.errors.is_empty(), "{:?}: {}", verdict.errors.into_kept(), error.0);
    }
    let short = good("help-request", 5).replace("\"max_retries\": 3", "\"max_retries\": 3, \"ttl_ms\": 50");
    socket.send(&short).await;
    let notice = socket.next().await;
    assert_eq!([notice.get("type"), notice.get("from")], ["ERROR_REPORT", "system"], "{}", notice.0);
    assert!(notice.get("payload/message").contains("bob"), "{}", notice.0);
}

#[tokio::test]
async fn signs_of_life_feed_the_presence() {
    let (server, ann, bob) = pair().await;
    let mut socket = socket(&server, "ann", &ann).await;
    let presence = async || server.call("GET", "/v1/agents/ann", Some(&bob), "").await.get("/presence/state");
    let beat = good("heartbeat", 1).replace("\"to\": \"*\"", "\"to\": \"system\"");
    let noted = send(&server, &ann, &beat.replace("IDLE", "MAINTENANCE")).await;
    assert_eq!(noted.status, 202, "{}", noted.text);
    assert_eq!(presence().await, "maintenance");
    socket.send(&beat.replace("IDLE", "BUSY")).await;
    pong(&mut socket).await;
    assert_eq!(presence().await, "busy");
}

#[tokio::test]
async fn who_may_open_a_socket() {
    let (server, ann, bob) = pair().await;
    for (agent, token, reason) in [("nobody", &ann, "unknown_agent"), ("ann", &bob, "not_yours")] {
        let mut refused = socket(&server, agent, token).await;
        assert_eq!(refused.frame().await.err().flatten(), Some((1008, reason.to_owned())));
    }
    let mut late = Socket::open(&server, "/coord/agents/ann", None).await.unwrap();
    late.send(&format!(r#"{{"type":"auth","token":"{}"}}"#, ann.reveal())).await;
    pong(&mut late).await;
    let refused = server.call("GET", "/coord/agents/ann", Some(&ann), "").await;
    assert_eq!((refused.status, refused.get("/code").as_str()), (426, "not_an_upgrade"), "{}", refused.text);
}
