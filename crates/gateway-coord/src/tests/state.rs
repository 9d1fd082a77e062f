//! The shared state at this door, and work that is handed over.

use doorstep::Socket;

use super::{good, id, pair, send};

fn update(version: u32, changes: &str) -> String {
    format!(
        r#"{{"operation":"UPDATE","entity_type":"TASK","entity_id":"task-9","version":{version},"changes":{changes},"timestamp":"2026-11-16T10:00:00Z"}}"#
    )
}

/// Wraps a change into the message that carries one.
fn carried(number: u32, to: &str, change: &str) -> String {
    format!(
        r#"{{"id":"{}","timestamp":"2026-11-16T10:00:00Z","from":"ann","to":"{to}","type":"STATUS_UPDATE","payload":{{"state_update":{change}}},"metadata":{{"priority":"high","retry_count":0,"max_retries":0}}}}"#,
        id(number)
    )
}

#[tokio::test]
async fn changes_are_made_told_and_shown() {
    let (server, ann, bob) = pair().await;
    let path = "/coord/state";
    let created = server.call("POST", path, Some(&ann), &good("state-update-create", 1)).await;
    assert_eq!(created.text, r#"{"outcome":"applied","version":1}"#);
    let shown = server.call("GET", path, Some(&bob), "").await;
    let told = (shown.get("/task_registry/task-9/status"), shown.get("/versions/TASK/task-9"));
    assert_eq!(told, ("pending".into(), "1".into()), "{}", shown.text);
    let after = shown.get("/seq");
    let follow = format!("/coord/state/socket?after={after}");
    let mut socket = Socket::open(&server, &follow, Some(&bob)).await.unwrap();
    assert_eq!(server.call("POST", path, Some(&ann), &update(2, r#"{"x":1}"#)).await.status, 200);
    // A status update that carries a change makes it, and says what came of it.
    let applied = send(&server, &ann, &carried(1, "system", &update(3, r#"{"x":2}"#))).await;
    assert_eq!(applied.text, r#"{"outcome":"applied","version":3}"#);
    let told = send(&server, &ann, &carried(2, "bob", &update(4, r#"{"x":3}"#))).await;
    assert_eq!(told.status, 201, "{}", told.text);
    for version in 2..=4 {
        let frame = socket.next().await;
        let shown = (frame.get("version"), frame.get("entity_id"), frame.get("operation"));
        assert_eq!(shown, (version.to_string(), "task-9".into(), "UPDATE".into()), "{frame:?}");
        assert_ne!(frame.get("seq"), "");
    }
    for (message, code, current) in [
        (carried(3, "system", &update(9, "{}")), "gap", "4"),
        (carried(4, "bob", &update(2, "{}")), "stale", "4"),
    ] {
        let refused = send(&server, &ann, &message).await;
        let told =
            (refused.status, refused.get("/code"), refused.get("/current"), refused.get("/error_type"));
        let expected = (409, code.to_owned(), current.to_owned(), "VALIDATION_ERROR".to_owned());
        assert_eq!(told, expected, "{}", refused.text);
    }
    let inbox = server.call("GET", "/coord/agents/bob/inbox", Some(&bob), "").await;
    assert!(!inbox.text.contains(&id(4)), "what is refused is not delivered: {}", inbox.text);
    let mut old = Socket::open(&server, "/coord/state/socket?after=999999", Some(&bob)).await.unwrap();
    assert_eq!(old.next().await.get("resync"), "true");
    assert_eq!(server.call("GET", path, None, "").await.status, 401);
    assert_eq!(server.call("GET", "/coord/state/socket", Some(&bob), "").await.status, 426);
    let bad = server.call("POST", path, Some(&ann), r#"{"operation":"UPDATE"}"#).await;
    assert_eq!((bad.status, bad.get("/error_type").as_str()), (422, "VALIDATION_ERROR"), "{}", bad.text);
}

#[tokio::test]
async fn a_change_over_the_socket_is_refused_by_a_report() {
    let (server, ann, _) = pair().await;
    server.call("POST", "/coord/state", Some(&ann), &good("state-update-create", 1)).await;
    let mut socket = super::socket(&server, "ann", &ann).await;
    socket.send(&carried(1, "system", &update(2, r#"{"x":1}"#))).await;
    socket.send(&carried(2, "system", &update(9, "{}"))).await;
    let refused = socket.next().await;
    assert_eq!((refused.get("type").as_str(), refused.get("payload/code").as_str()), ("ERROR_REPORT", "gap"));
    let shown = server.call("GET", "/coord/state", Some(&ann), "").await;
    assert_eq!(shown.get("/versions/TASK/task-9"), "2", "{}", shown.text);
}

#[tokio::test]
async fn a_status_shows_in_the_state() {
    let (server, ann, _) = pair().await;
    let status = good("status-update", 1);
    let noted = send(&server, &ann, &status).await;
    assert!(noted.status < 300, "{}", noted.text);
    let shown = server.call("GET", "/coord/state", Some(&ann), "").await;
    let document = json::parse_str(&status, json::Limits::DOCUMENT).unwrap();
    for key in ["capability_level", "error_rate", "avg_response_time_ms"] {
        let said = document.pointer(&format!("/payload/status/{key}")).unwrap().to_json();
        assert_eq!(shown.get(&format!("/agent_registry/ann/{key}")), said, "{}", shown.text);
    }
    assert!(shown.get("/agent_registry/ann/health_metrics").contains("success_rate"), "{}", shown.text);
}

#[tokio::test]
async fn a_handoff_that_cannot_be_is_answered_by_the_bus() {
    let (server, ann, bob) = pair().await;
    let request = r#"{"kind":"task.request","from":"bob","to":["ann"],"task":"task-9","title":"Review"}"#;
    assert_eq!(server.call("POST", "/v1/messages", Some(&bob), request).await.status, 201);
    let busy =
        good("status-update", 1).replace("\"from\": \"ann\"", "\"from\": \"bob\"").replace("IDLE", "BUSY");
    let busy = busy.replace("\"agent_id\": \"ann\"", "\"agent_id\": \"bob\"");
    assert!(send(&server, &bob, &busy).await.status < 300);
    let offered = send(&server, &ann, &good("handoff-request", 2)).await;
    assert_eq!(offered.status, 201, "{}", offered.text);
    let inbox = server.call("GET", "/coord/agents/ann/inbox", Some(&ann), "").await;
    let answer = (0..3)
        .find(|nth| inbox.get(&format!("/messages/{nth}/type")) == "TASK_HANDOFF")
        .unwrap_or_else(|| panic!("no answer: {}", inbox.text));
    let at = |place: &str| inbox.get(&format!("/messages/{answer}/{place}"));
    assert_eq!(
        (at("payload/accepted"), at("metadata/correlation_id")),
        ("false".into(), id(2)),
        "{}",
        inbox.text
    );
    assert!(at("payload/error").contains("Target agent unavailable"), "{}", inbox.text);
    let task = server.call("GET", "/v1/tasks/task-9", Some(&ann), "").await;
    assert_eq!(task.get("/offer"), "(absent)", "{}", task.text);
}
