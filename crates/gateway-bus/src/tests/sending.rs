//! Messages over HTTP: what is answered, and what becomes of them.

use super::{Call, agent, check, message, send, socket, start};
use doorstep::Server;
use gateway::Token;

const ANN: &str = "codex://ann";
const BOB: &str = "opencode://bob";

async fn pair() -> (Server, Token, Token) {
    let server = start().await;
    let (ann, bob) = (agent(&server, ANN).await, agent(&server, BOB).await);
    (server, ann, bob)
}

fn routing(timeout: &str, mode: &str, fallback: &[&str]) -> String {
    let fallback: Vec<String> = fallback.iter().map(|agent| format!("{agent:?}")).collect();
    format!(
        r#"{{"timeout":"{timeout}","retry_policy":{{"max_retries":1,"backoff":"linear"}},"fallback_agents":[{}],"delivery_mode":"{mode}"}}"#,
        fallback.join(",")
    )
}

#[tokio::test]
async fn sending_is_answered_as_clients_know_it() {
    let (server, ann, _) = pair().await;
    let good = message("m-1", ANN, BOB, &[]);
    let fragment = r#"{"message_type":"status_update","priority":"low","payload":{"phase":"analysis"}}"#;
    let timed = |timeout: &str| message(timeout, ANN, BOB, &[("routing", &routing(timeout, "async", &[]))]);
    let odd = |key: &str, value: &str| message("m-9", ANN, BOB, &[(key, value)]);
    let (dead, wrong) = (message("m-2", ANN, "codex://nobody", &[]), odd("message_type", "shout"));
    let (send_it, legacy) = ("/bus/messages/send", "/bus/messages/send?compat=legacy");
    let calls: &[Call<'_>] = &[
        ("POST", send_it, &good, 200, &[("/success", "true"), ("/duplicate", "(absent)")]),
        ("POST", send_it, &good, 200, &[("/success", "true"), ("/duplicate", "true")]),
        (
            "POST",
            send_it,
            &good.replace("code_review", "other"),
            409,
            &[("/success", "false"), ("/code", "conflict")],
        ),
        ("POST", send_it, fragment, 400, &[("/success", "false"), ("/code", "invalid")]),
        ("POST", legacy, fragment, 200, &[("/success", "false"), ("/code", "invalid")]),
        ("POST", send_it, &dead, 404, &[("/success", "false"), ("/code", "unknown_recipient")]),
        ("POST", legacy, &dead, 200, &[("/success", "false")]),
        ("POST", send_it, &wrong, 400, &[("/errors/0/path", "/message_type")]),
        ("POST", send_it, &odd("priority", "urgent"), 400, &[("/errors/0/path", "/priority")]),
        ("POST", send_it, &timed("300"), 400, &[("/errors/0/path", "/routing/timeout")]),
        ("POST", send_it, &timed("5 minutes"), 400, &[("/errors/0/path", "/routing/timeout")]),
        ("POST", send_it, &timed("-1s"), 400, &[("/errors/0/path", "/routing/timeout")]),
        ("POST", send_it, &timed("2h"), 200, &[("/success", "true")]),
        ("POST", send_it, "// a comment\n{}", 400, &[("/code", "not_json")]),
    ];
    check(&server, &ann, calls).await;
    let refused = server.call("POST", "/bus/messages/send?compat=legacy", None, &good).await;
    assert_eq!(refused.status, 401, "who may not ask is told so in any case");
    let large =
        message("m-3", ANN, BOB, &[("payload", &format!("\"{}\"", "x".repeat(doorstep::BODY_BYTES_MAX)))]);
    let refused = send(&server, &ann, &large).await;
    assert_eq!((refused.status, refused.get("/success").as_str()), (413, "false"), "{}", refused.text);
}

#[tokio::test]
async fn the_examples_of_the_specification_are_taken_as_they_are() {
    let server = start().await;
    let asker = agent(&server, "claude-code://orchestrator").await;
    let reviewer = agent(&server, "opencode://code-reviewer").await;
    let mut asking = socket(&server, "claude-code://orchestrator", &asker).await;
    for (name, token) in [("task-request", &asker), ("task-response", &reviewer)] {
        let path = testkit::root().join(format!("vectors/bus/good/{name}.json"));
        let document = testkit::read(&path);
        let sent = send(&server, token, &document).await;
        assert_eq!(sent.status, 200, "a response waits for nobody, though it says `sync`: {}", sent.text);
    }
    let came = asking.next().await;
    assert_eq!(came.get("metadata/task_id"), "task_12345", "{}", came.0);
}

#[tokio::test]
async fn who_is_not_there_is_stood_in_for() {
    let (server, ann, bob) = pair().await;
    let mut socket = socket(&server, BOB, &bob).await;
    let missing = ["codex://x", "codex://y"];
    let asked = message(
        "m-1",
        ANN,
        "codex://z",
        &[("routing", &routing("60s", "async", &[missing[0], missing[1], BOB]))],
    );
    let sent = send(&server, &ann, &asked).await;
    assert_eq!(sent.status, 200, "{}", sent.text);
    let came = socket.next().await;
    assert_eq!([came.get("recipient/agent_id"), came.get("metadata/original_recipient")], [BOB, "codex://z"]);
    let asked = message("m-2", ANN, "codex://z", &[("routing", &routing("60s", "async", &missing))]);
    let lost = send(&server, &ann, &asked).await;
    assert_eq!(lost.status, 404, "{}", lost.text);
    assert!(lost.get("/error").starts_with("No available recipients"), "{}", lost.text);
}

#[tokio::test]
async fn who_does_not_come_in_time_is_stood_in_for() {
    let (server, ann, bob) = pair().await;
    agent(&server, "cursor://cyd").await;
    let mut socket = socket(&server, BOB, &bob).await;
    let asked = message("m-1", ANN, "cursor://cyd", &[("routing", &routing("2s", "async", &[BOB]))]);
    assert_eq!(send(&server, &ann, &asked).await.status, 200);
    let came = socket.next().await;
    assert_eq!(came.get("metadata/original_recipient"), "cursor://cyd", "{}", came.0);
}

#[tokio::test]
async fn a_sender_that_waits_gets_the_reply_or_a_timeout() {
    let (server, ann, bob) = pair().await;
    let mut socket = socket(&server, BOB, &bob).await;
    let metadata = [("metadata", r#"{"task_id":"t-1"}"#)];
    let sync = routing("60s", "sync", &[]);
    let asked = message("m-1", ANN, BOB, &[metadata[0], ("routing", &sync)]);
    let reply = message(
        "r-1",
        BOB,
        ANN,
        &[
            metadata[0],
            ("message_type", "task_response"),
            ("payload", r#"{"status":"completed","result":42}"#),
        ],
    );
    let answering = async {
        assert_eq!(socket.next().await.get("message_id"), "m-1");
        socket.send(&reply).await;
    };
    let (answered, ()) = tokio::join!(send(&server, &ann, &asked), answering);
    assert_eq!((answered.status, answered.get("/success").as_str()), (200, "true"), "{}", answered.text);
    assert_eq!(answered.get("/reply/payload/result"), "42", "{}", answered.text);
    assert!(answered.text.contains(&reply), "the very document: {}", answered.text);
    let again = send(&server, &ann, &asked).await;
    assert_eq!(
        (again.get("/duplicate"), again.get("/reply/message_id")),
        ("true".into(), "r-1".into()),
        "{}",
        again.text
    );
    let inbox = server.call("GET", "/v1/agents/ann/inbox", Some(&ann), "").await;
    assert_eq!(inbox.get("/messages"), "[]", "a reply that was given is not in the inbox");

    let alone = message("m-2", ANN, "cursor://cyd", &[("routing", &routing("50ms", "sync", &[]))]);
    agent(&server, "cursor://cyd").await;
    let timed_out = send(&server, &ann, &alone).await;
    assert_eq!((timed_out.status, timed_out.get("/error").as_str()), (504, "timeout"), "{}", timed_out.text);
    assert_eq!(timed_out.get("/success"), "false");
}

#[tokio::test]
async fn what_is_urgent_comes_first_and_equals_keep_their_order() {
    let (server, ann, bob) = pair().await;
    for (id, priority) in [("m-1", "low"), ("m-2", "low"), ("m-3", "critical")] {
        let sent = send(&server, &ann, &message(id, ANN, BOB, &[("priority", priority)])).await;
        assert_eq!(sent.status, 200, "{}", sent.text);
    }
    let mut socket = socket(&server, BOB, &bob).await;
    let mut came = Vec::new();
    for _ in 0..3 {
        came.push(socket.next().await.get("message_id"));
    }
    assert_eq!(came, ["m-3", "m-1", "m-2"]);
}

#[tokio::test]
async fn signs_of_life_are_noted_and_delivered_to_nobody() {
    let (server, ann, bob) = pair().await;
    let mut socket = socket(&server, BOB, &bob).await;
    let beat = |id: &str, to: &str, kind: &str, payload: &str| {
        message(id, BOB, to, &[("message_type", kind), ("payload", payload)])
            .replace("opencode\"},\"message", "x\"},\"message")
    };
    let presence = async || server.call("GET", "/v1/agents/bob", Some(&ann), "").await.get("/presence/state");
    let healthy = r#"{"status":"healthy","active_tasks":0}"#;
    let sent = send(&server, &bob, &beat("h-1", "communication-bus", "heartbeat", healthy)).await;
    assert_eq!((sent.status, sent.text.as_str()), (200, r#"{"success":true}"#));
    assert_eq!(presence().await, "idle");
    // The same over the socket; the answer to what is asked then says that it was read.
    socket
        .send(&beat("h-2", "system", "status_update", r#"{"phase":"analysis","percent_complete":65}"#))
        .await;
    socket.send("nonsense").await;
    assert_eq!(socket.next().await.get("message_type"), "error");
    assert_eq!(presence().await, "busy", "who tells of its work is at work");
    let inbox = server.call("GET", "/v1/agents/system/inbox", Some(&server.operator), "").await;
    assert_eq!(inbox.get("/messages"), "[]", "{}", inbox.text);
}

#[tokio::test]
async fn figures_are_counted() {
    let (server, ann, bob) = pair().await;
    let health = server.call("GET", "/bus/health", None, "").await;
    assert_eq!((health.status, health.get("/status").as_str()), (200, "healthy"), "{}", health.text);
    assert!(health.get("/uptime").parse::<u64>().is_ok());
    assert_eq!(server.call("GET", "/bus/metrics", None, "").await.status, 401);
    let mut socket = socket(&server, BOB, &bob).await;
    send(&server, &ann, &message("m-1", ANN, BOB, &[])).await;
    socket.next().await;
    // The ping is answered when something is read behind it.
    socket.send("nonsense").await;
    socket.next().await;
    super::sockets::settled(&server, &ann, 1).await;
    let figures = server.call("GET", "/bus/metrics", Some(&ann), "").await;
    let counted = ["/total_messages", "/active_sessions", "/registered_agents", "/error_rate"]
        .map(|key| figures.get(key));
    assert_eq!(counted, ["1", "1", "2", "0.000"], "{}", figures.text);
    for key in ["/average_response_time", "/uptime", "/throughput"] {
        assert!(figures.get(key).parse::<f64>().is_ok(), "{key}: {}", figures.text);
    }
}
