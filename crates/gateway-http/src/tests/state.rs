//! The shared state: shown, changed by versions, followed.

use axum::body::Body;
use axum::http::{Request, header};
use doorstep::{Answer, Server};
use futures_util::StreamExt;
use gateway::Token;

use super::{start, steady};

/// Longer than anything here takes.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

async fn change(server: &Server, token: &Token, document: &str) -> Answer {
    server.call("POST", "/v1/state", Some(token), document).await
}

fn update(operation: &str, entity: &str, id: &str, version: u32, changes: &str) -> String {
    format!(
        r#"{{"operation":"{operation}","entity_type":"{entity}","entity_id":"{id}","version":{version},"changes":{changes},"timestamp":"2026-11-16T10:00:00Z"}}"#
    )
}

#[tokio::test]
async fn the_state_is_what_was_changed_and_valid() {
    let server = start().await;
    let ann = server.agent("ann", r#"{"capabilities":["rust"]}"#).await;
    let bob = server.agent("bob", "").await;
    let task = r#"{"context":{"task_type":"review","priority":"high","metadata":{"mine":1}},"assigned_agent":"bob"}"#;
    let made = change(&server, &ann, &update("CREATE", "TASK", "t-1", 1, task)).await;
    assert_eq!((made.status, made.get("/outcome").as_str()), (200, "applied"), "{}", made.text);
    let allotted = r#"{"agent_id":"bob","resource_type":"budget","allocated":2.5,"consumed":0,"limit":5}"#;
    let made = change(&server, &server.operator, &update("CREATE", "RESOURCE", "r-1", 1, allotted)).await;
    assert_eq!(made.status, 200, "{}", made.text);
    let begun =
        change(&server, &bob, &update("UPDATE", "TASK", "t-1", 2, r#"{"status":"in_progress"}"#)).await;
    assert_eq!(begun.get("/version"), "2", "{}", begun.text);
    let status = r#"{"kind":"agent.status","from":"bob","to":["system"],"presence":{"state":"busy"},"data":{"capability_level":90,"health_metrics":{"success_rate":0.95}}}"#;
    assert_eq!(server.call("POST", "/v1/messages", Some(&bob), status).await.status, 202);
    let done = change(
        &server,
        &bob,
        &update("UPDATE", "TASK", "t-1", 3, r#"{"status":"completed","result":{"ok":true}}"#),
    )
    .await;
    assert_eq!(done.status, 200, "{}", done.text);
    let shown = server.call("GET", "/v1/state", Some(&ann), "").await;
    let value = json::parse_str(&shown.text, json::Limits::DOCUMENT).unwrap();
    let verdict = translate::dialect(dialect::Name::Coord).validate(&value);
    assert!(verdict.errors.is_empty(), "{:?}: {}", verdict.errors.into_kept(), shown.text);
    let mut text = steady(&shown.text);
    // How far the log is depends on how it was written in batches.
    text = text.replace(&format!("\"seq\": {}", shown.get("/seq")), "\"seq\": [seq]");
    insta::assert_snapshot!(text);
    let agent = server.call("GET", "/v1/agents/bob", Some(&ann), "").await;
    let told = (
        agent.get("/work").contains(r#""quality":0.95"#).to_string(),
        agent.get("/presence/detail/capability_level"),
        agent.get("/offline"),
    );
    assert_eq!(told, ("true".into(), "90".into(), "false".into()), "{}", agent.text);
    let able = server.call("GET", "/v1/agents/ann", Some(&ann), "").await;
    let told = (
        able.get("/work").contains(r#""capabilities":["rust"]"#).to_string(),
        able.get("/breaker/state"),
        able.get("/offline"),
    );
    assert_eq!(told, ("true".into(), "closed".into(), "true".into()), "{}", able.text);
}

#[tokio::test]
async fn versions_decide_and_rights_too() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let bob = server.agent("bob", "").await;
    let eve = server.agent("eve", "").await;
    let made =
        change(&server, &ann, &update("CREATE", "TASK", "t-1", 1, r#"{"assigned_agent":"bob"}"#)).await;
    assert_eq!(made.status, 200, "{}", made.text);
    let policy = r#"{"budget_limits":{"per_task":"much"}}"#;
    let cases = [
        (&ann, update("UPDATE", "TASK", "t-1", 2, r#"{"note":"x"}"#), 200, ""),
        (&ann, update("UPDATE", "TASK", "t-1", 2, r#"{"note":"x"}"#), 200, ""),
        (&ann, update("UPDATE", "TASK", "t-1", 4, "{}"), 409, "gap"),
        (&ann, update("UPDATE", "TASK", "t-1", 1, "{}"), 409, "stale"),
        (&eve, update("UPDATE", "TASK", "t-1", 3, "{}"), 409, "not_holder"),
        (&ann, update("UPDATE", "TASK", "t-9", 1, "{}"), 404, "not_found"),
        (&eve, update("UPDATE", "AGENT", "bob", 2, "{}"), 403, "not_yours"),
        (&ann, update("CREATE", "POLICY", "policy", 1, "{}"), 403, "not_yours"),
        (&server.operator, update("CREATE", "POLICY", "policy", 1, policy), 422, "invalid"),
        (&bob, update("PATCH", "TASK", "t-1", 3, "{}"), 422, "invalid"),
        (&bob, update("DELETE", "TASK", "t-1", 3, r#"{"a":1}"#), 422, "invalid"),
        (&bob, r#"{"operation":"UPDATE"}"#.to_owned(), 422, "invalid"),
        (&bob, "{}".to_owned(), 422, "invalid"),
        (&bob, "[".to_owned(), 400, "not_json"),
    ];
    for (token, document, status, code) in cases {
        let answered = change(&server, token, &document).await;
        let told = (answered.status, answered.get("/code").replace("(absent)", ""));
        assert_eq!(told, (status, code.to_owned()), "{document}: {}", answered.text);
    }
    let again = change(&server, &ann, &update("UPDATE", "TASK", "t-1", 2, "{}")).await;
    assert_eq!((again.get("/outcome"), again.get("/version")), ("duplicate".into(), "2".into()));
    let gap = change(&server, &ann, &update("UPDATE", "TASK", "t-1", 9, "{}")).await;
    assert_eq!(gap.get("/current"), "2", "{}", gap.text);
}

/// Opens the stream of changes.
async fn follow(
    server: &Server,
    token: &Token,
    query: &str,
) -> impl futures_util::Stream<Item = String> + Unpin + use<> {
    let request = Request::builder()
        .uri(format!("/v1/state/events{query}"))
        .header(header::HOST, "localhost:7700")
        .header(header::AUTHORIZATION, format!("Bearer {}", token.reveal()));
    let request = request.body(Body::empty()).unwrap();
    let response = tower::ServiceExt::oneshot(server.router(), request).await.unwrap();
    assert_eq!(response.status(), 200);
    let pieces = response.into_body().into_data_stream();
    Box::pin(pieces.map(|piece| String::from_utf8(piece.unwrap().to_vec()).unwrap()))
}

async fn next(stream: &mut (impl futures_util::Stream<Item = String> + Unpin)) -> String {
    tokio::time::timeout(PATIENCE, stream.next()).await.unwrap().unwrap()
}

#[tokio::test]
async fn changes_are_followed_and_resumed() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let mut stream = follow(&server, &ann, "").await;
    assert_eq!(next(&mut stream).await, "retry: 1000\n\n");
    change(&server, &ann, &update("CREATE", "TASK", "t-1", 1, "{}")).await;
    let first = next(&mut stream).await;
    assert!(first.contains("event: update") && first.contains(r#""operation":"CREATE""#), "{first}");
    let place = first.strip_prefix("id: ").and_then(|rest| rest.split('\n').next()).unwrap().to_owned();
    change(&server, &ann, &update("UPDATE", "TASK", "t-1", 2, r#"{"note":"x"}"#)).await;
    let second = next(&mut stream).await;
    assert!(second.contains(r#""version":2"#) && second.contains(r#""note":"x""#), "{second}");
    let mut resumed = follow(&server, &ann, &format!("?after={place}")).await;
    assert_eq!(next(&mut resumed).await, "retry: 1000\n\n");
    assert_eq!(next(&mut resumed).await, second, "the same place, the same change");
    let mut beyond = follow(&server, &ann, "?after=999999").await;
    next(&mut beyond).await;
    assert!(next(&mut beyond).await.contains("event: resync"), "that place is of another log");
    // A token that is revoked is told no more.
    assert_eq!(server.call("DELETE", "/v1/agents/ann/tokens/all", Some(&ann), "").await.status, 200);
    assert!(tokio::time::timeout(PATIENCE, stream.next()).await.unwrap().is_none());
    let refused = server.call("GET", "/v1/state/events", None, "").await;
    assert_eq!(refused.status, 401);
}
